// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/agent_server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "roce/live/crowd.h"
#include "runtime/clock.h"

namespace roce::conform {

namespace {

using live::JsonLines;

/// Connections taken in one round, so that a flood of them does not hold up the clients.
constexpr int kMostAccepted = 16;

[[nodiscard]] nlohmann::ordered_json refusal(const std::string& reason) {
  return {{"ok", false}, {"error", reason}};
}

[[nodiscard]] std::string too_many_tokens(Time until, Time now) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(until - now).count();
  return fmt::format("too many wrong tokens came from your address; wait {} s", seconds);
}

}  // namespace

AgentServer::AgentServer(const VerbsDevice& device, AgentLimits& limits, Listener listener, Tell tell)
    : device_(device), limits_(limits), listener_(std::move(listener)), tell_(std::move(tell)) {}

Outcome<void> AgentServer::run(int stop_fd) {
  while (wait(stop_fd)) {
    serve_next();
    look_at_the_time();
    std::erase_if(clients_, [](const auto& client) { return client->is_over; });
  }
  if (errno != 0) return failed(fmt::format("cannot wait for clients: {}", std::strerror(errno)));
  return {};
}

/// Waits until there is something to do, and moves what arrived. False at the end; then errno is 0 unless poll failed.
bool AgentServer::wait(int stop_fd) {
  std::vector<pollfd> polled{{.fd = stop_fd, .events = POLLIN, .revents = 0},
                             {.fd = listener_.fd(), .events = POLLIN, .revents = 0}};
  int timeout = -1;
  for (const auto& client : clients_) {
    const bool reads = !is_busy(*client) && !client->is_silent;
    const auto events = static_cast<short>((reads ? POLLIN : 0) | (client->lines.wants_to_write() ? POLLOUT : 0));
    // poll reports a closed socket whatever is asked for, so a socket is not watched for nothing.
    polled.push_back({.fd = events == 0 ? -1 : client->lines.fd(), .events = events, .revents = 0});
    polled.push_back({.fd = client->session.event_fd(), .events = POLLIN, .revents = 0});
    polled.push_back({.fd = client->session.cm_event_fd(), .events = POLLIN, .revents = 0});
    if (is_busy(*client)) timeout = 0;
    if (is_stranger(*client) && timeout != 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(client->deadline - runtime::now()).count();
      const int milliseconds = static_cast<int>(std::max<std::int64_t>(left, 0));
      timeout = timeout < 0 ? milliseconds : std::min(timeout, milliseconds);
    }
  }
  errno = 0;
  const int ready = ::poll(polled.data(), polled.size(), timeout);
  if (ready < 0) return errno == EINTR;
  if (polled[0].revents != 0) return false;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const pollfd* const its = polled.data() + 2 + 3 * i;
    move_lines(*clients_[i], its[0].revents);
    if (its[1].revents != 0) clients_[i]->session.take_events();
    if (its[2].revents != 0) clients_[i]->session.take_cm_events();
  }
  if (polled[1].revents != 0) accept();
  return true;
}

void AgentServer::move_lines(Client& client, short ready) {
  if ((ready & POLLOUT) != 0 && !client.lines.flush()) return end(client);
  if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) client.is_silent = client.is_silent || !client.lines.receive();
  if (client.is_silent && !is_busy(client)) end(client);
}

void AgentServer::accept() {
  for (int i = 0; i < kMostAccepted; ++i) {
    std::optional<Incoming> incoming = listener_.accept();
    if (!incoming) return;
    add(std::move(*incoming));
  }
}

void AgentServer::add(Incoming incoming) {
  JsonLines lines{incoming.fd, kMaxFirstLine};
  const Time now = runtime::now();
  if (const Time until = guard_.refuses_until(incoming.owner, now); !incoming.owner.empty() && until > now) {
    (void)lines.send(refusal(too_many_tokens(until, now)));
    lines.end();
    return;
  }
  make_room();
  clients_.push_back(
      std::make_unique<Client>(std::move(lines), std::move(incoming.owner), now + kHelloTime, device_, limits_));
}

