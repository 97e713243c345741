// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conform/target/link_cm.h"
#include "conform/target/link_device.h"
#include "conform/target/target.h"

namespace roce::conform {

/// A device on a wire, for one instance: its verbs and its memory by the control protocol. The end of this object
/// destroys all that it created.
class LinkTarget final : public Target {
 public:
  /// `device` has to outlive it, and have no other target meanwhile.
  explicit LinkTarget(LinkDevice& device);
  ~LinkTarget() override;

  [[nodiscard]] const Port& port() const override { return device_.port(); }
  [[nodiscard]] const Port* port_of(RoceVersion version) const override {
    return version == port().version ? &port() : nullptr;
  }
  [[nodiscard]] std::uint32_t port_mtu() const override { return device_.max_path_mtu(); }
  [[nodiscard]] std::uint64_t speed() const override { return device_.speed(); }
  [[nodiscard]] Qpn first_peer() const override { return first_peer_; }
  [[nodiscard]] bool has(std::string_view feature) const override;
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
  [[nodiscard]] std::uint64_t memory_address() const override { return device_.memory().address; }
  [[nodiscard]] std::size_t memory_size() const override;
  [[nodiscard]] std::vector<std::byte> read_memory(std::size_t offset, std::size_t length) override;
  [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> expected) override;
  [[nodiscard]] std::uint64_t identity() const override { return identity_; }
  [[nodiscard]] CmService* cm(RoceVersion version) override;
  [[nodiscard]] Time now() const override { return device_.wire().now(); }
  [[nodiscard]] bool may_send(std::span<const std::byte> frame) const override {
    return device_.wire().may_send(frame);
  }
  void send(std::span<const std::byte> frame) override { device_.wire().send(frame); }
  void send_burst(std::span<const std::vector<std::byte>> frames) override { device_.wire().send_burst(frames); }
  [[nodiscard]] std::optional<SeenFrame> receive(Time until) override { return device_.wire().receive(until); }
  [[nodiscard]] std::uint64_t lost_frames() const override { return device_.wire().lost_frames(); }

 private:
  struct Qp {
    transport::QpType type{};
    Qpn qpn{};
    std::uint32_t send_cq = 0;
    std::uint32_t receive_cq = 0;
    bool has_usual_cqs = false;  ///< of kCqSize
    std::deque<transport::Completion> sent{};
    std::deque<transport::Completion> received{};
  };

  /// Returns the number of a completion queue of this size (kCqSize if empty) that no QP has.
  [[nodiscard]] std::uint32_t take_cq(std::optional<std::uint32_t> size);
  /// Adds the other protection domain to a request for an object in it.
  void put_pd(nlohmann::ordered_json& request, bool in_other_pd);
  /// Takes a UD QP from INIT to RTS, and makes the tester's address the one that it sends to.
  TargetResult<void> connect(QpNumber qp, Psn first);

  LinkDevice& device_;
  Qpn first_peer_{};
  std::vector<Qp> qps_;
  std::vector<std::uint32_t> free_cqs_;  ///< of kCqSize, of QPs that are gone
  std::vector<std::uint32_t> regions_;   ///< their numbers at the agent
  std::vector<std::uint32_t> windows_;
  std::vector<std::uint32_t> srqs_;
  std::optional<std::uint32_t> other_pd_{};
  std::size_t used_ = 0;      ///< bytes of the memory, from the first on
  std::optional<LinkCm> cm_;  ///< empty until a case asks for it
  std::uint64_t identity_ = 0;
};

}  // namespace roce::conform
