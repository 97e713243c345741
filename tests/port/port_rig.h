// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "roce/link/link.h"
#include "roce/port/neighbours.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"

/// A device and a link that is the test's, for a port between them.
namespace roce::port::test {

inline constexpr Time kNow{std::chrono::hours{1}};
inline constexpr std::uint32_t kMtu = 1024;

template <typename T>
T must(transport::VerbResult<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A link whose other end is the test: it keeps what is sent and delivers what is put there.
class ScriptedLink final : public link::Link {
 public:
  explicit ScriptedLink(link::LinkKind kind) : kind_(kind) {}

  std::vector<link::RxFrame> incoming;
  std::vector<std::pair<std::vector<std::byte>, link::UdpMeta>> sent;
  std::uint16_t only_source_port = 0;  ///< 0: any
  std::uint32_t max_segments = 1;
  std::size_t refuses_after = SIZE_MAX;  ///< number of super-frames that it takes before it refuses one
  std::vector<std::uint32_t> sent_segment_sizes;

  [[nodiscard]] link::LinkKind kind() const override { return kind_; }
  [[nodiscard]] std::size_t max_bytes() const override { return 9216; }
  [[nodiscard]] link::LinkResult<std::size_t> receive(std::span<link::RxFrame> frames) override {
    const std::size_t count = std::min(frames.size(), incoming.size());
    std::copy_n(incoming.begin(), count, frames.begin());
    incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  [[nodiscard]] link::LinkResult<std::size_t> send(std::span<const link::TxFrame> frames) override {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const link::TxFrame& frame = frames[i];
      if (frame.segment_size != 0 && (max_segments == 1 || refuses_after-- == 0)) {
        max_segments = 1;
        return i;
      }
      sent_segment_sizes.push_back(frame.segment_size);
      sent.emplace_back(std::vector<std::byte>{frame.bytes.begin(), frame.bytes.end()}, frame.udp);
    }
    return frames.size();
  }
  [[nodiscard]] link::Segmentation segmentation() const override {
    if (max_segments == 1) return {.refusal = "it was tired"};
    return {.max_segments = max_segments, .max_bytes = 65507};
  }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] std::uint16_t source_port(std::uint16_t wanted) override {
    return only_source_port == 0 ? wanted : only_source_port;
  }
  [[nodiscard]] link::LinkCounters counters() const override { return {}; }

 private:
  link::LinkKind kind_;
};

/// A device on 192.0.2.`number` with 64 KiB of memory, which knows the MAC addresses of the other hosts.
struct Host {
  explicit Host(std::uint8_t number)
      : gid(Gid::from_ipv4({{192, 0, 2, number}})),
        memory(1U << 16U),
        device(must(transport::Device::make(
            {.mac = {{2, 0, 0, 0, 0, number}}, .gids = {{.gid = gid}}, .port_mtu = kMtu}, std::mt19937_64{number}))),
        pd(must(device.create_pd())),
        cq(must(device.create_cq(256))),
        mr(must(device.register_memory(
            pd, {.memory = memory, .access = transport::Access::local_write | transport::Access::remote_write}))),
        keys(must(device.query_mr(mr))) {
    for (std::uint8_t other = 1; other < 4; ++other) {
      neighbours.set(Gid::from_ipv4({{192, 0, 2, other}}), std::nullopt, {{2, 0, 0, 0, 0, other}});
    }
  }

  [[nodiscard]] Qpn make_qp() {
    return must(device.create_qp(
        {.type = transport::QpType::rc, .pd = pd, .send_cq = cq, .receive_cq = cq, .max_send = 64, .max_receive = 64}));
  }
  void connect(Qpn qp, const Gid& peer, Qpn peer_qp, std::uint8_t service_level = 0) {
    must(device.modify_qp(
        qp, {.state = transport::QpState::init, .p_key_index = 0, .port = 1, .access = transport::Access::remote_write},
        kNow));
    must(device.modify_qp(qp,
                          {.state = transport::QpState::rtr,
                           .address = transport::AddressVector{.dgid = peer, .service_level = service_level},
                           .path_mtu = kMtu,
                           .dest_qp = peer_qp,
                           .rq_psn = Psn{100},
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 12},
                          kNow));
    must(device.modify_qp(qp,
                          {.state = transport::QpState::rts,
                           .sq_psn = Psn{100},
                           .max_rd_atomic = 1,
                           .timeout = 14,
                           .retry_count = 7,
                           .rnr_retry = 7},
                          kNow));
  }
  /// Writes from the beginning of the memory to the peer's second half.
  void write(Qpn qp, std::uint32_t length, const transport::MrInfo& to) {
    const transport::Sge sge{keys.address, length, keys.l_key};
    must(device.post_send(qp, {.wr_id = 1,
                               .opcode = transport::WorkOpcode::write,
                               .sges = {&sge, 1},
                               .remote = {to.address + half(), to.r_key}}));
  }
  [[nodiscard]] std::size_t half() const { return memory.size() / 2; }
  void fill() {
    std::mt19937 random{7};
    std::generate(memory.begin(), memory.end(), [&random] { return static_cast<std::byte>(random()); });
  }
  [[nodiscard]] std::vector<transport::CompletionStatus> completed() {
    std::array<transport::Completion, 16> completions;
    const std::size_t count = device.poll_cq(cq, completions);
    std::vector<transport::CompletionStatus> statuses;
    for (std::size_t i = 0; i < count; ++i) statuses.push_back(completions[i].status);
    return statuses;
  }

  Gid gid;
  std::vector<std::byte> memory;
  transport::Device device;
  transport::Pd pd;
  transport::Cq cq;
  transport::Mr mr;
  transport::MrInfo keys;
  StaticNeighbours neighbours;
};

[[nodiscard]] inline bool second_half_is(const Host& receiver, const Host& sender, std::size_t length) {
  const auto at = receiver.memory.begin() + static_cast<std::ptrdiff_t>(receiver.half());
  return std::equal(at, at + static_cast<std::ptrdiff_t>(length), sender.memory.begin());
}

/// A time at which no ACK is held back any more.
inline constexpr Time kLater = kNow + std::chrono::microseconds{20};

/// Turns the port until nothing moves.
inline void run(Port& port, Time now = kNow) {
  for (int i = 0; i < 1000; ++i) {
    if (!port.turn(now).value()) return;
  }
  FAIL() << "the port does not come to rest";
}

}  // namespace roce::port::test
