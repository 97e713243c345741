// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/link_speed.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "roce/link/file_descriptor.h"

namespace roce::port {

std::optional<std::uint64_t> link_speed_bps(const std::string& interface) {
  constexpr std::uint64_t bits_per_megabit = 1'000'000;
  ifreq request{};
  if (interface.empty() || interface.size() >= sizeof request.ifr_name) return std::nullopt;
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  ethtool_cmd command{};
  command.cmd = ETHTOOL_GSET;
  request.ifr_data = reinterpret_cast<char*>(&command);
  const link::FileDescriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (::ioctl(socket.get(), SIOCETHTOOL, &request) != 0) return std::nullopt;
  const std::uint32_t megabits = ethtool_cmd_speed(&command);
  if (megabits == 0 || megabits == static_cast<std::uint32_t>(SPEED_UNKNOWN)) return std::nullopt;
  return megabits * bits_per_megabit;
}

}  // namespace roce::port
