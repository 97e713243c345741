// SPDX-License-Identifier: BSD-2-Clause
#include "metrics/metrics_server.h"
#include "metrics/metrics_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace roce::metrics {

namespace {

constexpr int kBacklog = 16;
constexpr unsigned kMaxConnections = 64;
constexpr unsigned kIdleSeconds = 10;
/// Rounds of the library's work in one call.
constexpr int kRoundsPerServe = 64;

constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr const char* kPrometheus = "text/plain; version=0.0.4; charset=utf-8";

struct Place {
  sockaddr_storage address{};
  socklen_t size = 0;
  std::string text;  ///< the address as in a URL
};

[[nodiscard]] Outcome<Place> parse_place(const std::string& text) {
  const auto wrong = [&text] {
    return cannot(
        fmt::format("--metrics {}: expected PORT, ADDRESS:PORT or [ADDRESS]:PORT, such as 9400, 0.0.0.0:9400 "
                    "or [::]:9400, the port 0 to 65535",
                    text));
  };
  const std::size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size()) return wrong();
  Place place;
  place.text = host;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(place.address);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(number);
    place.size = sizeof ipv6;
    if (::inet_pton(AF_INET6, host.c_str(), &ipv6.sin6_addr) != 1) return wrong();
    return place;
  }
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(place.address);
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(number);
  place.size = sizeof ipv4;
  if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) != 1) return wrong();
  return place;
}

[[nodiscard]] std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  (void)::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

[[nodiscard]] Outcome<int> listen_at(const Place& place, const std::string& text) {
  const int fd = ::socket(place.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&place.address), place.size) == 0 &&
      ::listen(fd, kBacklog) == 0) {
    return fd;
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return cannot(fmt::format("cannot serve metrics at {}: {}; choose another address or port with --metrics", text,
                            std::strerror(error)));
}

[[nodiscard]] std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Cuts the text up to the first `separator` off and returns it trimmed.
[[nodiscard]] std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// True if a client that sends this Accept header (RFC 9110, 12.5.1) prefers the older format.
[[nodiscard]] bool prefers_prometheus(std::string_view accept) {
  double openmetrics = accept.empty() ? 1 : 0;
  double prometheus = 0;
  while (!accept.empty()) {
    std::string_view range = cut(accept, ',');
    const std::string_view type = cut(range, ';');
    double quality = 1;
    while (!range.empty()) {
      const std::string_view parameter = cut(range, ';');
      if (parameter.starts_with("q="))
        std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), quality);
    }
    const bool is_any = type == "*/*";
    if (is_any || type == "application/openmetrics-text" || type == "application/*") {
      openmetrics = std::max(openmetrics, quality);
    }
    if (type == "text/plain" || type == "text/*") prometheus = std::max(prometheus, quality);
  }
  return prometheus > openmetrics;
}

}  // namespace

struct MetricsServer::State {
  CollectMetrics collect;
  std::string url;
  MHD_Daemon* daemon = nullptr;

  MHD_Result answer(MHD_Connection* connection, std::string_view path, std::string_view method) const;
};

namespace {

MHD_Result respond(MHD_Connection* connection, unsigned status, const std::string& text, const char* type) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  // No client asks again at once, and an open connection would keep others out.
  (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

MHD_Result MetricsServer::State::answer(MHD_Connection* connection, std::string_view path,
                                        std::string_view method) const {
  constexpr const char* plain = "text/plain; charset=utf-8";
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
    return respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are possible\n", plain);
  }
  if (path != "/metrics") {
    return respond(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics here\n", plain);
  }
  const char* const accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
  if (accept != nullptr && prefers_prometheus(accept)) {
    return respond(connection, MHD_HTTP_OK, to_prometheus(collect()), kPrometheus);
  }
  return respond(connection, MHD_HTTP_OK, to_openmetrics(collect()), kOpenMetrics);
}

Outcome<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address, CollectMetrics collect) {
  const Outcome<Place> place = parse_place(address);
  if (!place) return tl::unexpected(place.error());
  const Outcome<int> fd = listen_at(*place, address);
  if (!fd) return tl::unexpected(fd.error());
  auto state = std::make_unique<State>();
  state->collect = std::move(collect);
  state->url = fmt::format("http://{}:{}/metrics", place->text, port_of(*fd));
  const MHD_AccessHandlerCallback handler = [](void* self, MHD_Connection* connection, const char* path,
                                               const char* method, const char*, const char*, std::size_t*, void**) {
    return static_cast<const State*>(self)->answer(connection, path, method);
  };
  state->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, handler, state.get(), MHD_OPTION_LISTEN_SOCKET,
                                   *fd, MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_CONNECTION_TIMEOUT,
                                   kIdleSeconds, MHD_OPTION_END);
  if (state->daemon == nullptr) {
    ::close(*fd);
    return cannot(
        fmt::format("cannot serve metrics at {}: the HTTP library does not start; raise the limit of open "
                    "files (ulimit -n)",
                    address));
  }
  return std::unique_ptr<MetricsServer>{new MetricsServer{std::move(state)}};
}

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

MetricsServer::~MetricsServer() {
  MHD_stop_daemon(state_->daemon);
}

int MetricsServer::fd() const {
  return MHD_get_daemon_info(state_->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void MetricsServer::serve() {
  MHD_UNSIGNED_LONG_LONG wait_ms = 0;
  for (int round = 0; round < kRoundsPerServe; ++round) {
    if (MHD_run(state_->daemon) != MHD_YES) return;
    if (MHD_get_timeout(state_->daemon, &wait_ms) != MHD_YES || wait_ms != 0) return;
  }
}

const std::string& MetricsServer::url() const {
  return state_->url;
}

}  // namespace roce::metrics
