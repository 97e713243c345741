// SPDX-License-Identifier: BSD-2-Clause
#include "gen/program_client.h"

#include <fmt/format.h>

#include "gen/pingpong_report.h"
#include "gen/tcp.h"

namespace roce::gen {

Outcome<ExitCode> run_client(const EndpointOptions& options, const std::string& program, const std::string& host,
                             const ClientScript& script) {
  const Outcome<Gid> to = resolve_host(host);
  if (!to) return tl::unexpected(to.error());
  Outcome<std::unique_ptr<Endpoint>> opened = Endpoint::open(options);
  if (!opened) return tl::unexpected(opened.error());
  Endpoint& endpoint = **opened;
  if (endpoint.gid().is_ipv4_mapped() != to->is_ipv4_mapped()) {
    return cannot(fmt::format("{} cannot be reached from {}: choose an address of the same kind with --address", host,
                              to_string(endpoint.gid())));
  }
  Outcome<std::unique_ptr<RdmaCm>> cm = RdmaCm::open(endpoint);
  if (!cm) return tl::unexpected(cm.error());
  print_note("ready", endpoint.description(), options.json);
  ProgramReport report;
  report.program = program;
  report.peer = to_string(*to);
  Script running{script(**cm, *to, report)};
  const Outcome<bool> ran = endpoint.driver().run([&](Time time) {
    bool moved = (*cm)->step(time);
    moved |= running.step(time);
    while (endpoint.port().poll_event(time)) {
    }
    if (running.is_over()) return Driver::Step::done;
    endpoint.driver().wake_at(running.next_timeout());
    return moved ? Driver::Step::busy : Driver::Step::idle;
  });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? running.error() : "interrupted";
  // What the end of the script has to say to the peer.
  (*cm)->step(now());
  endpoint.driver().settle(now() + std::chrono::milliseconds{100});
  print_program(report, options.json);
  if (Outcome<void> closed = endpoint.close(); !closed) return tl::unexpected(closed.error());
  return report.error.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace roce::gen
