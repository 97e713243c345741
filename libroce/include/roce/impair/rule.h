// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "roce/wire/aeth.h"
#include "roce/wire/opcode.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::impair {

/// Which way a frame travels between the two sides of the engine.
enum class Direction : std::uint8_t { a_to_b, b_to_a };

/// What a packet is for, as rules and transmission counts tell packets apart.
enum class PacketClass : std::uint8_t {
  any,
  request,   ///< whatever a requester sends
  response,  ///< whatever a responder sends: ack, nak, rnr_nak, read_response, atomic_ack
  send,
  write,
  read_request,
  read_response,
  atomic,  ///< compare-and-swap and fetch-and-add
  atomic_ack,
  atomic_write,
  flush,
  resync,
  ack,      ///< an acknowledge packet that acknowledges
  nak,      ///< an acknowledge packet that refuses
  rnr_nak,  ///< an acknowledge packet that says "receiver not ready"
  cnp,
  other,  ///< an opcode that no specification defines, or an acknowledge with the reserved kind of syndrome
};

/// One alternative of what a packet may be: an exact opcode, or a class and optionally a position in the message.
struct OpcodeTerm {
  PacketClass packet_class = PacketClass::any;
  std::optional<Position> position{};
  std::optional<Opcode> opcode{};  ///< when set, the other two do not count

  /// Whether a packet of this opcode is meant; `syndrome` is that of its AETH, if it has one.
  [[nodiscard]] bool matches(Opcode packet, std::optional<AethSyndrome> syndrome) const;

  friend bool operator==(const OpcodeTerm&, const OpcodeTerm&) = default;
};

/// Both ends belong to it; `first <= last`.
template <typename T>
struct Range {
  T first{};
  T last{};

