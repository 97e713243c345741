// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "replay/header_edit.h"
#include "replay/rewrite_rules.h"
#include "replay/translator.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// A frame that came out.
struct RewrittenFrame {
  Bytes bytes;
  std::uint32_t reported_length = 0;  ///< on the wire; more than there are bytes if the capture cut it
  bool is_roce = false;
};

/// What went in and what became of it.
struct RewriteCounts {
  std::uint64_t frames = 0;            ///< that went in
  std::uint64_t roce_packets = 0;      ///< in them; of a super-frame each
  std::uint64_t super_frames = 0;      ///< that were cut into their packets
  std::uint64_t left_out = 0;          ///< frames that are no RoCE packets and were not wanted
  std::uint64_t unconvertible = 0;     ///< frames that are no RoCE packets and left out: the new address does not fit
  std::uint64_t changed = 0;           ///< frames that came out with other bytes
  std::uint64_t bad_icrc = 0;          ///< ICRCs that were wrong; `RewriteRules` says what became of them
  std::uint64_t bad_checksums = 0;     ///< likewise
  std::uint64_t cut_short = 0;         ///< RoCE packets whose ICRC was not captured, or not all that it covers
  std::uint64_t icrc_not_checked = 0;  ///< other RoCE packets without a place for an ICRC
  ChangeCounts changes{};              ///< values
  std::vector<std::uint64_t> fields;   ///< packets that each of `RewriteRules::fields` was set in
};

/// Changes frames by rules, and makes their lengths, checksums and ICRC right. Opens nothing and reads no clock: the
/// same rules and frames give the same bytes.
class Rewriter {
 public:
  explicit Rewriter(RewriteRules rules);

  /// What becomes of one frame: nothing, a frame, or the packets of a super-frame. `packet` was parsed from a frame of
  /// `link_type`; the bytes that come out are valid until the next call. Error: a sentence that says what the rules
  /// leave open; nothing was counted then but the frame.
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
