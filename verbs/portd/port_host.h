// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "roce/link/file_descriptor.h"
#include "roce/link/link.h"
#include "roce/link/udp_port_group.h"
#include "verbs/devices/places.h"
#include "verbs/port/messages.h"
#include "verbs/portd/cm_service.h"

namespace roce::verbs {

/// Holds UDP port 4791 of one address for the processes of a user, and lends each of them one of 255 shares of it.
/// Shard 0, to which QP1 belongs, is lent to nobody: the communication manager uses it, once a process wants one.
class PortHost {
 public:
  /// Listens for programs of this user, and opens the port. Nothing: another process does that already. Errors: as of
  /// `link::UdpPortGroup::open`.
  [[nodiscard]] static link::LinkResult<std::optional<PortHost>> open(const Place& place);

  /// Serves programs until none was there for `idle`; somewhat longer while peers have not agreed to the end of
  /// connections.
  void run(std::chrono::milliseconds idle);

 private:
  /// A process that has connected, and has a share once it has asked for one.
  struct Client {
    link::FileDescriptor connection;
    std::optional<std::uint8_t> shard{};
  };

  PortHost(const Place& place, link::FileDescriptor listener, link::UdpPortGroup group);
  void accept();
  /// True if there is a descriptor for one more connection.
  [[nodiscard]] bool has_room() const;
  /// Takes what a client says; false if it has gone, says what no program of ours does, or is the manager's from now
  /// on.
  [[nodiscard]] bool hear(Client& client);
  [[nodiscard]] bool lend(Client& client);
  /// Gives a client's connection to the communication manager.
  void pass_on(Client& client, const JoinRequest& request);
  [[nodiscard]] link::LinkResult<CmService*> cm();
  void drop(Client& client);
  [[nodiscard]] bool is_used() const;
  /// Returns how long the host goes on without programs: longer while peers have not agreed to the end of connections.
  [[nodiscard]] Duration allowed_rest(Duration idle) const;
  /// Returns how long to wait for programs; nothing: for ever.
  [[nodiscard]] std::optional<Duration> patience(Time idle_until) const;

  Place place_;
  link::FileDescriptor listener_;
  link::UdpPortGroup group_;
  std::deque<std::uint8_t> free_;  // that which was given back last is lent last
  std::vector<Client> clients_;
  std::unique_ptr<CmService> cm_;
  std::size_t most_files_;
};

}  // namespace roce::verbs
