// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "roce/analysis/histogram.h"
#include "roce/analysis/nvme.h"

namespace roce::analyze {

/// The commands of one operation in one queue. Asynchronous Event Requests have no latencies: they wait for events.
struct NvmeOperationFigures {
  std::uint64_t commands = 0;
  std::uint64_t bytes = 0;
  std::uint64_t retransmissions = 0;  ///< packets
  analysis::Histogram latency;        ///< of those that were answered
  analysis::Histogram until_data;     ///< the parts of it of those with data
  analysis::Histogram data;
  analysis::Histogram until_response;  ///< without data the whole

  void add(const NvmeOperationFigures& other);
};

/// A status other than success, and the first response that had it.
struct NvmeStatusFigures {
  std::uint64_t count = 0;
  analysis::PacketId first{};
};

/// Identifies a status: a code means something else with Fabrics commands.
struct NvmeStatusKey {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  bool is_fabrics = false;

  friend constexpr auto operator<=>(const NvmeStatusKey&, const NvmeStatusKey&) = default;
};

/// The commands of one queue.
struct NvmeQueueFigures {
  std::map<NvmeOperation, NvmeOperationFigures> operations;  ///< as of an I/O queue if it is not a Fabrics command
  std::map<NvmeStatusKey, NvmeStatusFigures> statuses;
  std::array<std::uint64_t, 4> ends{};                        ///< by `analysis::NvmeEnd`; without event requests
  std::array<std::uint64_t, analysis::kNvmeDelays> delays{};  ///< answered commands, by `analysis::NvmeDelay`
  std::uint64_t event_requests = 0;                           ///< that wait at the end
  std::uint64_t resent_commands = 0;                          ///< commands with packets that were sent again
  std::uint64_t other_statuses = 0;                           ///< responses for whose status there was no room
  analysis::PacketId first_unanswered{};
  analysis::NvmeExchange slowest{};  ///< of those that were answered

  [[nodiscard]] std::uint64_t of(analysis::NvmeEnd end) const { return ends[static_cast<std::size_t>(end)]; }
  [[nodiscard]] NvmeOperationFigures all() const;
};

/// Adds up commands by queue and operation, and keeps the slowest ones.
class NvmeFigures {
 public:
  /// Keeps the `top` slowest commands.
  explicit NvmeFigures(std::size_t top) : top_(top) {}

  /// Adds a command; `is_admin`: its queue is known to be an admin queue.
  void add(const analysis::NvmeExchange& exchange, bool is_admin);

  /// Returns the figures of a queue by its index; empty ones if it has no commands.
  [[nodiscard]] const NvmeQueueFigures& of(std::uint32_t queue) const;
  /// Returns the slowest commands, those that nobody answered included, the slowest first.
  [[nodiscard]] std::vector<analysis::NvmeExchange> slowest() const;
  /// Returns the number of commands for whose operation there was no room.
  [[nodiscard]] std::uint64_t uncounted() const { return uncounted_; }

 private:
  static constexpr std::size_t kMostOperations = 65'536;
  static constexpr std::size_t kMostStatuses = 64;

  static void add_status(NvmeQueueFigures& figures, const analysis::NvmeExchange& exchange);
  void keep_slowest(const analysis::NvmeExchange& exchange);

  std::size_t top_;
  std::map<std::uint32_t, NvmeQueueFigures> queues_;
  std::vector<analysis::NvmeExchange> slowest_;  ///< a heap with the quickest of them at the front
  std::size_t operations_ = 0;
  std::uint64_t uncounted_ = 0;
};

}  // namespace roce::analyze
