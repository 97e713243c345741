// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "gen/endpoint.h"
#include "gen/own_ip.h"
#include "gen/pingpong_report.h"
#include "gen/simulated_time.h"
#include "gen/unix_socket.h"
#include "roce/link/stream_link.h"

namespace roce::gen {

namespace {

constexpr std::string_view kListen = "listen:";
constexpr std::string_view kOpen = "fd:";
/// Bytes in front of those that the MTU counts: Ethernet header and VLAN tag.
constexpr std::uint32_t kEthernetOverhead = 14 + 4;

/// Waits until a simulation connects, and returns the socket.
[[nodiscard]] Outcome<int> accept_one(const std::string& path, bool json) {
  const Outcome<int> listener =
      listen_unix(path, "socket of the stream link", "stop who uses it, or give another path with -i listen:PATH");
  if (!listener) return tl::unexpected(listener.error());
  print_note("listening", fmt::format("waiting for a simulation to connect to {}", path), json);
  pollfd set{*listener, POLLIN, 0};
  int fd = -1;
  do {
    (void)::poll(&set, 1, -1);
    fd = ::accept4(*listener, nullptr, nullptr, SOCK_CLOEXEC);
  } while (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED));
  const int error = errno;
  ::close(*listener);
  ::unlink(path.c_str());
  if (fd >= 0) return fd;
  return cannot(fmt::format("nobody could connect to {}: {}", path, std::strerror(error)));
}

/// Returns a socket that this program was started with.
[[nodiscard]] Outcome<int> inherited(const std::string& text) {
  const std::string number = text.substr(kOpen.size());
  const bool is_number =
      !number.empty() && number.size() <= 6 && number.find_first_not_of("0123456789") == std::string::npos;
  const int fd = is_number ? std::stoi(number) : -1;
  if (fd >= 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) return fd;
  return cannot(
      fmt::format("-i {}: there is no open file of that number; start roce-gen with it, as in Python's "
                  "pass_fds",
                  text));
}

[[nodiscard]] Outcome<int> connect_stream(const EndpointOptions& options) {
  const std::string& text = options.interface;
  if (text.starts_with(kOpen)) return inherited(text);
  if (text.starts_with(kListen)) return accept_one(text.substr(kListen.size()), options.json);
  return connect_unix(text, "simulation", "start it first, or have roce-gen listen with -i listen:PATH");
}

/// Returns a locally administered Ethernet address that ends with the last four octets of `ip`.
[[nodiscard]] MacAddress mac_of(const Gid& ip) {
  MacAddress mac{};
  mac.octets[0] = 0x02;
  std::copy(ip.octets.end() - 4, ip.octets.end(), mac.octets.end() - 4);
  return mac;
}

}  // namespace

Outcome<port::Interface> Endpoint::open_stream(const EndpointOptions& options) {
  if (options.ip.empty()) {
    return cannot("--link stream has no addresses of a host; give the endpoint one with --ip, such as 192.0.2.77/24");
  }
  const Outcome<port::InterfaceAddress> address = parse_own_ip(options.ip);
  if (!address) return tl::unexpected(address.error());
  const Outcome<int> fd = connect_stream(options);
  if (!fd) return tl::unexpected(fd.error());
  link::LinkResult<std::unique_ptr<link::StreamLink>> opened =
      link::StreamLink::open({.receive_fd = *fd, .send_fd = *fd, .name = options.interface});
  if (!opened) return cannot(opened.error().message);
  if ((*opened)->has_virtual_time()) {
    clock_ = opened->get();
    set_simulated_time(Time{});
  }
  link_ = std::move(*opened);
  description_ = fmt::format("stream to {}{}", options.interface, clock_ != nullptr ? ", which has its own time" : "");
  port::Interface interface;
  interface.name = options.interface;
  interface.mac = mac_of(address->gid);
  interface.mtu = static_cast<std::uint32_t>(link_->max_bytes()) - kEthernetOverhead;
  interface.up = true;
  return interface;
}

}  // namespace roce::gen
