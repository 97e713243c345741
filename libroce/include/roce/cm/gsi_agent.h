// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "roce/cm/connection_manager.h"
#include "roce/transport/device.h"

namespace roce::cm {

/// Returns the GUID of a RoCE port: the EUI-64 of its MAC address (RFC 4291, appendix A).
[[nodiscard]] std::uint64_t guid_of(const MacAddress& mac);

/// Runs a communication manager on QP1 of a device: passes it the MADs that come in, and sends those that it makes.
/// A reply goes to where its request came from (IBTA vol. 1, 13.5.4).
///
/// The device has to outlive the agent, and nobody else may use its QP1.
/// Call `step` whenever packets came in, after a call on `manager()`, and at `next_timeout()`.
class GsiAgent {
 public:
  struct Counters {
    std::uint64_t unreadable = 0;  ///< datagrams shorter than a MAD, or without a network header
    std::uint64_t unsendable = 0;  ///< messages from an address that the device does not have, or no longer has
  };

  /// Makes QP1 and brings it to RTS. Of several GID table entries with the same GID, packets are sent from the one
  /// of type `mode`. Errors: those of the manager's `make` and of the verbs; `in_use` if there is a QP1 already.
  [[nodiscard]] static VerbResult<std::unique_ptr<GsiAgent>> make(
      transport::Device& device, const Config& config, RandomSource random, Time now,
      transport::GidType mode = transport::GidType::roce_v2);
  /// Does not end the connections.
  ~GsiAgent();
  GsiAgent(const GsiAgent&) = delete;
  GsiAgent& operator=(const GsiAgent&) = delete;

  [[nodiscard]] ConnectionManager& manager() { return manager_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Returns the GID table entry that packets from `local` are sent from; empty if the device has no such GID.
  [[nodiscard]] std::optional<std::uint16_t> sgid_index_of(const Gid& local) const;

  /// Takes the datagrams that QP1 received, lets time pass and sends the messages due. Returns true if anything moved.
  bool step(Time now);
  [[nodiscard]] Time next_timeout() const { return manager_.next_timeout(); }

 private:
  GsiAgent(transport::Device& device, ConnectionManager manager, transport::GidType mode);
  [[nodiscard]] VerbResult<void> make_objects(Time now);
  [[nodiscard]] VerbResult<void> post_receive(std::uint64_t slot);
  [[nodiscard]] transport::Sge slot_sge(std::uint64_t slot, std::uint32_t bytes) const;
  [[nodiscard]] std::span<std::byte> slot_bytes(std::uint64_t slot);
  void take(std::uint64_t slot, std::uint32_t length, Time now);
  void send(const OutMessage& message, std::uint64_t slot);

  transport::Device& device_;
  ConnectionManager manager_;
  transport::GidType mode_;
  Counters counters_;
  std::vector<std::byte> memory_;  // slots for receives, then for sends
  transport::Pd pd_{};
  transport::Cq cq_{};
  transport::Mr mr_{};
  transport::MrInfo region_{};
  std::vector<std::uint64_t> free_;  // slots for sends
  std::vector<transport::Ah> ahs_;   // address handles of the slots for sends
};

}  // namespace roce::cm
