// SPDX-License-Identifier: BSD-2-Clause
// docs/libroce.md shows this file from the line after the next on; guide_test compares them.
// --- a live peer
#include <roce/live/control_server.h>

#include <cstdio>

namespace live = roce::live;

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: live_peer INTERFACE SOCKET\n"), 2;
  const auto endpoint = live::Endpoint::open({.interface = argv[1]});
  if (!endpoint) return std::fprintf(stderr, "%s\n", endpoint.error().message.c_str()), 2;
  live::ControlClients clients{**endpoint, nullptr, {}};
  const auto server = live::ControlServer::open(clients, {.socket = argv[2]});
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 2;
  std::printf("ready: %s\n", (*endpoint)->description().c_str());
  std::fflush(stdout);
  const auto ran = (*endpoint)->driver().run([&](roce::Time now) {
    while ((*endpoint)->port().poll_event(now)) {
    }
    return clients.step() ? live::Driver::Step::busy : live::Driver::Step::idle;
  });
  return ran ? 0 : 1;
}
// --- end
