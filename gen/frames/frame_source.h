// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gen/frames/value_rule.h"
#include "roce/wire/packet_spec.h"
#include "roce/wire/packet_template.h"
#include "roce/wire/super_frame.h"

namespace roce::gen {

/// A packet, and the rules for what changes in it each time it is sent.
struct VaryingPacket {
  PacketSpec spec;
  std::vector<std::pair<std::string, ValueRule>> rules;  ///< rules for values of `spec`, by name
  std::uint64_t repeat = 1;                              ///< how often in a row it is sent when its turn comes
  std::vector<std::string> given{};                      ///< names that the user set
};

/// Reads `NAME=RULE` pairs, in their order, into a packet. `headers`, `version` and `opcode` are read before all others
/// and decide which packet it is: `headers` is that of PacketSpec; without it the packet is the legal one of `opcode`
/// (RC_SEND_ONLY if not given) in `version` (v1, v2_ipv4, v2_ipv6; v2_ipv4 if not given). Error: which name, what was
/// expected and what was found.
[[nodiscard]] SpecResult<VaryingPacket> read_packet(const std::vector<std::pair<std::string, std::string>>& values);

/// The frames of several packets in turn, without end. Changing values are written into packets that were built once;
/// only if the layout changes (a list of opcodes or lengths) is each packet built anew.
class FrameSource {
 public:
  /// The most frames that are valid at a time.
  static constexpr std::size_t kHeld = 64;
  /// Builds the packets. `seed` is for all random rules; equal seeds give equal frames. `held` is the number of frames
  /// that are valid at a time. Error: a packet that cannot be built.
  [[nodiscard]] static SpecResult<FrameSource> make(const std::vector<VaryingPacket>& packets, std::uint64_t seed,
                                                    std::size_t held = kHeld);

  /// Returns the next frame, valid until `held` more have been returned. Error: values that together make no packet.
  [[nodiscard]] SpecResult<Bytes> next();
  /// Returns the kind of the last frame; null if no other has it. Valid as long as the source, even if that is moved.
  [[nodiscard]] const FrameKind* kind() const { return kind_; }
  /// Returns the number of frames until each packet has had its turn once.
  [[nodiscard]] std::uint64_t round() const;
  /// Returns the bytes of the longest frame: of a round, or of one with the extremes of its lengths.
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  /// A rule for a field whose place in the packet does not change.
  struct FieldRule {
    std::size_t which = 0;  ///< index in the template
    NumberSequence numbers;
    std::vector<std::vector<std::byte>> octets;  ///< values of a list of octets, instead
    std::vector<std::uint64_t> list;             ///< values of a list of numbers, instead
    std::size_t position = 0;                    ///< position of the next value in the list
  };
  /// A rule that changes the layout.
  struct TextRule {
    std::string name;
    std::vector<std::string> list;
    NumberSequence numbers;  ///< used if there is no list
    std::size_t position = 0;
  };
  struct Turn {
    PacketSpec spec;
    std::vector<std::string> names;  ///< names of the fields in `fields`
    std::vector<FieldRule> fields;
    std::vector<TextRule> texts;
    std::vector<PacketTemplate> packets;  ///< used in turn; each holds one frame
    std::size_t packet = 0;
    std::uint64_t repeat = 1;
    FrameKind kind{};  ///< kind of all its frames, if `texts` is empty
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
