// SPDX-License-Identifier: BSD-2-Clause
#include "gen/control_clients.h"

#include <poll.h>

namespace roce::gen {

namespace {

constexpr std::size_t kMaxClients = 64;

}  // namespace

ControlClients::ControlClients(Endpoint& endpoint, RdmaCm* cm, ControlSession::Terms terms, HandOver hand_over)
    : endpoint_(endpoint), cm_(cm), terms_(std::move(terms)), hand_over_(std::move(hand_over)) {}

ControlClients::~ControlClients() {
  for (const auto& client : clients_) endpoint_.driver().forget(client->lines.fd());
}

void ControlClients::add(JsonLines lines, const std::optional<nlohmann::json>& first) {
  if (clients_.size() >= kMaxClients) return;
  clients_.push_back(std::make_unique<Client>(endpoint_, cm_, terms_, std::move(lines)));
  Client& client = *clients_.back();
  if (!first) return watch(client);
  client.is_new = false;
  client.over = !answer(client, *first);
  // What came with it.
  if (!client.over) serve(client, POLLIN);
}

void ControlClients::watch(Client& client) {
  const short events = static_cast<short>(POLLIN | (client.lines.wants_to_write() ? POLLOUT : 0));
  endpoint_.driver().watch(client.lines.fd(), events, [this, &client](short ready) { serve(client, ready); });
}

bool ControlClients::answer(Client& client, const nlohmann::json& request) {
  // Completions that are there belong to what was asked before.
  client.session.poll();
  const bool alive = client.lines.send(client.session.handle(request, now()));
  return alive && !client.session.refused();
}

void ControlClients::serve(Client& client, short events) {
  bool alive = (events & POLLOUT) == 0 || client.lines.flush();
  if (alive && (events & (POLLIN | POLLHUP | POLLERR)) != 0) alive = client.lines.receive();
  while (std::optional<nlohmann::json> request = client.lines.next()) {
    if (std::exchange(client.is_new, false)) {
      if (const std::uint32_t shard = shard_for(*request); shard != terms_.shard) {
        endpoint_.driver().forget(client.lines.fd());
        client.over = true;
        return hand_over_(shard, std::move(client.lines), std::move(*request));
      }
    }
    alive = answer(client, *request) && alive;
  }
  if (alive) return watch(client);
  endpoint_.driver().forget(client.lines.fd());
  client.over = true;
}

/// Which shard a connection wants, as its first request says; our own for one that is to be refused.
std::uint32_t ControlClients::shard_for(const nlohmann::json& request) {
  if (!hand_over_ || !request.is_object()) return terms_.shard;
  const auto wanted = request.find("shard");
  if (wanted == request.end()) return terms_.shard;
  if (*wanted == ControlSession::kAnyShard) return next_shard_++ % terms_.shards;
  return wanted->is_number_unsigned() && *wanted < terms_.shards ? wanted->get<std::uint32_t>() : terms_.shard;
}

bool ControlClients::step() {
  bool moved = false;
  for (const auto& client : clients_) moved |= client->session.poll();
  // Here and not in `serve`: that runs as a function of the client.
  std::erase_if(clients_, [](const auto& client) { return client->over; });
  return moved;
}

}  // namespace roce::gen
