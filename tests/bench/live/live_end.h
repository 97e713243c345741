// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "live/runs.h"
#include "roce/link/link.h"
#include "roce/port/neighbours.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"
#include "roce/transport/profile.h"

namespace roce::bench {

struct LiveShape {
  transport::QpType type = transport::QpType::rc;
  std::uint32_t mtu = 1024;
  std::size_t region_bytes = 16 << 20;
  std::uint32_t max_send = 256;
  transport::Profile profile = transport::hardware_like_profile();
  std::uint64_t packets_per_second = 0;  ///< 0: as fast as it goes
  Path path = Path::raw;
};

/// Returns the time of the benchmarks, which the devices are given.
[[nodiscard]] Time now();

/// An endpoint with one QP on an interface, through RawLink or XdpLink and Port as in roce-gen.
class LiveEnd {
 public:
  /// `number` is the last byte of its address, 192.0.2.`number`. Throws std::runtime_error.
  LiveEnd(const std::string& interface, std::uint8_t number, const LiveShape& shape);

  /// Brings both QPs to RTS.
  static void connect(LiveEnd& a, LiveEnd& b);

  [[nodiscard]] transport::Device& device() { return device_; }
  /// Does one round of work. Returns whether anything moved.
  bool turn();
  /// Sleeps until something arrives or is due.
  void wait();
  /// Posts a request for `bytes` at `offset` of its own region, to the same offset of the peer's region.
  void post(transport::WorkOpcode opcode, std::size_t offset, std::uint32_t bytes);
  void post_receive(std::size_t offset, std::uint32_t bytes);
  struct Completed {
    std::size_t sends = 0;
    std::size_t receives = 0;
  };
  /// Takes completions. Throws std::runtime_error at the first that is not a success.
  Completed poll();
  [[nodiscard]] std::span<std::byte> memory() { return memory_; }
  [[nodiscard]] link::LinkCounters link_counters() const { return link_->counters(); }

 private:
  void connect_to(const LiveEnd& peer);

  LiveShape shape_;
  MacAddress mac_;
  std::unique_ptr<link::Link> link_;
  Gid gid_;
  std::vector<std::byte> memory_;
  transport::Device device_;
  port::StaticNeighbours neighbours_;
  port::Port port_;
  transport::Cq cq_{};
  transport::MrInfo region_{};
  Qpn qp_{};
  transport::MrInfo peer_region_{};
};

}  // namespace roce::bench
