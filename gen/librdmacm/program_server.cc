// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/program_server.h"

#include <algorithm>

namespace roce::gen {

namespace {

/// Limit of clients, because each has queue pairs and buffers of its own: strangers must not take all memory.
constexpr std::size_t kMaxClients = 256;
/// Limit for one host, so that its connections, which need not be more than half open, leave room for those of others.
constexpr std::ptrdiff_t kMaxOfOneHost = 128;
/// How long a client may repeat its last message because our answer was lost.
constexpr Duration kLinger = std::chrono::seconds{1};

}  // namespace

Outcome<std::unique_ptr<ProgramServer>> ProgramServer::open(live::RdmaCm& cm, const ProgramServerOptions& options) {
  std::unique_ptr<ProgramServer> server{new ProgramServer{cm, options}};
  if (Outcome<void> listening = server->listen(); !listening) return tl::unexpected(listening.error());
  return server;
}

Outcome<void> ProgramServer::listen() {
  const auto serve = [this](const char* program, auto make_task) {
    return [this, program, make_task](CommId id, Time now) {
      if (running_.size() >= kMaxClients || is_crowded_by(id)) {
        (void)cm_.manager().reject(id, {.reason = CmRejReason::no_resources}, now);
        return;
      }
      Running& running = add(program, id);
      begin(running, make_task(id, running.report));
    };
  };
  const auto rping = [this](CommId id, ProgramReport& report) { return rping_server(cm_, id, report); };
  const auto ucmatose = [this](CommId id, ProgramReport& report) {
    return ucmatose_server(cm_, id, options_.messages, report);
  };
  const auto udaddy = [this](CommId id, ProgramReport& report) {
    return udaddy_server(cm_, id, options_.messages, report);
  };
  live::Result<void> listening = cm_.listen(ServiceId{PortSpace::tcp, kRpingPort}, serve("rping", rping));
  if (listening) listening = cm_.listen(ServiceId{PortSpace::tcp, kUcmatosePort}, serve("ucmatose", ucmatose));
  if (listening) listening = cm_.listen(ServiceId{PortSpace::udp, kUdaddyPort}, serve("udaddy", udaddy));
  return outcome_of(listening);
}

bool ProgramServer::is_crowded_by(CommId id) const {
  const std::string host = to_string(cm_.manager().find(id)->peer.remote);
  return std::ranges::count(running_, host, [](const Running& each) -> const std::string& {
           return each.report.peer;
         }) >= kMaxOfOneHost;
}

ProgramServer::Running& ProgramServer::add(const char* program, CommId id) {
  Running& running = running_.emplace_back();
  running.report.program = program;
  running.report.is_server = true;
  running.report.peer = to_string(cm_.manager().find(id)->peer.remote);
  return running;
}

void ProgramServer::begin(Running& running, live::Task<> task) {
  running.script = std::make_unique<live::Script>(std::move(task));
}

void ProgramServer::finish(Running& running, Time now) {
  running.report.error = running.script->error();
  failed_ |= !running.report.error.empty();
  last_ended_ = now;
  print_program(running.report, options_.json);
}

bool ProgramServer::has_served(Time now) {
  if (last_ended_ == kNever || !running_.empty()) return false;
  cm_.endpoint().driver().wake_at(last_ended_ + kLinger);
  return now >= last_ended_ + kLinger;
}

bool ProgramServer::step(Time now) {
  bool moved = false;
  for (auto it = running_.begin(); it != running_.end();) {
    moved |= it->script->step(now);
    if (it->script->is_over()) {
      finish(*it, now);
      it = running_.erase(it);
    } else {
      cm_.endpoint().driver().wake_at(it->script->next_timeout());
      ++it;
    }
  }
  return moved;
}

void ProgramServer::close() {
  running_.clear();
}

}  // namespace roce::gen
