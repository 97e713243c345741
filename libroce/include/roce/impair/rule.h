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

/// The direction of a frame between the two sides of the engine.
enum class Direction : std::uint8_t { a_to_b, b_to_a };

/// The purpose of a packet, which rules and transmission counts distinguish.
enum class PacketClass : std::uint8_t {
  any,
  request,   ///< any packet that a requester sends
  response,  ///< any packet that a responder sends: ack, nak, rnr_nak, read_response, atomic_ack
  send,
  write,
  read_request,
  read_response,
  atomic,  ///< compare-and-swap and fetch-and-add
  atomic_ack,
  atomic_write,
  flush,
  resync,
  ack,      ///< an acknowledge packet with an ACK syndrome
  nak,      ///< an acknowledge packet with a NAK syndrome
  rnr_nak,  ///< an acknowledge packet with a "receiver not ready" syndrome
  cnp,
  other,  ///< an opcode that no specification defines, or an acknowledge packet with the reserved kind of syndrome
};

/// One alternative for the type of a packet: an exact opcode, or a class and optionally a position in the message.
struct OpcodeTerm {
  PacketClass packet_class = PacketClass::any;
  std::optional<Position> position{};
  std::optional<Opcode> opcode{};  ///< if set, the other two members do not count

  /// True if a packet with this opcode is meant; `syndrome` is that of its AETH, if it has one.
  [[nodiscard]] bool matches(Opcode packet, std::optional<AethSyndrome> syndrome) const;

  friend bool operator==(const OpcodeTerm&, const OpcodeTerm&) = default;
};

/// A range that includes both ends; `first <= last`.
template <typename T>
struct Range {
  T first{};
  T last{};

