// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roce/transport/device.h"

namespace roce::bench {

/// The parameters of the two endpoints.
struct PairShape {
  std::uint32_t mtu = 1024;
  std::size_t region_bytes = 1 << 20;
  std::uint32_t qps = 1;
  std::uint32_t max_send = 64;
  std::uint32_t receives_ahead = 0;
  std::uint32_t messages_per_ack = 1;  ///< messages for each ACK
  std::uint8_t shard_bits = 0;         ///< shard bits of both devices
  std::uint8_t shard = 0;
};

/// Two devices in one thread; every packet of one goes straight into the other. Time stands still.
class EndpointPair {
 public:
  explicit EndpointPair(const PairShape& shape);

  /// Posts a signaled request on a QP of the first device; for a SEND posts the receive too.
  void post(std::uint32_t qp, transport::WorkOpcode opcode, std::uint32_t bytes);
  /// Carries packets until neither device has anything to send.
  void run();
  /// Returns whether exactly this number of requests was completed, all of them with success.
  [[nodiscard]] bool all_completed(std::uint64_t messages);
  /// Returns whether the first `bytes` bytes of both regions are equal.
  [[nodiscard]] bool memories_equal(std::size_t bytes) const;
  [[nodiscard]] std::size_t memory_per_qp() const;

 private:
  struct End {
    explicit End(transport::Device made) : device(std::move(made)) {}

    transport::Device device;
    std::vector<std::byte> memory;
    transport::Cq cq{};
    transport::MrInfo region{};
    std::vector<Qpn> qps;
    std::uint64_t successes = 0;
    std::uint64_t failures = 0;
  };

  static End make_end(const PairShape& shape, std::uint8_t number);
  void post_receive(Qpn qp, std::uint32_t bytes);
  static void connect(End& end, const End& peer, const PairShape& shape, std::uint8_t peer_number);
  bool carry(End& from, End& to);
  static void collect(End& end);

  End requester_;
  End responder_;
  std::vector<std::byte> buffer_;
  std::vector<transport::TxUnit> units_;
  std::vector<std::optional<Packet>> packets_;  // the packets of `units_`
  std::uint64_t receives_ = 0;
};

}  // namespace roce::bench
