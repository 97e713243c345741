// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/attributes.h"
#include "conform/run/cm_talk.h"
#include "conform/run/frame_maker.h"
#include "conform/target/cm_service.h"
#include "conform/target/target.h"

namespace roce::conform {

/// A QP of the device as the tester knows it from the frames that it saw. It takes no part in judging a request: a
/// case says what it expects, and the next PSNs follow from what the device acknowledged and sent.
struct PeerQp {
  QpNumber number = 0;
  QpSetup setup{};
  Port port{};  ///< the addresses of its packets
  Qpn qpn{};
  Psn expected{};                   ///< $E: the PSN that the device expects
  Psn next{};                       ///< $S: the next PSN that the device sends
  Msn msn{};                        ///< $M: messages that the device's responder has completed
  std::deque<SeenFrame> waiting{};  ///< frames of the device that no step has taken

  /// Takes over what a frame of the device says.
  void learn(const Packet& packet);
};

/// The objects of one run: QPs, SRQs, regions and posted receives of the device, by their names in the case.
///
/// Every case has the QP `qp`, the region `R` with all remote rights, the region `probe`, and for each QP its receives,
/// `rx0` … of the QP `qp` and `NAME.rx0` … of another, and of an SRQ.
class TestBed {
 public:
  TestBed(Target& target, const Instance& instance, std::uint64_t seed);

  /// Makes all objects. Errors: a wrong attribute, or the device refuses one.
  [[nodiscard]] CaseResult<void> set_up(const Scope& scope);
  /// Makes a region or a QP of the setup again, which the device no longer has: with a new key, or a new number.
  /// Errors: those of `set_up`, and a name that the setup does not have.
  [[nodiscard]] CaseResult<void> make_again(const std::string& name, const Place& place, const Scope& scope);

  [[nodiscard]] Target& target() const { return target_; }
  /// Returns a QP by name, or null.
  [[nodiscard]] PeerQp* find_qp(const std::string& name);
  [[nodiscard]] const PeerQp* find_qp(const std::string& name) const;
  /// Returns the QP whose peer has this number on the tester's side, or null.
  [[nodiscard]] PeerQp* find_peer(Qpn peer);
  [[nodiscard]] const Region* find_region(const std::string& name) const;
  [[nodiscard]] std::optional<WindowNumber> find_window(const std::string& name) const;
  [[nodiscard]] std::optional<SrqNumber> find_srq(const std::string& name) const;
  [[nodiscard]] std::map<std::string, PeerQp>& qps() { return qps_; }
  /// Returns the device's communication manager; null if the case does not need one.
  [[nodiscard]] CmService* cm() const { return cm_; }
  /// Takes over what a frame of the device says about its communication manager, and about the QP of a connection: the
  /// first PSN that it receives may be one that its communication manager has chosen.
  void hear(const Packet& packet);
  /// Returns a QP as the device's communication manager has to know it.
  [[nodiscard]] CmEnd cm_end(const PeerQp& qp) const { return {qp.number, qp.qpn, qp.setup}; }
  /// Returns the service that QPs of a type are listened for if the case names none.
  [[nodiscard]] static ServiceId default_service(transport::QpType type);
  /// Returns what a frame for a QP has if the case says nothing else.
  [[nodiscard]] FrameDefaults defaults_for(const PeerQp& qp) const;
  /// Returns the request of the device on a QP that a case which says nothing else posts: without data, in R.
  [[nodiscard]] SendOrder order_for(const PeerQp& qp) const;
  /// Returns the value of a name such as `E`, `a.E`, `qp.qpn`, `R.va`, `R.end`, `rx0.va`, `win.r_key`, `mtu`.
  [[nodiscard]] std::optional<Value> find(std::string_view name) const;

  /// Returns the first place where memory differs from what it has to be, as a sentence; empty if nowhere.
  [[nodiscard]] std::optional<std::string> find_change() const;
  /// True if the byte at an address is in the memory, and is what it has to be.
  [[nodiscard]] bool is_as_before(std::uint64_t address) const;
  /// Takes the present content of a range as what it has to be, and returns it; empty if the range is not in the
  /// memory.
  std::optional<std::vector<std::byte>> accept_memory(std::uint64_t address, std::uint64_t length);

 private:
  [[nodiscard]] CaseResult<void> add_qp(const ObjectSpec& object, const Scope& scope);
  [[nodiscard]] CaseResult<void> add_object(const ObjectSpec& object, const Scope& scope);
  [[nodiscard]] CaseResult<void> add_window(const ObjectSpec& object, const Scope& scope);
  [[nodiscard]] CaseResult<void> add_region(const ObjectSpec& object, const Scope& scope);
  [[nodiscard]] CaseResult<void> add_listener(const ObjectSpec& object, const Scope& scope);
  /// Makes the QP of the communication manager, whose packets are of the version that `qp` has.
  [[nodiscard]] CaseResult<void> add_gsi(const Scope& scope);
  [[nodiscard]] CaseResult<void> add_srq(const ObjectSpec& object, const Scope& scope);
  /// Makes a region for each receive of an object, and has it posted.
  [[nodiscard]] CaseResult<void> add_receives(
      const ObjectSpec& object, const ReceivesRead& receives,
      const std::function<TargetResult<void>(std::uint64_t wr_id, const transport::Sge& buffer)>& post);

  Target& target_;
  const Instance& instance_;
  std::mt19937_64 random_;
  std::map<std::string, PeerQp> qps_;
  std::map<std::string, Region> regions_;
  std::map<std::string, WindowNumber> windows_;
  std::map<std::string, SrqNumber> srqs_;
  CmService* cm_ = nullptr;
  CmTalk talk_;
  std::vector<std::byte> shadow_;  ///< the memory as it has to be
};

}  // namespace roce::conform
