// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "roce/analysis/pause.h"
#include "roce/analysis/tracker.h"
#include "wireshark/parts/cm_links.h"
#include "wireshark/parts/congestion_links.h"
#include "wireshark/parts/loss_links.h"
#include "wireshark/parts/message_spans.h"
#include "wireshark/parts/request_windows.h"

namespace roce::plugin {

/// Facts about one packet; later packets can add to them.
struct PacketFacts {
  analysis::PacketId id{};
  std::uint32_t offset = 0;  ///< offset of the packet in its frame
  std::uint32_t stream = analysis::kNoStream;
  std::uint8_t direction = 0;
  analysis::PacketRole role = analysis::PacketRole::other;
  bool is_damaged = false;  ///< its ICRC is wrong: what its fields say is not true
  std::int64_t relative_psn = 0;
  std::uint64_t message = 0;      ///< for a request that was not sent before: number of its message, from 1
  analysis::PacketId request{};   ///< for a response: the last request packet that it answers
  analysis::PacketId response{};  ///< for a request: the packet that answered it, once that has been seen
  Duration latency{};             ///< time between request and response
  Duration since_last{};          ///< time since the stream's last packet; 0 for the first
  std::uint32_t in_flight = 0;    ///< for a request: PSNs sent and not answered, with its own; 0: unknown
  std::optional<std::uint16_t> credits_left{};  ///< for a request or ACK: messages that the requester may still begin
  std::uint32_t verdicts = 0;                   ///< index of the first verdict of its chain, from 1; 0: none
  std::uint32_t learned = 0;                    ///< index of the first link of its chain, from 1; 0: none
};

/// One end of a stream.
struct StreamEnd {
  Gid address{};
  std::optional<Qpn> qpn{};  ///< not set: the capture has not shown it so far
};

/// The place of a request or response in its message.
struct MessagePlace {
  std::uint64_t number = 0;    ///< number of the message among those of its requester, from 1; 0: unknown
  analysis::PacketId first{};  ///< the packet that began the message
  std::uint32_t packet = 0;    ///< number of the packet by its PSN, from 1; for a READ, of the response
  std::uint32_t packets = 0;   ///< how many packets there are; 0: not known yet
  std::uint32_t mtu = 0;       ///< payload of each packet but the last; 0: not known yet
};

/// Follows the connections of the open capture on the first pass over it, and keeps the results for the passes that
/// follow. Memory: 140 bytes per packet, and the same per verdict.
class CaptureAnalysis {
 public:
  explicit CaptureAnalysis(const analysis::PauseOptions& pause = {});

  /// Takes the next packet of the first pass. `observation.id` has its frame, in the order of the capture, and its
  /// number in that frame; `offset` is its offset in the frame. Ignores a packet that was taken before, and one that
  /// comes out of order.
  void observe(const analysis::Observation& observation, std::uint32_t offset);
  /// Ends the first pass: what only later packets could have decided remains unknown.
  void finish();

  /// Returns a packet of a frame by its number in the frame (`segment`), or null.
  [[nodiscard]] const PacketFacts* find(analysis::PacketId id) const;
  /// Returns the packet of a frame that begins at `offset`, or null.
  [[nodiscard]] const PacketFacts* find_at(std::uint64_t frame, std::uint32_t offset) const;
  /// Returns the number of packets that a frame has so far.
  [[nodiscard]] std::uint32_t packets_in(std::uint64_t frame) const;

  /// A verdict, and the index of the next one in its chain.
  struct Entry {
    analysis::Verdict verdict;
    std::uint32_t next = 0;
  };
  /// Returns a verdict on a packet, by its index from 1; its chain begins at `PacketFacts::verdicts`.
  [[nodiscard]] const Entry& verdict(std::uint32_t index) const { return verdicts_[index - 1]; }
  /// The retrospective verdicts on earlier packets that a packet made certain: a chain from `PacketFacts::learned` with
  /// indices for `verdict`.
  struct Link {
    std::uint32_t verdict = 0;
    std::uint32_t next = 0;
  };
  [[nodiscard]] const Link& learned(std::uint32_t index) const { return learned_[index - 1]; }

