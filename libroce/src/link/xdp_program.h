// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/link/file_descriptor.h"
#include "roce/link/xdp_link.h"

namespace roce::link {

/// Our XDP program and the table of the sockets to which it hands frames, by receive queue. It takes the frames that
/// `XdpLink` describes; frames of a queue without a socket go on to the kernel.
class XdpProgram {
 public:
  struct Shape {
    unsigned queues = 1;  ///< number of queues that may get a socket
    bool mac_control = false;
    bool frags = false;  ///< frames in several pieces reach the program too
  };

  /// Loads the program into the kernel. Returns 0 or an errno.
  [[nodiscard]] int load(const Shape& shape);
  /// Attaches the program to an interface, until this object or the process ends. Returns 0 or an errno.
  [[nodiscard]] int attach(int interface_index, XdpMode mode);
  /// From now on hands the frames of `queue` to the AF_XDP socket, as long as that is open. Returns 0 or an errno.
  [[nodiscard]] int set_socket(unsigned queue, int socket);

 private:
  FileDescriptor sockets_;
  FileDescriptor program_;
  FileDescriptor attachment_;
};

}  // namespace roce::link
