// SPDX-License-Identifier: BSD-2-Clause
// Filter expressions against tshark's equivalents: both must pick the same frames.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "analyze/filter/display_filter.h"
#include "analyze/filter/wire_fields.h"
#include "support/captures.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

using Frames = std::vector<std::uint64_t>;

/// Two expressions that mean the same, and the capture on which they are compared.
struct Pair {
  std::string_view capture;
  std::string_view ours;
  std::string_view theirs;
};

// These captures hold nothing that tshark shows twice or not at all, like a packet quoted in an ICMP error.
constexpr std::array kPairs{
    Pair{"rc-mix-v4.tx.pcap", "bth.opcode == RC_WRITE_FIRST", "infiniband.bth.opcode == 6"},
    Pair{"rc-mix-v4.tx.pcap", "bth.opcode in {RC_READ_REQUEST, 0x0d..0x10}",
         "infiniband.bth.opcode in {12, 0x0d..0x10}"},
    // A packet without the field passes `not in` in tshark 4.0 and here, but not in 4.4.
    Pair{"rc-mix-v4.tx.pcap", "bth.opcode not in {4..17}", "not infiniband.bth.opcode in {4..17}"},
    Pair{"rc-mix-v4.tx.pcap", "aeth.msn != 3", "infiniband.aeth.msn != 3"},
    Pair{"rc-mix-v4.tx.pcap", "not aeth.msn == 3", "not infiniband.aeth.msn == 3"},
    Pair{"rc-mix-v4.tx.pcap", "aeth.msn not in {1..9}", "not infiniband.aeth.msn in {1..9}"},
    Pair{"rc-mix-v4.tx.pcap", "reth.dma_length > 4096 or atomiceth && bth.ack_req",
         "infiniband.reth.dmalen > 4096 or infiniband.atomiceth && infiniband.bth.a == 1"},
    Pair{"rc-mix-v4.tx.pcap", "eth.type == 0x800 and (bth.pad_count ge 1 or udp.length lt 100) and !(ip.ttl == 1)",
         "eth.type == 0x800 and (infiniband.bth.padcnt ge 1 or udp.length lt 100) and !(ip.ttl == 1)"},
    Pair{"rc-drop-random.tx.pcap", "aeth.syndrome == \"NAK PSN sequence error\" or bth.ack_req and reth",
         "infiniband.aeth.syndrome == 0x60 or infiniband.bth.a == 1 and infiniband.reth"},
    Pair{"rc-drop-random.tx.pcap", "frame.number in {5, 7..9, 100 .. 120} && frame.len <= 200",
         "frame.number in {5, 7..9, 100..120} && frame.len <= 200"},
    Pair{"rc-mix-v6.tx.pcap", "ipv6.hop_limit != 1 and bth.psn >= 10 and not reth",
         "ipv6.hlim != 1 and infiniband.bth.psn >= 10 and not infiniband.reth"},
    Pair{"cm-rping.tx.pcap", "cm_req.local_comm_id or cm_rep or mad.method == 3",
         "infiniband.cm.req or infiniband.cm.rep or infiniband.mad.method == 3"},
    Pair{"ud-mix.tx.pcap", "deth.q_key == 0x11111111 or deth.src_qp > 0x11",
         "infiniband.deth.q_key == 0x11111111 or infiniband.deth.srcqp > 0x11"},
};

std::string path(std::string_view capture) {
  return roce::test::captures_folder() + "/softroce/" + std::string{capture};
}

Frames by_us(const Pair& pair) {
  Frames frames;
  const auto filter = DisplayFilter::compile(pair.ours, wire_catalogue());
  EXPECT_TRUE(filter.has_value()) << pair.ours << ": " << (filter ? "" : to_string(filter.error()));
  if (!filter) return frames;
  roce::test::for_each_record(path(pair.capture), [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    packet_text::FrameInfo frame;
    frame.number = record.number;
    frame.length = record.original_length;
    const packet_text::DecodedPacket decoded{frame, packet, packet, {}};
    if (filter->matches(PacketValues{decoded})) frames.push_back(record.number);
  });
  return frames;
}

using Pipe = std::unique_ptr<FILE, int (*)(FILE*)>;

Pipe start_tshark(const Pair& pair) {
  const std::string command = "tshark -n -r '" + path(pair.capture) + "' -Y '" + std::string{pair.theirs} +
                              "' -T fields -e frame.number 2>/dev/null";
  return {popen(command.c_str(), "r"), pclose};
}

Frames read_frames(Pipe pipe) {
  std::string output;
  std::array<char, 65536> chunk{};
  for (std::size_t count = 0; (count = fread(chunk.data(), 1, chunk.size(), pipe.get())) > 0;) {
    output.append(chunk.data(), count);
  }
  EXPECT_EQ(pclose(pipe.release()), 0) << "tshark refused its expression";
  std::istringstream in(output);
  Frames frames;
  for (std::uint64_t number = 0; in >> number;) frames.push_back(number);
  return frames;
}

TEST(DisplayFilterTsharkTest, PicksTheSameFrames) {
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(std::string{pair.capture} + ": " + std::string{pair.ours});
    const Frames theirs = read_frames(start_tshark(pair));
    const Frames ours = by_us(pair);
    EXPECT_EQ(ours, theirs);
    EXPECT_FALSE(theirs.empty()) << "compares nothing";
  }
}

}  // namespace
}  // namespace roce::analyze::test
