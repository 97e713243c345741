// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "roce/cm/connection_manager.h"
#include "roce/transport/device.h"

namespace roce::cm {

/// The port GUID that a RoCE port has by its MAC address: the EUI-64 of the latter (RFC 4291, appendix A).
[[nodiscard]] std::uint64_t guid_of(const MacAddress& mac);

/// A communication manager at QP1 of a device: hands it the MADs that come in, and sends those that it has. A reply
/// goes to where its request came from (IBTA vol. 1, 13.5.4).
///
/// The device has to outlive it, and its QP1 is not to be used by anyone else. Call `step` whenever packets came in, a
/// call on `manager()` was made, or it is `next_timeout()`.
class GsiAgent {
 public:
  struct Counters {
    std::uint64_t unreadable = 0;  ///< datagrams shorter than a MAD, or without a network header
    std::uint64_t unsendable = 0;  ///< messages from an address that the device does not have (any more)
  };

  /// Makes QP1 and brings it to RTS. Of entries of the GID table that have the same GID, the one of type `mode` is sent
  /// from. Errors: those of the manager's `make` and of the verbs, `in_use` when there is a QP1.
  [[nodiscard]] static VerbResult<std::unique_ptr<GsiAgent>> make(
      transport::Device& device, const Config& config, RandomSource random, Time now,
      transport::GidType mode = transport::GidType::roce_v2);
  /// Connections are not ended.
  ~GsiAgent();
  GsiAgent(const GsiAgent&) = delete;
  GsiAgent& operator=(const GsiAgent&) = delete;

  [[nodiscard]] ConnectionManager& manager() { return manager_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// The entry of the GID table that packets from `local` are sent from; none: the device has no such GID.
  [[nodiscard]] std::optional<std::uint16_t> sgid_index_of(const Gid& local) const;

  /// Takes what QP1 received, lets time pass and sends what there is to send. Returns whether anything moved.
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
  std::vector<transport::Ah> ahs_;   // of the slots for sends
};

}  // namespace roce::cm
