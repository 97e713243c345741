// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/dcbx_peer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>
#include <vector>

#include "input.h"
#include "roce/wire/ethernet.h"

// The input is what comes over a wire to an end that speaks DCBX: a byte for what that is willing to, then frames, each
// with two bytes in front of it, the tenths of a second since the one before and the length. Always required: what
// holds at this end can be carried out, its own frame is one that another end can read, and there is no time at which
// it would be asked for ever.

namespace {

using namespace roce;
using namespace roce::port;
using roce::test::Input;

constexpr MacAddress kOwn{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kOther{{2, 0, 0, 0, 0, 2}};

void check(bool holds) {
  if (!holds) std::abort();
}

/// Returns an LLDP frame with these bytes behind its Ethernet header.
std::vector<std::byte> frame_of(Bytes pdu) {
  std::vector<std::byte> frame(kSize<Ethernet>);
  write(Ethernet{kNearestBridge, kOther, EtherType::lldp}, frame.data());
  frame.insert(frame.end(), pdu.begin(), pdu.end());
  return frame;
}

void let_pass(DcbxPeer& end, Time now) {
  int frames = 0;
  while (end.next_timeout() <= now) {
    if (!end.update(now)) continue;
    ++frames;
    DcbxPeer listener{{}, kOther, "fuzz"};
    check(listener.receive(end.frame(), now));
    check(listener.has_peer() && listener.problem().find("length") == std::string::npos);
  }
  check(frames <= static_cast<int>(DcbxPeer::kMostAtOnce));
  check(traffic_classes_of(end.operational().ets).has_value());
  check(std::popcount(end.operational().pfc.priorities()) <= 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{std::as_bytes(std::span{data, size})};
  const std::uint8_t options = input.byte();
  DcbxConfig config;
  config.ets.willing = (options & 1U) != 0;
  config.pfc = {.willing = (options & 2U) != 0, .capability = 2};
  DcbxPeer end{config, kOwn, "eth0"};
  Time now{std::chrono::hours{1}};
  let_pass(end, now);
  while (!input.empty()) {
    now += std::chrono::milliseconds{100} * input.byte();
    const std::size_t length = input.byte();
    check(end.receive(frame_of(input.take(length)), now));
    let_pass(end, now);
  }
  return 0;
}
