// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "conform/fuzz/program.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// Makes programs of what captures show that QPs were asked: the same requests in the same order, those that are sent
/// again and those behind a gap included, for one QP of the device under test. They are a program's size afterwards:
/// messages have at most three packets, packets at most 1024 bytes of payload, and addresses lie in a region of it. A
/// program begins with a message, and ends after so many actions, also within one.
class CapturePrograms {
 public:
  /// The most programs of one QP.
  static constexpr std::size_t kMostOfQp = 8;
  /// The most QPs that are looked at.
  static constexpr std::size_t kMostQps = 1000;

  /// Takes the next packet of a capture. One that is not a request to a QP of RC, UC or UD, but for QP1, is left out.
  void add(const Packet& packet);

  /// Returns the programs, those of the QP that was asked first in front.
  [[nodiscard]] std::vector<Program> programs() const;

 private:
  /// A request as it was on the wire.
  struct Seen {
    Opcode opcode{};
    Psn psn{};
    bool ack_request = false;
    std::uint32_t payload = 0;  ///< bytes
    std::uint32_t length = 0;   ///< of the RETH
    std::uint64_t address = 0;  ///< of the RETH or AtomicETH
    std::uint32_t r_key = 0;    ///< of the RETH or AtomicETH
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint32_t immediate = 0;
    std::uint32_t count = 1;  ///< packets in the middle of a message, one after the other
  };
  using Qp = std::tuple<RoceVersion, Gid, std::uint32_t>;  ///< version, device, QPN

  /// Converts the requests of one QP.
  class Conversion;

  std::map<Qp, std::size_t> numbers_{};
  std::vector<std::vector<Seen>> qps_{};
};

}  // namespace roce::conform::fuzz
