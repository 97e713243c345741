// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_clients.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "roce/live/crowd.h"

namespace roce::live {

namespace {

/// Bytes of left-behind memory that are given back in one step.
constexpr std::size_t kGivenBack = 1 << 20;

[[nodiscard]] nlohmann::ordered_json refusal(const std::string& reason) {
  return {{"ok", false}, {"error", reason}};
}

[[nodiscard]] std::string too_many_tokens(Time until, Time now) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(until - now).count();
  return fmt::format("too many wrong tokens came from your address; wait {} s", seconds);
}

}  // namespace

ControlClients::ControlClients(Endpoint& endpoint, RdmaCm* cm, ControlSession::Terms terms, HandOver hand_over,
                               Tell tell)
    : endpoint_(endpoint),
      cm_(cm),
      terms_(std::move(terms)),
      hand_over_(std::move(hand_over)),
      tell_(std::move(tell)) {}

ControlClients::~ControlClients() {
  for (const auto& client : clients_) endpoint_.driver().forget(client->lines.fd());
}

std::size_t ControlClients::count_strangers() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [](const auto& client) { return is_stranger(*client); }));
}

void ControlClients::make_room() {
  std::vector<Client*> strangers;
  for (const auto& client : clients_) {
    if (is_stranger(*client)) strangers.push_back(client.get());
  }
  if (strangers.size() < kMaxStrangers) return;
  Client& displaced =
      **whom_to_displace(strangers, [](const Client* client) -> const std::string& { return client->address; });
  end(displaced, "too many connections came before this one said hello");
}

void ControlClients::add(int fd, std::string address) {
  JsonLines lines{fd, kMaxFirstLine};
  const Time time = endpoint_.now();
  if (const Time until = guard_.refuses_until(address, time); !address.empty() && until > time) {
    (void)lines.send(refusal(too_many_tokens(until, time)));
    lines.end();
    return;
  }
  make_room();
  clients_.push_back(
      std::make_unique<Client>(endpoint_, cm_, terms_, std::move(lines), std::move(address), time + kHelloTime));
  endpoint_.driver().wake_at(time + kHelloTime);
  watch(*clients_.back());
}

void ControlClients::add(JsonLines lines, const nlohmann::json& hello) {
  clients_.push_back(
      std::make_unique<Client>(endpoint_, cm_, terms_, std::move(lines), "", endpoint_.now() + kHelloTime));
  Client& client = *clients_.back();
  greet(client, hello, endpoint_.now());
  if (!client.is_over) watch(client);
}

/// Requests that have arrived are served before more are read from the connection.
void ControlClients::watch(Client& client) {
  const bool is_busy = client.session.is_working() || client.lines.has_line();
  const bool reads = !is_busy && !client.is_silent;
  const short events = static_cast<short>((reads ? POLLIN : 0) | (client.lines.wants_to_write() ? POLLOUT : 0));
  // poll reports a closed socket whatever is asked for, so a socket is not watched for nothing.
  if (events == 0) return endpoint_.driver().forget(client.lines.fd());
  endpoint_.driver().watch(client.lines.fd(), events, [this, &client](short ready) { serve(client, ready); });
}

void ControlClients::serve(Client& client, short events) {
  if (client.is_over) return;
  if ((events & POLLOUT) != 0 && !client.lines.flush()) return end(client);
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) client.is_silent = client.is_silent || !client.lines.receive();
  if (client.is_silent && !client.session.is_working() && !client.lines.has_line()) return end(client);
  watch(client);
}

bool ControlClients::serve_next(Time now) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[(next_client_ + i) % clients_.size()];
    if (client.is_over || (!client.session.is_working() && !client.lines.has_line())) continue;
    next_client_ = (next_client_ + i + 1) % clients_.size();
    serve_one(client, now);
    return true;
  }
  return false;
}

void ControlClients::serve_one(Client& client, Time now) {
  if (client.session.is_working()) {
    if (const auto done = client.session.work()) answer(client, *done);
  } else if (const std::optional<JsonLines::Line> line = client.lines.next()) {
    if (*line) {
      handle(client, **line, now);
    } else {
      const json_input::Problem& problem = line->error();
      answer(client,
             refusal(fmt::format("a request is one JSON object on a line; byte {}: {}", problem.byte, problem.what)));
      if (is_stranger(client) && ++client.refusals >= kMaxRefusals) end(client);
    }
  }
  if (client.is_over) return;
  const bool is_busy = client.session.is_working() || client.lines.has_line();
  if (client.is_silent && !is_busy) return end(client);
  watch(client);
}

