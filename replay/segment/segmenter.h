// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "replay/segment/segment_packet.h"
#include "replay/segment/segment_survey.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Counts of what became of the packets of messages that were cut anew.
struct SegmentCounts {
  std::uint64_t cut = 0;               ///< packets that became several
  std::uint64_t joined = 0;            ///< packets that became one with others
  std::uint64_t made = 0;              ///< packets that resulted from both
  std::uint64_t incomplete = 0;        ///< packets left out: not all packets to be joined with them are there
  std::uint64_t answers_left_out = 0;  ///< acknowledgements of a mere part of what became one packet
  std::uint64_t super_frames = 0;      ///< super-frames that were cut into their packets
};

/// A frame of the output; whole unless the capture had only a part of it.
struct SegmentedFrame {
  Bytes bytes;
  std::uint32_t reported_length = 0;  ///< on the wire
  bool is_changed = false;
};

/// Cuts the messages of a capture into packets of another size, by a plan. Takes the packets in the order in which the
/// plan was learnt. Pieces of a packet that is cut come out at once, one after the other; packets that become one come
/// out with the last of them. Opens nothing and reads no clock.
class Segmenter {
 public:
  explicit Segmenter(std::shared_ptr<const SegmentPlan> plan) : plan_(std::move(plan)) {
    numbers_.resize(plan_->maps.size());
  }

  /// Returns what becomes of one frame: nothing, a frame, or several. `packet` was parsed from a frame of `link_type`.
  /// The bytes are those of `packet` or valid until the next call.
  [[nodiscard]] std::span<const SegmentedFrame> take(const Packet& packet, LinkType link_type);

  /// Returns the counts of everything taken so far.
  [[nodiscard]] SegmentCounts counts() const;
  [[nodiscard]] const SegmentPlan& plan() const { return *plan_; }

 private:
  using Buffer = std::vector<std::byte>;
  /// The PSNs of a map's requester, as far as the packets have come.
  struct Numbers {
    PsnCounter counter;
    LongPsn sent_end = 0;  ///< new PSN after the newest packet that came out
    // The latest NAK for a packet that has not come out since.
    std::optional<LongPsn> refused{};  ///< its new PSN
    Psn refused_part{};                ///< old PSN of the part that it refused
  };
  /// Packets that are to become one.
  struct Group {
    Buffer payload;
    std::uint32_t seen = 0;        ///< bit n: part n
    std::uint32_t last_bytes = 0;  ///< payload bytes of the last part
    MessagePlace place{.begins = false, .ends = false};
    HeaderBytes headers{};
    bool immediate = false;
    bool invalidate = false;
    bool solicited = false;
    bool ack_req = false;
    bool came_out = false;
  };
  using GroupKey = std::tuple<std::uint32_t, LongPsn, bool>;  ///< map, new PSN, true for answers

  void take_one(const Packet& packet, const IcrcVerdict& icrc, LinkType link_type);
  void take_request(const Packet& packet, std::uint32_t map, bool is_sound, LinkType link_type);
  /// True if a NAK refuses a packet that no receiver could have refused.
  [[nodiscard]] bool is_idle_nak(const Packet& packet, const PsnMap::Place& place, Numbers& numbers) const;
  void take_answer(const Packet& packet, std::uint32_t map, bool is_sound, LinkType link_type);
  /// Takes a packet with payload, which belongs to a message or an answer.
  void take_part(const Packet& packet, std::uint32_t map, const PsnMap::Place& place, bool is_sound,
                 LinkType link_type);
  void cut(const Packet& packet, const PsnMap::Place& place, LinkType link_type);
  void join(const Packet& packet, std::uint32_t map, const PsnMap::Place& place, LinkType link_type);
  void join_out(const Packet& packet, Group& group, LongPsn psn, LinkType link_type);
  /// Takes a REQ of the communication manager, which states the path MTU.
  void announce(const Packet& packet, const analysis::Observation& seen, LinkType link_type);
  /// Gives a packet another PSN; `earlier`: number of bytes by which a READ begins earlier.
  void renumber(const Packet& packet, LongPsn psn, std::uint32_t earlier, LinkType link_type);
  void pass(const Packet& packet);
  [[nodiscard]] Buffer& next_buffer(Bytes bytes);
  void come_out(const Buffer& frame) { frames_.push_back({frame, static_cast<std::uint32_t>(frame.size()), true}); }
  [[nodiscard]] Group& group_of(const GroupKey& key);

  std::shared_ptr<const SegmentPlan> plan_;
  SegmentCounts counts_;
  std::uint64_t taken_ = 0;       ///< RoCE packets so far
  std::vector<Numbers> numbers_;  ///< by map
  std::map<GroupKey, Group> groups_;
  std::deque<GroupKey> groups_by_age_;
  std::deque<Buffer> buffers_;  ///< hold the bytes of `frames_`
  std::size_t buffers_used_ = 0;
  std::vector<SegmentedFrame> frames_;
  Buffer single_;
};

}  // namespace roce::replay