void AgentServer::make_room() {
  std::vector<Client*> strangers;
  for (const auto& client : clients_) {
    if (is_stranger(*client)) strangers.push_back(client.get());
  }
  if (strangers.size() < kMaxStrangers) return;
  Client& displaced =
      **live::whom_to_displace(strangers, [](const Client* client) -> const std::string& { return client->address; });
  end(displaced, "too many connections came before this one said hello");
}

void AgentServer::serve_next() {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[(next_client_ + i) % clients_.size()];
    if (client.is_over || !is_busy(client)) continue;
    next_client_ = (next_client_ + i + 1) % clients_.size();
    return serve(client);
  }
}

void AgentServer::serve(Client& client) {
  if (client.session.is_working()) {
    if (const auto done = client.session.work()) answer(client, *done);
  } else if (const std::optional<JsonLines::Line> line = client.lines.next()) {
    if (*line) {
      handle(client, **line);
    } else {
      const json_input::Problem& problem = line->error();
      answer(client,
             refusal(fmt::format("a request is one JSON object on a line; byte {}: {}", problem.byte, problem.what)));
      if (is_stranger(client) && ++client.refusals >= kMaxRefusals) end(client);
    }
  }
  if (client.is_silent && !client.is_over && !is_busy(client)) end(client);
}

void AgentServer::handle(Client& client, const nlohmann::json& request) {
  if (is_stranger(client)) return greet(client, request);
  if (const auto done = client.session.handle(request)) answer(client, *done);
  if (client.session.greeting() != AgentSession::Greeting::right) end(client);
}

/// Handles a request of a client that has not said hello yet.
void AgentServer::greet(Client& client, const nlohmann::json& request) {
  const Time now = runtime::now();
  if (const Time until = guard_.refuses_until(client.address, now); !client.address.empty() && until > now) {
    return end(client, too_many_tokens(until, now));
  }
  const auto greeted = std::ranges::count_if(clients_, [](const auto& one) { return one->deadline == kNever; });
  if (static_cast<std::size_t>(greeted) >= kMaxClients) {
    return end(client, fmt::format("there are {} clients, and no place for another", kMaxClients));
  }
  if (const auto done = client.session.handle(request)) answer(client, *done);
  if (client.is_over) return;
  if (!client.session.greeting()) {
    if (++client.refusals >= kMaxRefusals) end(client);
    return;
  }
  if (client.session.greeting() == AgentSession::Greeting::right) {
    client.deadline = kNever;
    client.lines.allow(JsonLines::kMaxLine);
    guard_.forget(client.address);
    return;
  }
  if (client.session.greeting() == AgentSession::Greeting::wrong_token && !client.address.empty()) {
    const Time until = guard_.count_wrong(client.address, now);
    if (until > now) {
      tell_(fmt::format("wrong tokens came from one address; it is refused for {} s",
                        std::chrono::ceil<std::chrono::seconds>(until - now).count()));
    }
  }
  end(client);
}

void AgentServer::answer(Client& client, const nlohmann::ordered_json& answer) {
  if (!client.lines.send(answer)) end(client);
}

void AgentServer::end(Client& client, const std::string& reason) {
  (void)client.lines.send(refusal(reason));
  end(client);
}

void AgentServer::end(Client& client) {
  if (client.is_over) return;
  client.lines.end();
  client.is_over = true;
}

void AgentServer::look_at_the_time() {
  const Time now = runtime::now();
  for (const auto& client : clients_) {
    if (!is_stranger(*client) || now < client->deadline) continue;
    end(*client,
        fmt::format("no hello came in {} s", std::chrono::duration_cast<std::chrono::seconds>(kHelloTime).count()));
  }
}

}  // namespace roce::conform
