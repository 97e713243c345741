// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "conform/target/memory_cm.h"
#include "conform/target/memory_port.h"
#include "conform/target/target.h"
#include "roce/transport/device.h"

namespace roce::conform {

/// Returns the profile of this name (`strict`, `rxe`, `hardware_like`), and what its endpoint does about losses beyond
/// that (transport::parse_loss_recovery). Error: a part of `recovery` is wrong.
[[nodiscard]] TargetResult<transport::Profile> endpoint_profile(std::string_view name, std::string_view recovery);

/// Our own endpoint as the device under test, in this process, under a clock that only moves when somebody waits.
class MemoryTarget : public Target {
 public:
  /// Makes a device of a profile (`strict`, `rxe`, `hardware_like`). `seed` determines its random choices.
  MemoryTarget(const transport::Profile& profile, std::uint64_t seed);

  [[nodiscard]] const Port& port() const override { return ports_.front(); }
  [[nodiscard]] const Port* port_of(RoceVersion version) const override;
  [[nodiscard]] std::uint32_t port_mtu() const override { return device_.config().port_mtu; }
  [[nodiscard]] Qpn first_peer() const override { return Qpn{0x1000}; }
  [[nodiscard]] bool has(std::string_view feature) const override {
    return feature != "cnp" || device_.config().profile.send_cnps;
  }
  [[nodiscard]] TargetResult<QpNumber> create_qp(const QpSetup& setup) override;
  [[nodiscard]] Qpn qpn(QpNumber qp) const override { return qps_.at(qp).qpn; }
  [[nodiscard]] TargetResult<Region> create_region(const RegionSetup& setup) override;
  TargetResult<void> deregister(RegionNumber region) override;
  [[nodiscard]] TargetResult<WindowNumber> create_window(const WindowSetup& setup) override;
  [[nodiscard]] std::uint32_t window_key(WindowNumber window) override;
  TargetResult<void> destroy_window(WindowNumber window) override;
  [[nodiscard]] TargetResult<SrqNumber> create_srq() override;
  TargetResult<void> arm_srq(SrqNumber srq, std::uint32_t limit) override;
  TargetResult<void> post_srq_receive(SrqNumber srq, std::uint64_t wr_id, const transport::Sge& buffer) override;
  TargetResult<void> post_bind(QpNumber qp, const BindOrder& order) override;
  TargetResult<void> modify(QpNumber qp, const transport::QpChange& change) override;
  TargetResult<void> bring_up(QpNumber qp, const QpSetup& setup) override;
  [[nodiscard]] transport::QpState state(QpNumber qp) override;
  TargetResult<void> post_send(QpNumber qp, const SendOrder& order) override;
  TargetResult<void> destroy_qp(QpNumber qp) override;
  TargetResult<void> attach(QpNumber qp, const std::string& group) override;
  TargetResult<void> detach(QpNumber qp, const std::string& group) override;
  TargetResult<void> arm_cq(QpNumber qp, const CqArming& arming) override;
  TargetResult<void> post_receive(QpNumber qp, std::uint64_t wr_id, std::span<const transport::Sge> buffers) override;
  [[nodiscard]] std::optional<transport::Completion> poll(QpNumber qp, bool is_receive) override;
  [[nodiscard]] std::optional<transport::EventType> poll_event() override;
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override;
  [[nodiscard]] std::uint64_t memory_address() const override;
  [[nodiscard]] std::size_t memory_size() const override;
  [[nodiscard]] std::vector<std::byte> read_memory(std::size_t offset, std::size_t length) override;
  [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> expected) override;
  [[nodiscard]] CmService* cm(RoceVersion version) override;
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool may_send(std::span<const std::byte> /*frame*/) const override { return true; }
  void send(std::span<const std::byte> frame) override;
  [[nodiscard]] std::optional<SeenFrame> receive(Time until) override;

 private:
  struct Qp {
    Qpn qpn{};
    transport::Cq send_cq{};
    transport::Cq receive_cq{};
    transport::Ah tester{};  ///< of a UD QP: the address that it sends to
  };

  /// Returns where QPs of a version send to.
  [[nodiscard]] transport::AddressVector tester_of(RoceVersion version) const;
  /// Takes what the device has to send now.
  void collect();
  /// Returns when something happens in the device next.
  [[nodiscard]] Time next_timeout() const;

  std::array<Port, 3> ports_;  ///< by the entries of the device's GID table
  Time now_{};
  transport::Device device_;
  std::vector<std::byte> memory_;
  std::size_t used_memory_ = 0;
  transport::Pd pd_{};
  transport::Pd other_pd_{};
  std::vector<Qp> qps_;
  std::vector<transport::Mr> regions_;
  std::vector<transport::Mw> windows_;
  std::vector<transport::Srq> srqs_;
  std::vector<std::byte> buffer_;
  std::deque<SeenFrame> sent_;  ///< by the device
  std::uint64_t seed_;
  std::unique_ptr<MemoryCm> cm_;          ///< null until a case asks for it
  std::unique_ptr<MemoryPort> own_port_;  ///< null until a frame holds the device: only then it makes a difference
};

}  // namespace roce::conform
