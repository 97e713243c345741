// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "link/udp_socket.h"

namespace roce::link {

/// One socket per UDP source port, opened when it is first wanted. They only send: the kernel discards what they
/// receive.
class UdpPorts {
 public:
  struct Port {
    int socket = -1;  ///< valid until the next call; -1 with `errno` set if there is none
    std::uint16_t number = 0;
  };

  /// `receiver` serves port 4791 and stays open as long as this object.
  UdpPorts(UdpEndpoint endpoint, int receiver, std::size_t max_ports);

  /// Returns the socket for this source port; if a program here has taken it, one for another port, always the same.
  [[nodiscard]] Port find(std::uint16_t wanted);
  /// Makes a port that `find` returned send with or without a UDP checksum. On failure false, with `errno` set.
  [[nodiscard]] bool set_checksums(const Port& port, bool on);

 private:
  struct Sender {
    FileDescriptor socket;
    std::uint64_t last_used = 0;
    bool checksums = false;
  };

  [[nodiscard]] Port open(std::uint16_t wanted);
  void close_oldest();

  UdpEndpoint endpoint_;
  int receiver_;
  bool receiver_checksums_ = false;
  std::size_t max_ports_;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::uint16_t, Sender> senders_;            ///< by the port they are bound to
  std::unordered_map<std::uint16_t, std::uint16_t> instead_of_;  ///< wanted port → the port used instead
};

}  // namespace roce::link
