// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "input.h"
#include "roce/analysis/nvme.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

// The input is the traffic of a host and a target of NVMe over RDMA. Of each packet it gives the direction, the opcode,
// the PSN, the time, and the beginning of its payload. Always required: each command that began is reported once, with
// times that follow each other and parts that add up; what is kept stays within its bounds.

namespace {

using namespace roce;
using namespace roce::analysis;
using roce::test::Input;

constexpr std::size_t kMaxPackets = 2000;
constexpr std::size_t kMostQueues = 4;
constexpr std::size_t kMostCommands = 16;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::array kOpcodes{Opcode::rc_send_only,    Opcode::rc_send_first,           Opcode::rc_send_middle,
                              Opcode::rc_send_last,    Opcode::rc_send_only_invalidate, Opcode::rc_write_only,
                              Opcode::rc_write_first,  Opcode::rc_write_middle,         Opcode::rc_write_last,
                              Opcode::rc_read_request, Opcode::rc_read_response_only,   Opcode::rc_read_response_first,
                              Opcode::rc_acknowledge,  Opcode::rc_read_response_last,   Opcode::rc_fetch_add,
                              Opcode::ud_send_only};

Gid address(std::uint8_t last) {
  return Gid::from_ipv4({{10, 0, 0, last}});
}

void run(Input input) {
  Tracker tracker{{.limits = {.streams = 8}, .keep_messages = false, .keep_answers = false}};
  NvmeSurvey survey{{.targets = {address(2)}, .most_queues = kMostQueues, .most_commands = kMostCommands}};
  Time now{Duration{1'000'000'000}};
  PacketId id;
  std::uint64_t reported = 0;
  std::vector<NvmeExchange> done;
  std::vector<Verdict> verdicts;
  const auto drain = [&] {
    done.clear();
    survey.drain(done);
    for (const NvmeExchange& each : done) {
      ++reported;
      check(each.until_data() >= Duration::zero() && each.data() >= Duration::zero());
      check(each.until_response() >= Duration::zero());
      check(each.until_data() + each.data() + each.until_response() == each.latency());
      check(each.lost + each.not_ready <= each.latency());
      check(static_cast<bool>(each.response) == (each.end == NvmeEnd::answered));
    }
  };
  for (std::size_t packets = 0; packets < kMaxPackets && !input.empty(); ++packets) {
    const std::uint8_t what = input.byte();
    const bool is_forth = (what & 0x80U) != 0;
    std::vector<std::byte> bytes(kSize<Bth>);
    Bth bth;
    bth.opcode = kOpcodes[what % kOpcodes.size()];
    bth.dest_qp = Qpn{static_cast<std::uint32_t>(is_forth ? 0x22 : 0x11) + (what >> 4U & 3U)};
    bth.psn = Psn{input.byte()};
    write(bth, bytes.data());
    const std::uint8_t late = input.byte();
    now += Duration{(late & 0x40U) != 0 ? -std::int64_t{late} : std::int64_t{late} * late};
    const std::size_t size = input.byte() % 96U;
    std::vector<std::byte> rest(std::array<std::size_t, 4>{16, 64, 96, size}[late >> 6U & 3U]);
    for (std::size_t i = 0; i < size && i < rest.size(); ++i) rest[i] = std::byte{input.byte()};
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    bytes.resize(bytes.size() + 4);
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = address(is_forth ? 1 : 2);
    net.destination = address(is_forth ? 2 : 1);
    const Packet packet = parse_transport(bytes, net, static_cast<std::uint32_t>(bytes.size()));
    ++id.frame;
    const Observation seen = observe_packet(packet, {}, now, id);
    survey.observe(packet, seen, tracker.observe(seen));
    verdicts.clear();
    tracker.drain(verdicts);
    for (const Verdict& verdict : verdicts) survey.observe(verdict);
    drain();
  }
  survey.finish();
  drain();
  std::uint64_t begun = 0;
  const std::vector<NvmeQueue> queues = survey.queues();
  check(queues.size() <= kMostQueues);
  for (const NvmeQueue& queue : queues) begun += queue.commands;
  check(reported == begun);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run(Input{Bytes{reinterpret_cast<const std::byte*>(data), size}});
  return 0;
}
