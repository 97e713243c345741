// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/link/link.h"

namespace roce::link {

/// Keeps the kernel from answering RoCE v2 packets with ICMP port unreachable while a raw link
/// shares the host's address: holds UDP port 4791 on all addresses, and reads nothing from it.
/// If another program holds the port, this object leaves it to that program; the effect is the same.
class PortHolder {
 public:
  PortHolder();
  ~PortHolder();
  PortHolder(const PortHolder&) = delete;
  PortHolder& operator=(const PortHolder&) = delete;

 private:
  int ipv4_ = -1;
  int ipv6_ = -1;
};

}  // namespace roce::link
