// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "roce/wire/types.h"
#include "wireshark/parts/statistic.h"

namespace roce::plugin {

/// `-z roce,counters`: what each host sent and received, one row per host and counter, in the order in which the hosts
/// were first seen.
class HostStatistic final : public Statistic {
 public:
  HostStatistic();

  void count(const TappedPacket& packet) override;
  void clear() override;

  enum class Counter : std::uint8_t {
    packets,
    bytes,  ///< length of the frames
    gaps,
    out_of_order,
    retransmissions,
    duplicates,
    repeated_responses,
    sequence_naks,
    invalid_request_naks,
    access_naks,
    operational_naks,
    rd_naks,
    rnr_naks,
    implied_naks,
    duplicate_acks,
    icrc_errors,
    ce_marks,
    cnps,
    lost,         ///< in PSNs
    unconfirmed,  ///< sent for the last time and never answered
    count,
  };

 private:
  static constexpr auto kCounters = static_cast<std::size_t>(Counter::count);
  struct Host {
    std::size_t first_row = 0;
    std::array<std::array<std::uint64_t, 2>, kCounters> counts{};  ///< [0] sent, [1] received
  };

  [[nodiscard]] std::size_t host(const Gid& address);
  void add(std::size_t host, Counter counter, bool is_received, std::uint64_t count);
  void add_both(std::size_t from, std::size_t to, Counter counter, std::uint64_t count = 1);

  std::vector<Host> hosts_;
  std::map<Gid, std::size_t> by_address_;
};

}  // namespace roce::plugin
