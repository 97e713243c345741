// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "roce/link/file_descriptor.h"
#include "roce/link/link.h"
#include "roce/link/udp_port_group.h"
#include "roce/wire/types.h"
#include "verbs/port/messages.h"

namespace roce::verbs {

/// Holds UDP port 4791 of one address for the processes of a user, and lends each of them one of 255 shares of it.
/// Shard 0, to which QP1 and multicast datagrams belong, is lent to nobody.
class PortHost {
 public:
  /// Listens for programs of this user, and opens the port. Nothing: another process does that already. Errors: as of
  /// `link::UdpPortGroup::open`.
  [[nodiscard]] static link::LinkResult<std::optional<PortHost>> open(const Gid& address, const std::string& interface);

  /// Serves programs until none was there for `idle`.
  void run(std::chrono::milliseconds idle);

 private:
  /// A process that has connected, and has a share once it has asked for one.
  struct Client {
    link::FileDescriptor connection;
    std::optional<std::uint8_t> shard{};
  };

  PortHost(link::FileDescriptor listener, link::UdpPortGroup group);
  void accept();
  /// Takes what a client says; false if it has gone, or says what no program of ours does.
  [[nodiscard]] bool hear(Client& client);
  [[nodiscard]] bool answer(Client& client, const JoinRequest& request);
  void drop(Client& client);

  link::FileDescriptor listener_;
  link::UdpPortGroup group_;
  std::deque<std::uint8_t> free_;  // that which was given back last is lent last
  std::vector<Client> clients_;
};

}  // namespace roce::verbs
