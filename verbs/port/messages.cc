// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/port/messages.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace roce::verbs {

PortName::PortName(const Gid& address) {
  name.sun_family = AF_UNIX;
  const std::string text = "roce/" + std::to_string(::getuid()) + "/" + to_string(address);
  static_assert(sizeof name.sun_path > sizeof "roce/4294967295/ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255");
  // The zero in front makes the name abstract.
  std::memcpy(name.sun_path + 1, text.data(), text.size());
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

}  // namespace roce::verbs