void ControlClients::handle(Client& client, const nlohmann::json& request, Time now) {
  if (is_stranger(client)) return greet(client, request, now);
  // Completions that are there now belong to earlier requests.
  (void)client.session.poll();
  if (const auto done = client.session.handle(request, now)) answer(client, *done);
  if (client.session.greeting() != ControlSession::Greeting::right) end(client);
}

/// Handles a request of a client that has not said hello yet.
void ControlClients::greet(Client& client, const nlohmann::json& request, Time now) {
  if (const Time until = guard_.refuses_until(client.address, now); !client.address.empty() && until > now) {
    return end(client, too_many_tokens(until, now));
  }
  if (hand_over(client, request)) return;
  if (clients_.size() - count_strangers() >= kMaxClients) {
    return end(client, fmt::format("there are {} clients, and no place for another", kMaxClients));
  }
  const auto done = client.session.handle(request, now);
  if (done) answer(client, *done);
  if (client.is_over) return;
  if (!client.session.greeting()) {
    if (++client.refusals >= kMaxRefusals) end(client);
    return;
  }
  if (client.session.greeting() == ControlSession::Greeting::right) {
    client.deadline = kNever;
    client.lines.allow(JsonLines::kMaxLine);
    guard_.forget(client.address);
    return;
  }
  if (client.session.greeting() == ControlSession::Greeting::wrong_token && !client.address.empty()) {
    const Time until = guard_.count_wrong(client.address, now);
    if (until > now && tell_) {
      tell_(fmt::format("wrong tokens for the control port came from one address; it is refused for {} s",
                        std::chrono::ceil<std::chrono::seconds>(until - now).count()));
    }
  }
  end(client);
}

/// Hands the connection to the shard that the hello names; true if that is another one. A wrong hello is refused here.
bool ControlClients::hand_over(Client& client, const nlohmann::json& request) {
  if (!hand_over_ || !request.is_object()) return false;
  const auto op = request.find("op");
  const auto wanted = request.find("shard");
  std::string why;
  if (op == request.end() || *op != "hello" || wanted == request.end() ||
      ControlSession::judge(request, terms_, why) != ControlSession::Greeting::right) {
    return false;
  }
  const std::uint32_t shard =
      *wanted == ControlSession::kAnyShard ? next_shard_++ % terms_.shards : wanted->get<std::uint32_t>();
  if (shard == terms_.shard) return false;
  endpoint_.driver().forget(client.lines.fd());
  client.is_over = true;
  guard_.forget(client.address);
  hand_over_(shard, std::move(client.lines), request);
  return true;
}

void ControlClients::answer(Client& client, const nlohmann::ordered_json& answer) {
  if (!client.lines.send(answer)) end(client);
}

void ControlClients::end(Client& client, const std::string& reason) {
  (void)client.lines.send(refusal(reason));
  end(client);
}

void ControlClients::end(Client& client) {
  if (client.is_over) return;
  endpoint_.driver().forget(client.lines.fd());
  client.lines.end();
  client.is_over = true;
}

void ControlClients::look_at_the_time(Time now) {
  for (const auto& client : clients_) {
    if (!is_stranger(*client)) continue;
    if (now >= client->deadline) {
      end(*client,
          fmt::format("no hello came in {} s", std::chrono::duration_cast<std::chrono::seconds>(kHelloTime).count()));
    } else {
      endpoint_.driver().wake_at(client->deadline);
    }
  }
}

/// Removes the clients that are over. `end` cannot do it, because it may run in a callback that belongs to the client.
void ControlClients::clear_away() {
  std::erase_if(clients_, [this](const auto& client) {
    if (client->is_over) std::ranges::move(client->session.close(), std::back_inserter(left_behind_));
    return client->is_over;
  });
  if (!left_behind_.empty() && left_behind_.front().give_back(kGivenBack)) left_behind_.pop_front();
}

void ControlClients::take_events(Time now) {
  while (const std::optional<transport::Event> event = endpoint_.port().poll_event(now)) {
    for (const auto& client : clients_) {
      if (client->session.take_event(*event)) break;
    }
  }
}

bool ControlClients::step() {
  const Time time = endpoint_.now();
  bool moved = false;
  take_events(time);
  for (const auto& client : clients_) moved |= client->session.poll();
  moved |= serve_next(time);
  // A program that embeds this drops the events that it has no use for; those that a request made are for its client.
  take_events(time);
  look_at_the_time(time);
  clear_away();
  moved |= !left_behind_.empty();
  // While simulated time stands still, nothing else wakes the loop to do the rest.
  if (moved) endpoint_.driver().wake_at(time);
  return moved;
}

}  // namespace roce::live
