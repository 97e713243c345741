// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "roce/impair/engine.h"

namespace roce::impair {

/// The place of a packet within its flow.
struct Occurrence {
  std::int32_t relative_psn = 0;
  std::uint32_t transmission = 0;  ///< from 1
};

/// Remembers the first PSNs of recent flows, and how often each PSN has passed. It is bounded by `Limits`, and
/// allocates memory only for a new flow.
class FlowTable {
 public:
  FlowTable(std::size_t flows, std::size_t psns_per_flow);

  /// Counts a packet, and returns its place in the flow.
  Occurrence count(const Flow& flow, Psn psn, PacketClass packet_class, bool is_response);

  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Hash {
    std::size_t operator()(const Flow& flow) const;
  };
  struct Count {
    std::uint32_t key = 0;  ///< PSN in the low 24 bits, packet class above them
    std::uint32_t transmissions = 0;
  };
  struct Entry {
    std::optional<Psn> first_request;
    std::optional<Psn> first_response;
    /// Rows by the low bits of the PSN, each with the two keys that passed last, the latest first.
    std::vector<std::array<Count, 2>> counts;
    Flow flow;
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
  };

  std::uint32_t find_or_make(const Flow& flow);
  void unlink(std::uint32_t index);
  void link_newest(std::uint32_t index);

  std::size_t capacity_;
  std::size_t rows_;
  std::unordered_map<Flow, std::uint32_t, Hash> index_;
  std::vector<Entry> entries_;
  std::uint32_t newest_ = kNone;
  std::uint32_t oldest_ = kNone;
  std::uint64_t forgotten_ = 0;
};

}  // namespace roce::impair
