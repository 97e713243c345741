// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace roce::analyze {

/// Events at a host's NIC, as far as packets show them. The counters of NICs are derived from these.
enum class HostFact : std::uint8_t {
  packets_sent,
  bytes_sent,
  packets_received,
  bytes_received,
  sends_completed,     ///< as requester: SENDs that were acknowledged or refused, or, where there are no ACKs, sent
  receives_completed,  ///< as responder: receives that a message consumed
  write_requests,      ///< as responder: WRITEs that began
  read_requests,
  atomic_requests,
  duplicate_requests,        ///< as responder: request packets that it had executed before
  requests_out_of_sequence,  ///< as responder: request packets ahead of the expected one
  sequence_naks_sent,
  rnr_naks_sent,
  access_naks_sent,
  invalid_naks_sent,
  sequence_naks_received,
  progress_naks_received,  ///< those of them that acknowledge a packet of their message not acknowledged before
  rnr_naks_received,
  access_naks_received,
  invalid_naks_received,
  implied_naks,          ///< as requester: answers that passed an unanswered READ or atomic
  timeouts,              ///< as requester: go-backs because nothing was heard
  go_backs,              ///< as requester: go-backs for any reason but an RNR NAK
  retries_exceeded,      ///< as requester: requests that it gave up
  rnr_retries_exceeded,  ///< as requester: requests that it gave up after RNR NAKs
  ce_received,
  cnps_sent,
  cnps_received,
  icrc_errors,
  count,
};

inline constexpr std::size_t kHostFacts = static_cast<std::size_t>(HostFact::count);

/// The evidence that a fact rests on.
enum class FactBasis : std::uint8_t {
  sent,       ///< packets that the host sent
  received,   ///< packets that the host received
  concluded,  ///< actions of the host that explain what was seen
};

struct HostFactInfo {
  HostFact fact{};
  std::string_view key;  ///< name in JSON
  std::string_view text;
  FactBasis basis{};
};

/// All facts, in the order of `HostFact`.
[[nodiscard]] std::span<const HostFactInfo> host_fact_infos();
[[nodiscard]] const HostFactInfo& host_fact_info(HostFact fact);

/// A count: the events that are certain, and those that may have happened in addition.
struct FactCount {
  std::int64_t certain = 0;
  std::int64_t doubtful = 0;  ///< events that the capture does not decide
};

/// One count for each fact.
class FactCounts {
 public:
  [[nodiscard]] FactCount& operator[](HostFact fact) { return counts_[static_cast<std::size_t>(fact)]; }
  [[nodiscard]] const FactCount& operator[](HostFact fact) const { return counts_[static_cast<std::size_t>(fact)]; }
  void add(HostFact fact, std::int64_t certain = 1) { (*this)[fact].certain += certain; }
  void doubt(HostFact fact, std::int64_t doubtful = 1) { (*this)[fact].doubtful += doubtful; }
  /// Makes events doubtful that were counted as certain.
  void unsettle(HostFact fact, std::int64_t count = 1) {
    add(fact, -count);
    doubt(fact, count);
  }

 private:
  std::array<FactCount, kHostFacts> counts_{};
};

}  // namespace roce::analyze