  [[nodiscard]] constexpr bool contains(T value) const { return first <= value && value <= last; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a packet has to be: all conditions that are set must hold. Frames that are not RoCE match only with
/// `any_frame`.
struct Match {
  std::optional<Direction> direction{};
  std::optional<Qpn> dest_qp{};
  std::vector<OpcodeTerm> opcodes{};  ///< one of these; empty: all
  /// Steps from the first PSN that the engine saw in the flow, in -2^23 … 2^23-1: the first packet has 0. Requests and
  /// responses of a flow count from first PSNs of their own. A CNP has no PSN and never matches.
  std::optional<Range<std::int32_t>> psn{};
  /// The PSN as it stands in the packet, both ends included; `first > last` goes through 0.
  std::optional<std::pair<Psn, Psn>> absolute_psn{};
  /// Which occurrence of (flow, class, PSN) this is; 1 is the first transmission. Responses count likewise.
  std::optional<Range<std::uint32_t>> transmission{};
  bool any_frame = false;  ///< any frame, RoCE or not; of the other conditions only `direction` may be set then

  friend bool operator==(const Match&, const Match&) = default;
};

/// The packet is not passed on.
struct Drop {
  friend bool operator==(const Drop&, const Drop&) = default;
};
/// The packet is passed on, and directly behind it `copies` (1 … 255) more times.
struct Duplicate {
  std::uint32_t copies = 1;
  friend bool operator==(const Duplicate&, const Duplicate&) = default;
};
/// The packet waits until `by` (1 … 511) packets of its direction that were submitted later have gone on, or until
/// `timeout` (> 0) has passed since it was submitted.
struct Reorder {
  std::uint32_t by = 1;
  Duration timeout = std::chrono::milliseconds{10};
  friend bool operator==(const Reorder&, const Reorder&) = default;
};
/// The packet waits for `by` (> 0).
struct Delay {
  Duration by{};
  friend bool operator==(const Delay&, const Delay&) = default;
};
/// Bits of what the ICRC covers are inverted, the ICRC stays as it is. Applies only to RoCE packets whose ICRC was
/// captured; they parse as before with random bits, which are therefore never in the first two bytes of the BTH.
struct Corrupt {
  /// This bit, counted from the BTH (bit 0 is the most significant of its first byte) to the end of the pad; not
  /// 32 … 39, which the ICRC does not cover. Packets without that bit do not match the rule.
  std::optional<std::uint32_t> bit{};
  /// Or so many different random bits, 1 … 64.
  std::uint32_t bits = 1;
  friend bool operator==(const Corrupt&, const Corrupt&) = default;
};
/// The ECN field of the innermost IP header (or the GRH) becomes 11b, congestion experienced (RFC 3168), and the IPv4
/// checksum follows. The ICRC does not cover the field. Applies only to packets with such a header.
struct MarkCe {
  friend bool operator==(const MarkCe&, const MarkCe&) = default;
};
/// A field of the field table is set, in the innermost header of its kind; packets without that header do not match the
/// rule. The IPv4 header checksum, the UDP checksum and the ICRC are computed anew if they were right before, unless
/// they are the field that was set. Nothing else follows: lengths and the headers that an opcode asks for stay.
struct Edit {
  std::string field{};  ///< `bth.psn`
  std::string value{};  ///< as `set_field_text` takes it
  friend bool operator==(const Edit&, const Edit&) = default;
};

using Action = std::variant<Drop, Duplicate, Reorder, Delay, Corrupt, MarkCe, Edit>;

/// `drop`, `duplicate`, `reorder`, `delay`, `corrupt`, `mark_ce`, `edit`; by the index in `Action`.
[[nodiscard]] std::string_view action_name(std::size_t index);
[[nodiscard]] std::string_view to_string(Direction direction);
[[nodiscard]] std::string_view to_string(PacketClass packet_class);
/// The class of a packet, never `any`, `request` or `response`; `syndrome` is that of its AETH, if it has one.
[[nodiscard]] PacketClass packet_class_of(Opcode opcode, std::optional<AethSyndrome> syndrome);

/// One fault: which packets, and what becomes of them. Of the packets that match, the first `skip` are passed over;
/// each further one is picked with `probability`, until `count` were picked.
struct Rule {
  std::string name{};  ///< for people; letters, digits and " _-." only
  Match match{};
  std::uint64_t skip = 0;
  std::optional<std::uint64_t> count{};  ///< none: without end
  double probability = 1;                ///< 0 … 1
  std::optional<std::uint64_t>
      seed{};  ///< of the rule's random numbers; none: from the engine's seed and the rule's place
  Action action{};

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// What is wrong with a rule, and what would be right.
struct RuleError {
  std::size_t rule = 0;  ///< counted from 1
  std::string key;       ///< `psn`; empty when it is about the whole rule
  std::string message;   ///< complete: `rule 2: op: expected ..., found 'wirte'`

  friend bool operator==(const RuleError&, const RuleError&) = default;
};

template <typename T>
using RuleResult = tl::expected<T, RuleError>;

/// One rule as names and texts, in the order of writing: what a YAML or JSON map holds.
using RuleValues = std::vector<std::pair<std::string, std::string>>;

/// Checked rules in their order. Keys and values are described in docs/impair.md.
class RuleSet {
 public:
  /// No rules: every frame passes.
  RuleSet() = default;
  [[nodiscard]] static RuleResult<RuleSet> from_rules(std::vector<Rule> rules);
  /// Rules `action:key=value,key=value`, separated by `;` or line ends. Empty ones and what follows a `#` on a line are
  /// passed over.
  [[nodiscard]] static RuleResult<RuleSet> from_text(std::string_view text);
  /// Rules as maps: the key `action` and those of the text form; or an action `PacketDrop` or `PacketReorder` with the
  /// keys of these models.
  [[nodiscard]] static RuleResult<RuleSet> from_values(std::span<const RuleValues> rules);

  /// One rule a line, with every key that is not at its default; `from_text` reads it back to an equal set.
  [[nodiscard]] std::string to_text() const;

  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }

  friend bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  std::vector<Rule> rules_;
};

/// The rule in the form that `from_text` takes, without a line end.
[[nodiscard]] std::string to_text(const Rule& rule);

}  // namespace roce::impair
