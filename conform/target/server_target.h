// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conform/target/server_device.h"
#include "conform/target/target.h"

namespace roce::conform {

/// A device that is seen on the wire only, for one instance: the QP of a server program. Nothing of the device can be
/// asked for or made: such calls throw DeviceLacks.
///
/// The program sends messages of its own. They are acknowledged here, and what `receive` returns says that they are the
/// program's.
class ServerTarget final : public Target {
 public:
  /// `device` has to outlive it, and have no other target meanwhile. The server is met when the first object is made
  /// that needs it.
  ServerTarget(ServerDevice& device, std::uint64_t seed);
  /// Lets the server end.
  ~ServerTarget() override;

  /// Meets the server, if that was not done. Failures: those of `ServerDevice::meet`.
  [[nodiscard]] live::Result<void> meet();

  [[nodiscard]] const Port& port() const override { return device_.wire().port(); }
  [[nodiscard]] const Port* port_of(RoceVersion version) const override {
    return version == port().version ? &port() : nullptr;
  }
  [[nodiscard]] std::uint32_t port_mtu() const override { return device_.wire().max_path_mtu(); }
  [[nodiscard]] Qpn first_peer() const override { return own_.qpn; }
  [[nodiscard]] bool has(std::string_view feature) const override;
  [[nodiscard]] bool carries_out(Operation operation) const override;
  [[nodiscard]] std::uint64_t receive_bytes() const override { return device_.program().message_bytes; }
  [[nodiscard]] bool answers_messages() const override { return device_.program().answers; }
  /// Returns the server's QP. Throws DeviceLacks for a second one, or one of another type.
  [[nodiscard]] TargetResult<QpNumber> create_qp(const QpSetup& setup) override;
  [[nodiscard]] QpSetup made(QpNumber qp, const QpSetup& asked) const override;
  [[nodiscard]] Qpn qpn(QpNumber qp) const override;
  /// Returns the memory that the server offers, or one that is nowhere.
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
  /// Does nothing: the server has posted its own.
  TargetResult<void> post_receive(QpNumber qp, std::uint64_t wr_id, std::span<const transport::Sge> buffers) override;
  [[nodiscard]] std::optional<transport::Completion> poll(QpNumber qp, bool is_receive) override;
  [[nodiscard]] std::optional<transport::EventType> poll_event() override;
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override;
  [[nodiscard]] std::uint64_t memory_address() const override { return 0; }
  [[nodiscard]] std::size_t memory_size() const override { return 0; }
  [[nodiscard]] std::vector<std::byte> read_memory(std::size_t offset, std::size_t length) override;
  [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> expected) override;
  [[nodiscard]] Time now() const override { return device_.wire().now(); }
  [[nodiscard]] bool may_send(std::span<const std::byte> frame) const override {
    return device_.wire().may_send(frame);
  }
  void send(std::span<const std::byte> frame) override { device_.wire().send(frame); }
  void send_burst(std::span<const std::vector<std::byte>> frames) override { device_.wire().send_burst(frames); }
  [[nodiscard]] std::optional<SeenFrame> receive(Time until) override;
  [[nodiscard]] std::uint64_t lost_frames() const override { return device_.wire().lost_frames(); }

 private:
  /// Takes a request of the program; returns the acknowledgement that was sent, if it asked for one.
  std::vector<std::byte> take_request(const Packet& packet);
  /// Makes a frame to the server's QP, with the values of more fields.
  [[nodiscard]] std::vector<std::byte> frame_to_server(
      Opcode opcode, const std::vector<std::pair<std::string_view, std::string>>& values) const;
  void say_goodbye();
  /// Throws DeviceGone because the server cannot be met.
  [[noreturn]] void give_up(const std::string& why) const;

  ServerDevice& device_;
  OwnQp own_{};
  std::optional<ServerSession> session_{};
  bool has_qp_ = false;
  Psn expected_{};  ///< the PSN that the device expects, by its acknowledgements
  Psn next_{};      ///< the PSN of the program's next request
  Msn msn_{};       ///< messages of the program that are complete
};

}  // namespace roce::conform
