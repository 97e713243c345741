// SPDX-License-Identifier: BSD-2-Clause
#include "gen/pingpong/report.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace roce::gen {

void print_pingpong(const PingpongConnection& connection, PingpongSession::Role role, bool json) {
  const bool good = connection.succeeded();
  const PingpongSession* session = connection.session();
  const double seconds = std::chrono::duration<double>(connection.duration()).count();
  const std::uint32_t sent = session != nullptr ? session->sent() : 0;
  const std::uint32_t received = session != nullptr ? session->received() : 0;
  if (json) {
    nlohmann::ordered_json line{
        {"event", "pingpong"},       {"role", role == PingpongSession::Role::client ? "client" : "server"},
        {"peer", connection.peer()}, {"ok", good},
        {"messages_sent", sent},     {"messages_received", received},
        {"seconds", seconds}};
    if (!connection.error().empty()) line["error"] = connection.error();
    if (session != nullptr) {
      line["last_ack_missing"] = session->last_ack_missing();
      nlohmann::ordered_json& counters = line["counters"];
      const transport::Counters values = session->counters();
      for (const transport::CounterName& name : transport::counter_names()) {
        if (values.*name.member != 0) counters[std::string{name.name}] = values.*name.member;
      }
    }
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (good) {
    fmt::print("{}: {} messages sent, {} received and compared, {:.3f} s, {:.1f} us a round trip{}\n",
               connection.peer(), sent, received, seconds, seconds * 1e6 / std::max(1U, received),
               session->last_ack_missing() ? " (the last acknowledgement never came)" : "");
  } else {
    fmt::print("{}: FAILED: {} ({} messages sent, {} received)\n", connection.peer(), connection.error(), sent,
               received);
  }
  std::fflush(stdout);
}

}  // namespace roce::gen
