// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "link/udp_socket.h"

namespace roce::link {

/// The multicast groups that a UDP link has joined, with a socket for each. The kernel copies a datagram to each socket
/// of its group, whichever process has it.
class UdpGroups {
 public:
  struct Group {
    MappedAddress address{};
    FileDescriptor socket;
    std::uint32_t users = 0;
  };

  /// `endpoint` is that of the link; `super_frames`: incoming ones are handed out whole.
  UdpGroups(UdpEndpoint endpoint, std::size_t buffer_bytes, bool super_frames)
      : endpoint_(std::move(endpoint)), buffer_bytes_(buffer_bytes), super_frames_(super_frames) {}

  /// Joins a group, at the link's interface, once more than before. Errors: another program has the group's port alone,
  /// the kernel takes no more groups, no socket.
  [[nodiscard]] LinkResult<void> join(const MappedAddress& group);
  /// Leaves a group when it was left as often as joined; nothing if it was not joined.
  void leave(const MappedAddress& group);

  [[nodiscard]] const std::vector<Group>& joined() const { return joined_; }
  /// Returns a descriptor to poll for reading: there are datagrams at one of the sockets. -1: no group was joined yet.
  [[nodiscard]] int fd() const { return poll_.get(); }

 private:
  UdpEndpoint endpoint_;
  std::size_t buffer_bytes_;
  bool super_frames_;
  std::vector<Group> joined_;
  FileDescriptor poll_;
};

}  // namespace roce::link
