// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "link/file_descriptor.h"
#include "roce/link/xdp_link.h"

namespace roce::link {

/// Our XDP program and the table of the sockets to which it hands frames, by receive queue. What it takes is what
/// `XdpLink` says; frames of a queue without a socket go on to the kernel.
class XdpProgram {
 public:
  struct Shape {
    unsigned queues = 1;  ///< that may get a socket
    bool mac_control = false;
    bool frags = false;  ///< frames in several pieces reach it too
  };

  /// Gives it to the kernel. Returns 0 or an errno.
  [[nodiscard]] int load(const Shape& shape);
  /// Puts it on an interface, from which it goes with this object, or with the process. Returns 0 or an errno.
  [[nodiscard]] int attach(int interface_index, XdpMode mode);
  /// From now on the frames of `queue` go to the AF_XDP socket, as long as that is open. Returns 0 or an errno.
  [[nodiscard]] int set_socket(unsigned queue, int socket);

 private:
  FileDescriptor sockets_;
  FileDescriptor program_;
  FileDescriptor attachment_;
};

}  // namespace roce::link
