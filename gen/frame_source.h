// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gen/value_rule.h"
#include "roce/wire/packet_spec.h"
#include "roce/wire/packet_template.h"
#include "roce/wire/super_frame.h"

namespace roce::gen {

/// A packet and what changes in it each time it goes out.
struct VaryingPacket {
  PacketSpec spec;
  std::vector<std::pair<std::string, ValueRule>> rules;  ///< of values of `spec`, by their names
  std::uint64_t repeat = 1;                              ///< how often in a row it goes out when its turn comes
  std::vector<std::string> given{};                      ///< the names that somebody set
};

/// Reads `NAME=RULE` pairs, in their order, into a packet. `headers`, `version` and `opcode` are taken before all
/// others and say which packet it is: `headers` is that of PacketSpec; without it the packet is the legal one of
/// `opcode` (RC_SEND_ONLY if not given) in `version` (v1, v2_ipv4, v2_ipv6; v2_ipv4 if not given). Error: which name,
/// what was expected and found.
[[nodiscard]] SpecResult<VaryingPacket> read_packet(const std::vector<std::pair<std::string, std::string>>& values);

/// The frames of some packets in turn, without end. What changes is written into packets that were built once; only
/// where the layout changes (a list of opcodes or lengths) each is built anew.
class FrameSource {
 public:
  /// How many frames are valid at a time, at most.
  static constexpr std::size_t kHeld = 64;
  /// `seed` is that of all random rules; equal seeds give equal frames. `held`: how many frames are valid at a time.
  /// Error: a packet that cannot be built.
  [[nodiscard]] static SpecResult<FrameSource> make(const std::vector<VaryingPacket>& packets, std::uint64_t seed,
                                                    std::size_t held = kHeld);

  /// The next frame, valid until as many more were given as are held. Error: values that together make no packet.
  [[nodiscard]] SpecResult<Bytes> next();
  /// Of which kind the last frame was; null: of no other's. Valid as long as the source, wherever it is moved to.
  [[nodiscard]] const FrameKind* kind() const { return kind_; }
  /// How many frames it takes until each packet has had its turn once.
  [[nodiscard]] std::uint64_t round() const;
  /// The longest frame of a round, or of the extremes of its lengths.
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  /// A rule in a field that stays where it is.
  struct FieldRule {
    std::size_t which = 0;  ///< in the template
    NumberSequence numbers;
    std::vector<std::vector<std::byte>> octets;  ///< of a list of octets, instead
    std::vector<std::uint64_t> list;             ///< of a list of numbers, instead
    std::size_t position = 0;                    ///< in the list
  };
  /// A rule that changes the layout.
  struct TextRule {
    std::string name;
    std::vector<std::string> list;
    NumberSequence numbers;  ///< without a list
    std::size_t position = 0;
  };
  struct Turn {
    PacketSpec spec;
    std::vector<std::string> names;  ///< of the fields of `fields`
    std::vector<FieldRule> fields;
    std::vector<TextRule> texts;
    std::vector<PacketTemplate> packets;  ///< in turn, each a frame that is held
    std::size_t packet = 0;
    std::uint64_t repeat = 1;
    FrameKind kind{};  ///< of all its frames, where `texts` is empty
  };

  FrameSource() = default;
  [[nodiscard]] static SpecResult<Turn> make_turn(const VaryingPacket& packet, std::uint64_t seed);
  [[nodiscard]] SpecResult<void> measure(const VaryingPacket& packet);
  void make_held(std::size_t held);

  std::vector<Turn> turns_;
  const FrameKind* kind_ = nullptr;
  std::size_t turn_ = 0;
  std::uint64_t repeated_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace roce::gen
