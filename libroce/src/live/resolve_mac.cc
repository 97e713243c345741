// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/resolve_mac.h"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "roce/live/clock.h"
#include "roce/port/neighbours.h"
#include "roce/transport/address.h"

namespace roce::live {

namespace {

constexpr Duration kPatience = std::chrono::seconds{3};

}  // namespace

Result<MacAddress> resolve_mac(const port::Interface& interface, const Gid& gid) {
  if (transport::is_multicast(gid)) return transport::multicast_mac(gid);
  const port::Result<std::unique_ptr<port::Neighbours>> neighbours = port::open_kernel_neighbours(interface);
  if (!neighbours) return cannot(neighbours.error().message);
  const Clock clock;
  const Time begin = clock.now();
  std::optional<MacAddress> mac = (*neighbours)->find(gid, std::nullopt, begin);
  for (Time time = begin; !mac && time - begin < kPatience; time = clock.now()) {
    const Time until = std::min((*neighbours)->next_timeout(), begin + kPatience);
    pollfd set{(*neighbours)->fd(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - time).count();
    (void)::poll(&set, 1, static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 1000)));
    for (const port::Neighbours::Answer& answer : (*neighbours)->poll(clock.now())) {
      if (answer.ip == gid) mac = answer.mac;
    }
  }
  if (!mac) return cannot((*neighbours)->why_unknown(gid, std::nullopt));
  return *mac;
}

}  // namespace roce::live
