// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <arpa/inet.h>

#include <stdexcept>
#include <string>

#include "roce/wire/types.h"

namespace roce::test {

/// Returns the GID of an IPv6 address, or the mapped form of an IPv4 address, as the C library reads it.
inline Gid gid(const std::string& text) {
  Gid gid;
  Ipv4Address ipv4;
  if (inet_pton(AF_INET6, text.c_str(), gid.octets.data()) == 1) return gid;
  if (inet_pton(AF_INET, text.c_str(), ipv4.octets.data()) == 1) return Gid::from_ipv4(ipv4);
  throw std::invalid_argument("not an IP address: " + text);
}

}  // namespace roce::test
