// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bare/crc.h"
#include "bare/encode.h"

namespace bare {

/// The least that two endpoints do for a packet: the sender builds it from a template, the receiver checks its ICRC and
/// copies the payload to its place. There are no queues, no state and no decisions.
class Endpoint {
 public:
  explicit Endpoint(std::size_t bytes) : source_(bytes), destination_(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) source_[i] = static_cast<std::uint8_t>(i * 7 >> 3);
    headers_[12] = 0x08;
    headers_[14] = 0x45;
    headers_[23] = 17;
  }

  /// Sends and receives a packet with a BTH and `bytes` of payload from `offset`.
  void data_packet(std::size_t offset, std::size_t bytes) {
    const std::size_t length =
        encode(headers_.data(), kHeaderBytes, psn_++, source_.data() + offset, bytes, frame_.data());
    if (!is_good(length)) return;
    std::memcpy(destination_.data() + offset, frame_.data() + kHeaderBytes, bytes);
  }

  /// Sends and receives a packet with a BTH and an AETH.
  void ack_packet() {
    static_cast<void>(is_good(encode(headers_.data(), kHeaderBytes + 4, psn_, nullptr, 0, frame_.data())));
  }

  [[nodiscard]] bool copied_all() const { return bad_ == 0; }

 private:
  [[nodiscard]] bool is_good(std::size_t length) {
    constexpr std::size_t ip = 14;
    std::uint32_t stored = 0;
    std::memcpy(&stored, frame_.data() + length - 4, sizeof stored);
    const bool good = stored == icrc(frame_.data() + ip, length - ip);
    bad_ += good ? 0 : 1;
    return good;
  }

  std::vector<std::uint8_t> source_;
  std::vector<std::uint8_t> destination_;
  std::array<std::uint8_t, kHeaderBytes + 4> headers_{};
  std::array<std::uint8_t, 8192> frame_{};
  std::uint32_t psn_ = 0;
  std::uint64_t bad_ = 0;
};

}  // namespace bare
