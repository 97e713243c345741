// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "roce/wire/types.h"

namespace roce::conform {

/// An address and a port as the socket interface has them: of IPv4 if the GID is a mapped address, or of IPv6.
class SocketAddress {
 public:
  SocketAddress(const Gid& address, std::uint16_t port);

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] socklen_t size() const { return size_; }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace roce::conform
