// SPDX-License-Identifier: BSD-2-Clause
#include "live/live_end.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>

#include "roce/link/raw_link.h"
#include "roce/link/xdp_link.h"

namespace roce::bench {

namespace {

using namespace transport;

template <typename T>
T must(VerbResult<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <typename T>
T must(link::LinkResult<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

[[nodiscard]] MacAddress address_of(const std::array<std::byte, 6>& octets) {
  MacAddress mac;
  std::memcpy(mac.octets.data(), octets.data(), octets.size());
  return mac;
}

[[nodiscard]] std::unique_ptr<link::Link> open(const std::string& interface, Path path, MacAddress& mac) {
  if (path == Path::xdp) {
    link::XdpLinkOptions options;
    options.interface = interface;
    options.mode = link::XdpLinkOptions::Mode::native;
    auto link = must(link::XdpLink::open(options));
    mac = address_of(link->mac());
    return link;
  }
  link::RawLinkOptions options;
  options.interface = interface;
  options.segmentation = path == Path::segmented;
  auto link = must(link::RawLink::open(options));
  mac = address_of(link->mac());
  return link;
}

}  // namespace

Time now() {
  return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

LiveEnd::LiveEnd(const std::string& interface, std::uint8_t number, const LiveShape& shape)
    : shape_(shape),
      link_(open(interface, shape.path, mac_)),
      gid_(Gid::from_ipv4({{192, 0, 2, number}})),
      memory_(shape.region_bytes, static_cast<std::byte>(number)),
      device_(must(Device::make({.mac = mac_, .gids = {{.gid = gid_}}, .port_mtu = shape.mtu, .profile = shape.profile},
                                std::mt19937_64{number}))),
      port_(device_, *link_, &neighbours_) {
  const Pd pd = must(device_.create_pd());
  cq_ = must(device_.create_cq(4 * shape.max_send));
  const Mr mr = must(device_.register_memory(
      pd, {.memory = memory_, .access = Access::local_write | Access::remote_write | Access::remote_read}));
  region_ = must(device_.query_mr(mr));
  qp_ = must(device_.create_qp({.type = shape.type,
                                .pd = pd,
                                .send_cq = cq_,
                                .receive_cq = cq_,
                                .max_send = shape.max_send,
                                .max_receive = shape.max_send}));
}

void LiveEnd::connect(LiveEnd& a, LiveEnd& b) {
  a.connect_to(b);
  b.connect_to(a);
}

void LiveEnd::connect_to(const LiveEnd& peer) {
  neighbours_.set(peer.gid_, std::nullopt, peer.mac_);
  peer_region_ = peer.region_;
  const Time time = now();
  const bool reliable = shape_.type == QpType::rc;
  must(device_.modify_qp(qp_, {.state = QpState::init, .p_key_index = 0, .port = 1, .access = Access::remote_write},
                         time));
  QpChange rtr{.state = QpState::rtr,
               .address = AddressVector{.dgid = peer.gid_},
               .path_mtu = shape_.mtu,
               .dest_qp = peer.qp_,
               .rq_psn = Psn{100}};
  QpChange rts{.state = QpState::rts, .sq_psn = Psn{100}};
  if (reliable) {
    rtr.max_dest_rd_atomic = 1;
    rtr.min_rnr_timer = 1;
    rts.max_rd_atomic = 1;
    // 1 s: on a busy machine a thread may not run for a long time, which must not be measured as loss.
    rts.timeout = 18;
    rts.retry_count = 7;
    rts.rnr_retry = 7;
  }
  if (shape_.packets_per_second != 0) rts.rate_limit_pps = shape_.packets_per_second;
  must(device_.modify_qp(qp_, rtr, time));
  must(device_.modify_qp(qp_, rts, time));
}

bool LiveEnd::turn() {
  return must(port_.turn(now()));
}

void LiveEnd::wait() {
  const Time until = port_.next_timeout();
  timespec timeout{};
  if (until != kNever) {
    const Duration left = std::max(until - now(), Duration{0});
    timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
  }
  pollfd set{link_->fd(), static_cast<short>(POLLIN | (port_.wants_to_write() ? POLLOUT : 0)), 0};
  ::ppoll(&set, 1, until == kNever ? nullptr : &timeout, nullptr);
}

void LiveEnd::post(WorkOpcode opcode, std::size_t offset, std::uint32_t bytes) {
  const Sge sge{region_.address + offset, bytes, region_.l_key};
  must(device_.post_send(
      qp_, {.opcode = opcode, .sges = {&sge, 1}, .remote = {peer_region_.address + offset, peer_region_.r_key}}));
}

void LiveEnd::post_receive(std::size_t offset, std::uint32_t bytes) {
  const Sge sge{region_.address + offset, bytes, region_.l_key};
  must(device_.post_receive(qp_, {.sges = {&sge, 1}}));
}

LiveEnd::Completed LiveEnd::poll() {
  std::array<Completion, 64> completions;
  const std::size_t count = device_.poll_cq(cq_, completions);
  Completed completed;
  for (std::size_t i = 0; i < count; ++i) {
    if (completions[i].status != CompletionStatus::success) {
      throw std::runtime_error("a request ended with: " + std::string{to_string(completions[i].status)});
    }
    (completions[i].opcode == CompletionOpcode::receive ? completed.receives : completed.sends) += 1;
  }
  return completed;
}

}  // namespace roce::bench
