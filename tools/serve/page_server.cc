// SPDX-License-Identifier: BSD-2-Clause
#include "serve/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "roce/live/token_guard.h"

namespace roce::serve {

namespace {

constexpr unsigned kMaxConnections = 16;
constexpr unsigned kIdleSeconds = 60;
constexpr std::string_view kNoPage =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Report</title>\n"
    "<p>The page could not be made: it is asked for again in 3 seconds.</p></html>\n";

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) return {};
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

MHD_Response* response_of(std::string_view text) {
  return MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
}

}  // namespace

struct PageServer::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (MHD_Connection* const each : waiting) MHD_resume_connection(each);
    if (daemon != nullptr) MHD_stop_daemon(daemon);
    if (page >= 0) ::close(page);
  }

  MHD_Result answer(MHD_Connection* connection, std::string_view path, std::string_view method, void** has_waited);
  MHD_Result respond_with_page(MHD_Connection* connection) const;
  static MHD_Result respond(MHD_Connection* connection, unsigned status, std::string_view text);
  static MHD_Result respond_without_page(MHD_Connection* connection);
  static MHD_Result finish(MHD_Connection* connection, unsigned status, MHD_Response* response, const char* type);

  MHD_Daemon* daemon = nullptr;
  std::string token;
  std::string host;  ///< as the header Host has to name it
  std::string url;
  std::vector<MHD_Connection*> waiting;
  int page = -1;
};

MHD_Result PageServer::State::finish(MHD_Connection* connection, unsigned status, MHD_Response* response,
                                     const char* type) {
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result PageServer::State::respond(MHD_Connection* connection, unsigned status, std::string_view text) {
  return finish(connection, status, response_of(text), "text/plain; charset=utf-8");
}

MHD_Result PageServer::State::respond_without_page(MHD_Connection* connection) {
  MHD_Response* const response = response_of(kNoPage);
  // The report is gone from the screen by now: nobody but the browser can ask again.
  if (response != nullptr) MHD_add_response_header(response, "Refresh", "3");
  return finish(connection, MHD_HTTP_SERVICE_UNAVAILABLE, response, "text/html; charset=utf-8");
}

MHD_Result PageServer::State::respond_with_page(MHD_Connection* connection) const {
  struct stat status {};
  const int copy = page < 0 || ::fstat(page, &status) != 0 ? -1 : ::dup(page);
  if (copy < 0) return respond_without_page(connection);
  return finish(connection, MHD_HTTP_OK,
                MHD_create_response_from_fd64(static_cast<std::uint64_t>(status.st_size), copy),
                "text/html; charset=utf-8");
}

MHD_Result PageServer::State::answer(MHD_Connection* connection, std::string_view path, std::string_view method,
                                     void** has_waited) {
  if (*has_waited != nullptr) return respond_with_page(connection);
  if (method != MHD_HTTP_METHOD_GET) return respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is possible\n");
  // A name that somebody else's page made the browser believe to be this machine is not ours.
  const char* const named = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
  const char* const given = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
  if (named == nullptr || host != named || given == nullptr || !live::is_same_secret(given, token)) {
    return respond(connection, MHD_HTTP_FORBIDDEN, "open the address that the program has printed\n");
  }
  if (path == "/alive") return respond(connection, MHD_HTTP_OK, "the capture goes on\n");
  if (path != "/") return respond(connection, MHD_HTTP_NOT_FOUND, "there is only one page here\n");
  *has_waited = this;
  MHD_suspend_connection(connection);
  waiting.push_back(connection);
  return MHD_YES;
}

Outcome<std::unique_ptr<PageServer>> PageServer::open(std::uint16_t port) {
  auto state = std::make_unique<State>();
  state->token = make_token();
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const MHD_AccessHandlerCallback handler = [](void* self, MHD_Connection* connection, const char* path,
                                               const char* method, const char*, const char*, std::size_t*,
                                               void** has_waited) {
    return static_cast<State*>(self)->answer(connection, path, method, has_waited);
  };
  if (!state->token.empty()) {
    state->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, nullptr, nullptr, handler,
                                     state.get(), MHD_OPTION_SOCK_ADDR, &place, MHD_OPTION_CONNECTION_LIMIT,
                                     kMaxConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_END);
  }
  if (state->daemon == nullptr) {
    return cannot(fmt::format("cannot serve at 127.0.0.1:{}: {}; choose another port with --port, or 0 for any", port,
                              std::strerror(errno)));
  }
  const MHD_DaemonInfo* const bound = MHD_get_daemon_info(state->daemon, MHD_DAEMON_INFO_BIND_PORT);
  state->host = fmt::format("127.0.0.1:{}", bound == nullptr ? port : bound->port);
  state->url = fmt::format("http://{}/?token={}", state->host, state->token);
  return std::unique_ptr<PageServer>{new PageServer{std::move(state)}};
}

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageServer::~PageServer() = default;

int PageServer::fd() const {
  return MHD_get_daemon_info(state_->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void PageServer::serve() {
  // The library remembers what it can go on with at once, and its descriptor does not tell.
  MHD_UNSIGNED_LONG_LONG milliseconds = 0;
  do {
    MHD_run(state_->daemon);
  } while (MHD_get_timeout(state_->daemon, &milliseconds) == MHD_YES && milliseconds == 0);
}

bool PageServer::is_asked() const {
  return !state_->waiting.empty();
}

void PageServer::deliver(int page) {
  if (state_->page >= 0) ::close(state_->page);
  state_->page = page;
  for (MHD_Connection* const each : std::exchange(state_->waiting, {})) MHD_resume_connection(each);
  serve();
}

const std::string& PageServer::url() const {
  return state_->url;
}

}  // namespace roce::serve
