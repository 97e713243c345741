// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/gate.h"

#include <algorithm>
#include <thread>

namespace roce::conform::fuzz {

Gate::Reserved::~Reserved() {
  if (gate_ != nullptr) gate_->release(qpn_);
}

TargetResult<Gate::Reserved> Gate::make_qp(Target& target, const QpSetup& setup) {
  const std::shared_lock making{making_};
  const TargetResult<QpNumber> number = target.create_qp(setup);
  if (!number) return tl::unexpected(number.error());
  const Qpn qpn = target.qpn(*number);
  const std::lock_guard lock{mutex_};
  reserved_.insert(qpn.value());
  return Reserved{*this, *number, qpn};
}

bool Gate::is_reserved(Qpn qpn) {
  const std::lock_guard lock{mutex_};
  return reserved_.contains(qpn.value());
}

void Gate::release(Qpn qpn) {
  const std::lock_guard lock{mutex_};
  reserved_.erase(reserved_.find(qpn.value()));
}

Gate::Clock::time_point Gate::take_moment() {
  const std::lock_guard lock{mutex_};
  // Time that nobody used is not saved up for a burst.
  const Clock::time_point moment = std::max(next_, Clock::now());
  next_ = moment + Clock::duration{std::chrono::seconds{1}} / frames_a_second_;
  return moment;
}

bool Gate::send(Target& target, std::span<const std::byte> frame, const Packet& packet, Qpn own) {
  if (!target.may_send(frame)) return false;
  if (frames_a_second_ != 0) std::this_thread::sleep_until(take_moment());
  if (!packet.is_roce() || packet.bth().dest_qp == own) {
    target.send(frame);
    return true;
  }
  const std::unique_lock alone{making_};
  if (is_reserved(packet.bth().dest_qp)) return false;
  target.send(frame);
  return true;
}

void Gate::leave_out(std::uint64_t shape) {
  const std::lock_guard lock{mutex_};
  left_out_.insert(shape);
}

bool Gate::is_left_out(std::uint64_t shape) {
  const std::lock_guard lock{mutex_};
  return left_out_.contains(shape);
}

std::vector<std::uint64_t> Gate::left_out() {
  const std::lock_guard lock{mutex_};
  return {left_out_.begin(), left_out_.end()};
}

}  // namespace roce::conform::fuzz
