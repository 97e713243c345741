// SPDX-License-Identifier: BSD-2-Clause
#include "mixed_exchange.h"

namespace roce::sim {

using transport::WorkOpcode;

Pair::Options mixed_options(const transport::Profile& profile, std::uint64_t seed) {
  Pair::Options options = Pair::with(profile);
  options.seed = seed;
  options.a_endpoint.memory = kMixedMemory;
  return options;
}

void post_mixed(Pair& pair) {
  constexpr std::uint64_t k = 1024;
  constexpr std::uint64_t receives_at = 20 * k;
  constexpr std::uint32_t receive_size = 3 * k;
  Endpoint& a = pair.a;
  Endpoint& b = pair.b;
  for (std::uint64_t i = 0; i < 4; ++i) b.post_receive(receives_at + i * receive_size, receive_size);
  for (std::uint64_t i = 0; i < 2; ++i) a.post_receive(receives_at + i * receive_size, receive_size);
  a.post({.opcode = WorkOpcode::send, .length = 2500, .local = 0});
  a.post({.opcode = WorkOpcode::read, .length = 2500, .local = 4 * k, .remote = 0});
  a.post({.opcode = WorkOpcode::fetch_add, .length = 8, .local = 8 * k, .remote = 8 * k, .compare_add = 5});
  a.post({.opcode = WorkOpcode::write, .length = 3000, .local = 0, .remote = 9 * k, .signaled = false});
  a.post({.opcode = WorkOpcode::compare_swap, .length = 8, .local = 8 * k + 8, .remote = 8 * k + 8, .swap = 1});
  a.post({.opcode = WorkOpcode::write_with_immediate, .length = 100, .remote = 13 * k, .immediate = 0xCAFE});
  a.post({.opcode = WorkOpcode::read, .length = 40, .local = 14 * k, .remote = 4 * k});
  a.post({.opcode = WorkOpcode::send_with_immediate, .length = 0, .immediate = 7});
  a.post({.opcode = WorkOpcode::read, .length = 1500, .local = 15 * k, .remote = 9 * k, .fence = true});
  a.post({.opcode = WorkOpcode::send, .length = 1030});
  b.post({.opcode = WorkOpcode::write, .length = 1500, .local = 0, .remote = 17 * k});
  b.post({.opcode = WorkOpcode::read, .length = 1100, .local = 17 * k, .remote = 0});
  b.post({.opcode = WorkOpcode::send, .length = 20});
  b.post({.opcode = WorkOpcode::fetch_add, .length = 8, .local = 19 * k, .remote = 19 * k, .compare_add = 1});
  b.post({.opcode = WorkOpcode::send, .length = 2048});
}

testing::AssertionResult run_mixed(Pair& pair, Outcome& outcome) {
  post_mixed(pair);
  testing::AssertionResult result = pair.network.run_until_idle();
  outcome = {.a_memory = {pair.a.memory().begin(), pair.a.memory().end()},
             .b_memory = {pair.b.memory().begin(), pair.b.memory().end()},
             .a_sent = pair.a.sent(),
             .b_sent = pair.b.sent(),
             .a_received = pair.a.received(),
             .b_received = pair.b.received()};
  return result;
}

}  // namespace roce::sim
