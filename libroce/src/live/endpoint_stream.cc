// SPDX-License-Identifier: BSD-2-Clause
// Links without an interface of this host: a stream to a simulation, and those of the caller.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "roce/link/stream_link.h"
#include "roce/live/endpoint.h"
#include "roce/live/own_ip.h"
#include "roce/live/unix_socket.h"

namespace roce::live {

namespace {

constexpr std::string_view kListen = "listen:";
constexpr std::string_view kOpen = "fd:";
/// Bytes in front of those that the MTU counts: Ethernet header and VLAN tag.
constexpr std::uint32_t kEthernetOverhead = 14 + 4;

/// Waits until a simulation connects, and returns the socket.
[[nodiscard]] Result<int> accept_one(const std::string& path, const EndpointOptions& options) {
  const Result<int> listener =
      listen_unix(path, "socket of the stream link", "stop the program that uses it, or listen on another path");
  if (!listener) return tl::unexpected(listener.error());
  if (options.note) options.note("listening", fmt::format("waiting for a simulation to connect to {}", path));
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
[[nodiscard]] Result<int> inherited(const std::string& text) {
  const std::string number = text.substr(kOpen.size());
  const bool is_number =
      !number.empty() && number.size() <= 6 && number.find_first_not_of("0123456789") == std::string::npos;
  const int fd = is_number ? std::stoi(number) : -1;
  if (fd >= 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) return fd;
  return cannot(
      fmt::format("{}: there is no open file of that number; start the program with it, as in Python's "
                  "pass_fds",
                  text));
}

[[nodiscard]] Result<int> connect_stream(const EndpointOptions& options) {
  const std::string& text = options.interface;
  if (text.starts_with(kOpen)) return inherited(text);
  if (text.starts_with(kListen)) return accept_one(text.substr(kListen.size()), options);
  return connect_unix(text, "simulation", "start it first, or listen with listen:PATH");
}

/// Returns the address of an endpoint whose link has no interface.
[[nodiscard]] Result<port::InterfaceAddress> address_for_link(const EndpointOptions& options) {
  if (!options.ip.empty()) return parse_own_ip(options.ip);
  return cannot("this link has no addresses of a host; give the endpoint one of its own (ip), such as 192.0.2.77/24");
}

/// Returns a locally administered Ethernet address that ends with the last four octets of `ip`.
[[nodiscard]] MacAddress mac_of(const Gid& ip) {
  MacAddress mac{};
  mac.octets[0] = 0x02;
  std::copy(ip.octets.end() - 4, ip.octets.end(), mac.octets.end() - 4);
  return mac;
}

}  // namespace

Result<port::Interface> Endpoint::open_stream(const EndpointOptions& options) {
  // Before anybody is asked to connect.
  if (const Result<port::InterfaceAddress> address = address_for_link(options); !address) {
    return tl::unexpected(address.error());
  }
  const Result<int> fd = connect_stream(options);
  if (!fd) return tl::unexpected(fd.error());
  link::LinkResult<std::unique_ptr<link::StreamLink>> opened =
      link::StreamLink::open({.receive_fd = *fd, .send_fd = *fd, .name = options.interface});
  if (!opened) return cannot(opened.error().message);
  if ((*opened)->has_virtual_time()) {
    time_source_ = opened->get();
    clock_.set_simulated(Time{});
  }
  Result<port::Interface> interface = take_link(std::move(*opened), options);
  description_ =
      fmt::format("stream to {}{}", options.interface, time_source_ != nullptr ? ", which has its own time" : "");
  return interface;
}

Result<port::Interface> Endpoint::take_link(std::unique_ptr<link::Link> link, const EndpointOptions& options) {
  const Result<port::InterfaceAddress> address = address_for_link(options);
  if (!address) return tl::unexpected(address.error());
  link_ = std::move(link);
  description_ = "a link of the program";
  port::Interface interface;
  interface.name = options.interface;
  interface.mac = mac_of(address->gid);
  interface.mtu = static_cast<std::uint32_t>(link_->max_bytes()) - kEthernetOverhead;
  interface.up = true;
  return interface;
}

}  // namespace roce::live
