// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "roce/link/link.h"

namespace roce::link::test {

using Bytes = std::vector<std::byte>;

/// Returns an IPv6 address, or an IPv4 address in the mapped form.
inline std::array<std::byte, 16> address(const std::string& text) {
  std::array<std::byte, 16> result{};
  const std::string six = text.find(':') == std::string::npos ? "::ffff:" + text : text;
  if (::inet_pton(AF_INET6, six.c_str(), result.data()) != 1) std::abort();
  return result;
}

/// Returns how many files this process has open.
inline std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

/// Returns `size` bytes that depend on `seed` and their place.
inline Bytes pattern(std::size_t size, unsigned seed = 0) {
  Bytes result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::byte>((i * 7 + seed * 31 + (i >> 8)) & 0xff);
  return result;
}

/// A received frame with a copy of its bytes.
struct Kept {
  Bytes bytes;
  RxFrame frame;
};

inline bool readable(const Link& link, int wait_ms) {
  pollfd waiting{link.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, wait_ms) == 1 && (waiting.revents & POLLIN) != 0;
}

/// Returns the frames that come in, until there are `count` of them, or none comes for two seconds.
inline std::vector<Kept> collect(Link& link, std::size_t count) {
  std::vector<Kept> result;
  std::array<RxFrame, 64> frames;
  while (result.size() < count && readable(link, 2000)) {
    const auto got = link.receive(frames);
    if (!got) {
      ADD_FAILURE() << got.error().message;
      break;
    }
    for (std::size_t i = 0; i < *got; ++i) {
      result.push_back({Bytes(frames[i].bytes.begin(), frames[i].bytes.end()), frames[i]});
      result.back().frame.bytes = {};
    }
  }
  return result;
}

/// Sends one frame; true if it was taken.
inline bool send_one(Link& link, const Bytes& bytes, const UdpMeta& udp = {}) {
  const TxFrame frame{bytes, udp};
  const auto sent = link.send({&frame, 1});
  if (!sent) ADD_FAILURE() << sent.error().message;
  return sent && *sent == 1;
}

}  // namespace roce::link::test