  [[nodiscard]] constexpr bool contains(T value) const { return first <= value && value <= last; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The conditions for a packet: all that are set must hold.
/// Frames that are not RoCE match only with `any_frame`.
struct Match {
  std::optional<Direction> direction{};
  std::optional<Qpn> dest_qp{};
  std::vector<OpcodeTerm> opcodes{};  ///< one of these has to match; empty: all match
  /// Distance from the first PSN that the engine saw in the flow, in -2^23 … 2^23-1: the first packet has 0.
  /// Requests and responses of a flow count from first PSNs of their own. A CNP has no PSN and never matches.
  std::optional<Range<std::int32_t>> psn{};
  /// The PSN as it is in the packet, both ends included; `first > last` wraps through 0.
  std::optional<std::pair<Psn, Psn>> absolute_psn{};
  /// Number of this occurrence of (flow, class, PSN); 1 is the first transmission. Responses count in the same way.
  std::optional<Range<std::uint32_t>> transmission{};
  bool any_frame = false;  ///< any frame, RoCE or not; `direction` is the only other condition that may be set then

  friend bool operator==(const Match&, const Match&) = default;
};

/// Does not pass the packet on.
struct Drop {
  friend bool operator==(const Drop&, const Drop&) = default;
};
/// Passes the packet on, followed directly by `copies` (1 … 255) more.
struct Duplicate {
  std::uint32_t copies = 1;
  friend bool operator==(const Duplicate&, const Duplicate&) = default;
};
/// Holds the packet until `by` (1 … 511) packets of its direction that were submitted
/// later have been passed on, or until `timeout` (> 0) after it was submitted.
struct Reorder {
  std::uint32_t by = 1;
  Duration timeout = std::chrono::milliseconds{10};
  friend bool operator==(const Reorder&, const Reorder&) = default;
};
/// Delays the packet by `by` (> 0).
struct Delay {
  Duration by{};
  friend bool operator==(const Delay&, const Delay&) = default;
};
/// Inverts bits that the ICRC covers and leaves the ICRC as it is. Applies only to RoCE packets whose ICRC was
/// captured. Random bits are never in the first two bytes of the BTH, so that the packets parse as before.
struct Corrupt {
  /// The bit to invert, counted from the BTH (bit 0 is the most significant bit of its first byte) to the end
  /// of the pad; not 32 … 39, which the ICRC does not cover. Packets without that bit do not match the rule.
  std::optional<std::uint32_t> bit{};
  /// Without `bit`: number of different random bits, 1 … 64.
  std::uint32_t bits = 1;
  friend bool operator==(const Corrupt&, const Corrupt&) = default;
};
/// Sets the ECN field of the innermost IP header (or the GRH) to 11b, congestion experienced (RFC 3168),
/// and updates the IPv4 checksum. The ICRC does not cover the field. Applies only to packets with such a header.
struct MarkCe {
  friend bool operator==(const MarkCe&, const MarkCe&) = default;
};
/// Sets a field of the field table, in the innermost header of its kind; packets without that header do not match
/// the rule. The IPv4 header checksum, the UDP checksum and the ICRC are recomputed if they were right before, unless
/// they are the field that was set. Nothing else is adapted: lengths and the headers that an opcode requires stay.
struct Edit {
  std::string field{};  ///< e.g. `bth.psn`
  std::string value{};  ///< in the form that `set_field_text` takes
  friend bool operator==(const Edit&, const Edit&) = default;
};

using Action = std::variant<Drop, Duplicate, Reorder, Delay, Corrupt, MarkCe, Edit>;

/// Returns `drop`, `duplicate`, `reorder`, `delay`, `corrupt`, `mark_ce`, `edit`, by the index in `Action`.
[[nodiscard]] std::string_view action_name(std::size_t index);
[[nodiscard]] std::string_view to_string(Direction direction);
[[nodiscard]] std::string_view to_string(PacketClass packet_class);
/// Returns the class of a packet, never `any`, `request` or `response`; `syndrome` is that of its AETH, if it has one.
[[nodiscard]] PacketClass packet_class_of(Opcode opcode, std::optional<AethSyndrome> syndrome);

/// One fault: the conditions for its packets, and the action on them. Of the packets that match,
/// the first `skip` are passed over; each further one is picked with `probability`, until `count` were picked.
struct Rule {
  std::string name{};  ///< for display; letters, digits and " _-." only
  Match match{};
  std::uint64_t skip = 0;
  std::optional<std::uint64_t> count{};  ///< empty: no limit
  double probability = 1;                ///< 0 … 1
  std::optional<std::uint64_t>
      seed{};  ///< seed of the rule's random numbers; empty: derived from the engine's seed and the rule's place
  Action action{};

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// An error in a rule, and what is expected.
struct RuleError {
  std::size_t rule = 0;  ///< counted from 1
  std::string key;       ///< e.g. `psn`; empty if the error is about the whole rule
  std::string message;   ///< complete text: `rule 2: op: expected ..., found 'wirte'`

  friend bool operator==(const RuleError&, const RuleError&) = default;
};

template <typename T>
using RuleResult = tl::expected<T, RuleError>;

/// One rule as names and texts, in the order of writing: the content of a YAML or JSON map.
using RuleValues = std::vector<std::pair<std::string, std::string>>;

/// Checked rules in their order. Keys and values are described in docs/impair.md.
class RuleSet {
 public:
  /// Makes an empty set: every frame passes.
  RuleSet() = default;
  [[nodiscard]] static RuleResult<RuleSet> from_rules(std::vector<Rule> rules);
  /// Parses rules `action:key=value,key=value`, separated by `;` or line ends.
  /// Skips empty rules and everything that follows a `#` on a line.
  [[nodiscard]] static RuleResult<RuleSet> from_text(std::string_view text);
  /// Reads rules as maps: the key `action` and the keys of the text form;
  /// or an action `PacketDrop` or `PacketReorder` with the keys of these models.
  [[nodiscard]] static RuleResult<RuleSet> from_values(std::span<const RuleValues> rules);

  /// Returns one rule per line, with every key that is not at its default; `from_text` reads it back to an equal set.
  [[nodiscard]] std::string to_text() const;

  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }

  friend bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  std::vector<Rule> rules_;
};

/// Returns the rule in the form that `from_text` takes, without a line end.
[[nodiscard]] std::string to_text(const Rule& rule);

}  // namespace roce::impair
