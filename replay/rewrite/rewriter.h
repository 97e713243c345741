// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "replay/rewrite/header_edit.h"
#include "replay/rewrite/translator.h"
#include "replay/rules/rewrite_rules.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// A frame of the output.
struct RewrittenFrame {
  Bytes bytes;
  std::uint32_t reported_length = 0;  ///< on the wire; more than the size of `bytes` if the capture cut it
  bool is_roce = false;
};

/// Counts of what went in and what became of it.
struct RewriteCounts {
  std::uint64_t frames = 0;            ///< frames that went in
  std::uint64_t roce_packets = 0;      ///< RoCE packets in them; each packet of a super-frame counts
  std::uint64_t super_frames = 0;      ///< super-frames that were cut into their packets
  std::uint64_t left_out = 0;          ///< frames that are not RoCE packets and were not wanted
  std::uint64_t unconvertible = 0;     ///< frames that are not RoCE packets, left out as the new address does not fit
  std::uint64_t changed = 0;           ///< frames that came out with other bytes
  std::uint64_t bad_icrc = 0;          ///< ICRCs that were wrong; `RewriteRules` decides what becomes of them
  std::uint64_t bad_checksums = 0;     ///< checksums that were wrong; `RewriteRules` decides here too
  std::uint64_t cut_short = 0;         ///< RoCE packets of which the ICRC, or a part that it covers, was not captured
  std::uint64_t icrc_not_checked = 0;  ///< other RoCE packets without a place for an ICRC
  ChangeCounts changes{};              ///< changed values
  std::vector<std::uint64_t> fields;   ///< packets in which each of `RewriteRules::fields` was set
};

/// Changes frames by rules, and makes their lengths, checksums and ICRC right. Opens nothing and reads no clock: the
/// same rules and frames give the same bytes.
class Rewriter {
 public:
  explicit Rewriter(RewriteRules rules);

  /// Returns what becomes of one frame: nothing, a frame, or the packets of a super-frame. `packet` was parsed from a
  /// frame of `link_type`; the bytes that come out are valid until the next call. Error: a sentence that states what
  /// the rules leave open; the frame and the changes made until then are counted.
  [[nodiscard]] tl::expected<std::span<const RewrittenFrame>, std::string> rewrite(const Packet& packet,
                                                                                   LinkType link_type);

  [[nodiscard]] const RewriteCounts& counts() const { return counts_; }
  [[nodiscard]] const RewriteRules& rules() const { return *rules_; }

 private:
  using Buffer = std::vector<std::byte>;
  using Problem = std::optional<AddressProblem>;

  [[nodiscard]] Problem rewrite_one(const Packet& packet, const FrameSeal& seal, LinkType link_type);
  [[nodiscard]] Problem rewrite_other(const Packet& packet, LinkType link_type);
  void count_checks(const Packet& packet, const FrameSeal& seal);
  void edit_link(const Packet& packet, std::span<std::byte> frame);
  [[nodiscard]] Problem edit_network(const Packet& packet, const NetMeta& before, Buffer& frame);
  [[nodiscard]] std::uint16_t source_port(const NetMeta& before, Qpn dest_qp, std::uint32_t flow_label) const;
  void set_fields(const Packet& packet, std::span<std::byte> frame, bool again);
  [[nodiscard]] Buffer& next_buffer();
  void finish(const Packet& packet, const FrameSeal& seal, LinkType link_type, Buffer& frame);

  std::unique_ptr<const RewriteRules> rules_;
  Translator translator_;
  RewriteCounts counts_;
  std::vector<Buffer> buffers_;
  std::vector<RewrittenFrame> frames_;
  Buffer segment_;
};

}  // namespace roce::replay
