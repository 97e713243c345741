// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conform/fuzz/program.h"
#include "conform/run/cm_talk.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// The names of the messages as cases write them, by `CmKind`.
inline constexpr std::array<std::string_view, 9> kCmNames{"CM_REQ",  "CM_MRA",  "CM_REJ", "CM_REP", "CM_RTU",
                                                          "CM_DREQ", "CM_DREP", "CM_LAP", "CM_APR"};
/// Returns the kind of a frame; empty for one that is no message which programs have.
[[nodiscard]] std::optional<CmKind> cm_kind_of(const Packet& packet);

/// A connection that the tester asks the device for, as its state tells what may come (docs/cm.md).
enum class CmPhase : std::uint8_t {
  listening,    ///< nothing was asked for
  replied,      ///< the device has sent a REP
  established,  ///< the device has got the RTU
  leaving,      ///< the device has sent a DREQ
  ended,        ///< the tester has asked for the end, or both have agreed
  rejected,     ///< the tester has sent a REJ
  unsure,       ///< something happened of which nobody can say what it leads to
};

/// One of the things that the device may do with a message.
struct CmBehaviour {
  std::optional<CmKind> answer{};          ///< empty: none
  std::vector<std::string_view> events{};  ///< kinds, as CmReport has them
  std::vector<std::uint16_t> reasons{};    ///< of a REJ: one of these; empty: any
  CmPhase next = CmPhase::listening;
};

/// All that the device may do with a message; empty: anything.
using CmExpectation = std::vector<CmBehaviour>;

/// The passive side of RDMA CM at the device, as the specification has it (IBTA vol. 1, 12.9; docs/rules.md CM), with
/// one connection and, at the end, a fresh one. Messages come one at a time, and no timer of the device runs out.
class ManagerModel {
 public:
  static constexpr unsigned kStates = 7;

  [[nodiscard]] CmPhase phase() const { return phase_; }
  [[nodiscard]] unsigned abstract_state() const { return static_cast<unsigned>(phase_); }
  /// True if the second QP has been asked to be connected.
  [[nodiscard]] bool has_asked_twice() const { return has_asked_twice_; }

  /// Returns what the device may do with a message.
  [[nodiscard]] CmExpectation judge(const Message& message) const;
  /// Returns what it may do when it is told to end its connection; it refuses that without one.
  [[nodiscard]] bool can_disconnect() const { return phase_ == CmPhase::established; }
  /// Takes over what it did with a message; empty: something that `judge` left open.
  void apply(const Message& message, const CmBehaviour* taken);
  /// Takes over that so much time has passed that timewait may be over.
  void lose_track() { phase_ = CmPhase::unsure; }
  /// Takes over that it ends its connection.
  void disconnect() { phase_ = CmPhase::leaving; }

 private:
  /// True if the device has a connection that has not ended.
  [[nodiscard]] bool is_up() const;
  [[nodiscard]] CmExpectation judge_right(CmKind kind) const;
  [[nodiscard]] CmExpectation judge_request() const;
  [[nodiscard]] CmExpectation judge_foreign(const Message& message) const;
  [[nodiscard]] CmExpectation judge_changed(const Message& message) const;
  /// Returns that nothing happens, or that the answer is one of these and nothing else happens.
  [[nodiscard]] CmExpectation nothing_or(std::initializer_list<CmKind> answers) const;

  CmPhase phase_ = CmPhase::listening;
  bool has_asked_twice_ = false;
};

/// True if an answer of the device is one of this kind to a message, by its IDs, its transaction and its reason.
[[nodiscard]] bool fits(const CmBehaviour& behaviour, const Packet& answer, const Packet& message);

}  // namespace roce::conform::fuzz