  /// Returns the message that a packet belongs to, as far as was seen so far; nothing if its beginning was not seen.
  [[nodiscard]] std::optional<MessagePlace> message_of(const PacketFacts& facts) const;
  /// Returns the channel of a request or response: its own direction, or the opposite one.
  [[nodiscard]] RequestChannel channel_of(const PacketFacts& facts) const;
  /// Returns what the requester of a channel has under way; null for a channel without packets.
  [[nodiscard]] const RequestWindows::Window* window_of(RequestChannel channel) const { return windows_.find(channel); }
  [[nodiscard]] const LossLinks& loss_links() const { return loss_links_; }
  [[nodiscard]] const CmLinks& cm_links() const { return cm_links_; }
  [[nodiscard]] const CongestionLinks& congestion_links() const { return congestion_links_; }

  /// Returns the messages that have ended; before `finish`, as far as was seen so far.
  [[nodiscard]] const std::vector<analysis::Message>& messages() const { return messages_; }
  /// Returns the messages that a packet ended; before `finish`, as far as was seen so far. Valid until the next packet
  /// is taken.
  [[nodiscard]] std::span<const analysis::Message> messages_ended_by(const PacketFacts& facts) const;
  /// Returns end 0 or 1 of a stream; packets of direction 0 come from end 0. Empty for an unknown stream.
  [[nodiscard]] StreamEnd end_of(std::uint32_t stream, std::uint8_t end) const;
  [[nodiscard]] std::uint32_t stream_count() const { return tracker_.streams_begun(); }
  [[nodiscard]] std::vector<analysis::StreamSummary> streams() const { return tracker_.streams(); }

 private:
  [[nodiscard]] bool has(analysis::PacketId id) const { return id.segment < packets_in(id.frame); }
  [[nodiscard]] PacketFacts* facts_of(analysis::PacketId id);
  /// Returns the verdict's index, from 1; 0: its packet is not known.
  std::uint32_t add_verdict(const analysis::Verdict& verdict);
  void take_news(PacketFacts* revealed_by);
  /// Replaces the ends of messages as they were seen by those that have become certain.
  void take_certain_ends();
  void learn_ends(const analysis::Observation& observation, const PacketFacts& facts);
  /// Moves what is known of a stream that proved to be direction 1 of another one.
  void absorb(std::uint32_t stream, std::uint32_t absorbed);
  /// Adds a packet to what is known of its channel.
  void take_links(const analysis::Observation& observation, PacketFacts& facts,
                  std::span<const analysis::Verdict> verdicts);
  void take_credits(const analysis::Observation& observation, RequestChannel channel, PacketFacts& facts);
  void take_request(const analysis::Observation& observation, RequestChannel channel, PacketFacts& facts);
  void take_congestion(const analysis::Observation& observation, const PacketFacts& facts);

  /// The messages that one packet ended.
  struct Ended {
    std::uint32_t packet = 0;  ///< index of the packet
    std::uint32_t first = 0;   ///< index of the first message
    std::uint32_t count = 0;
  };

  analysis::Tracker tracker_;
  analysis::PauseTracker pauses_;
  std::vector<PacketFacts> packets_;
  std::vector<std::uint32_t> first_packet_;  ///< by frame: index of its first packet, where the frame before ends
  std::vector<Entry> verdicts_;
  std::vector<Link> learned_;
  std::vector<analysis::Message> messages_;
  std::vector<analysis::Message> certain_;  ///< messages of which it is certain how they ended
  std::vector<Ended> ended_;                ///< in the order of the packets
  std::vector<std::array<StreamEnd, 2>> stream_ends_;
  MessageSpans spans_;
  RequestWindows windows_;
  LossLinks loss_links_;
  CmLinks cm_links_;
  CongestionLinks congestion_links_;
  std::map<std::uint32_t, std::uint32_t> absorbed_by_;  ///< by stream: the stream of which it proved to be direction 1
  std::vector<analysis::Verdict> news_;
  std::vector<analysis::Answer> answers_;
  analysis::PacketId last_{};
};

}  // namespace roce::plugin
