// SPDX-License-Identifier: BSD-2-Clause
// A conversation of two endpoints of the rxe profile, packet for packet: A begins at PSN 0xFFFFFE, path MTU 1024.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"

namespace roce::sim {
namespace {

using enum Opcode;
using transport::CompletionStatus;
using transport::QpState;
using transport::WorkOpcode;

/// The expected contents of one packet.
struct Row {
  char sender;
  Opcode opcode;
  std::uint32_t psn;
  bool ack_req = false;
  std::uint32_t payload = 0;
  std::optional<std::uint8_t> syndrome{};
  std::uint32_t msn = 0;
};

std::string to_text(const Row& row) {
  std::string text = fmt::format("{} {} psn {:06x} A={} len {}", row.sender, opcode_info(row.opcode).name, row.psn,
                                 row.ack_req ? 1 : 0, row.payload);
  if (row.syndrome) text += fmt::format(" syndrome {:02x} msn {}", *row.syndrome, row.msn);
  return text + '\n';
}

std::string to_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += to_text(row);
  return text;
}

class WorkedTrace : public testing::Test {
 protected:
  WorkedTrace() : pair_(options()) { pair_.network.keep_trace(Tap::sent); }

  static Pair::Options options() {
    Pair::Options options = Pair::with(transport::rxe_profile());
    options.connection.a_psn = Psn{0xFFFFFE};
    options.connection.mtu = 1024;
    options.connection.min_rnr_timer = 12;
    options.link.impair = "drop:dir=a_to_b,op=RC_SEND_ONLY,abs_psn=6,tx=1; drop:dir=b_to_a,op=ack,abs_psn=9,tx=1";
    return options;
  }

  /// Returns the frames that went over the link since the last call, as rows.
  std::string seen() {
    std::string text;
    for (const TraceFrame& frame : pair_.network.trace()) {
      EXPECT_THAT(frame, HasGoodIcrc());
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      const Bth bth = packet.bth();
      EXPECT_EQ(bth.pad_count, (4 - packet.payload_length() % 4) % 4);
      EXPECT_EQ(bth.dest_qp, frame.from == pair_.a_host.node() ? pair_.b.qpn() : pair_.a.qpn());
      EXPECT_FALSE(bth.mig_req);
      Row row{.sender = frame.from == pair_.a_host.node() ? 'A' : 'B',
              .opcode = bth.opcode,
              .psn = bth.psn.value(),
              .ack_req = bth.ack_req,
              .payload = packet.payload_length()};
      if (const auto aeth = packet.get<Aeth>()) {
        row.syndrome = aeth->syndrome.value();
        row.msn = aeth->msn.value();
      }
      text += to_text(row);
    }
    pair_.network.clear_trace();
    return text;
  }

  void run() { ASSERT_TRUE(pair_.network.run_until_idle()); }

  /// Runs the part that both endings have in common.
  void converse() {
    auto& [network, a_host, b_host, a, b] = pair_;
    b.post_receive(0, 4096);
    a.post({.opcode = WorkOpcode::send, .length = 2500});
    run();
    EXPECT_EQ(seen(), to_text({{'A', rc_send_first, 0xFFFFFE, false, 1024},
                               {'A', rc_send_middle, 0xFFFFFF, false, 1024},
                               {'A', rc_send_last, 0x000000, true, 452},
                               {'B', rc_acknowledge, 0x000000, false, 0, 0x1F, 1}}));

    a.post({.opcode = WorkOpcode::read, .length = 2500});
    run();
    EXPECT_EQ(seen(), to_text({{'A', rc_read_request, 0x000001, true, 0},
                               {'B', rc_read_response_first, 0x000001, false, 1024, 0x1F, 2},
                               {'B', rc_read_response_middle, 0x000002, false, 1024},
                               {'B', rc_read_response_last, 0x000003, false, 452, 0x1F, 2}}));

    a.post({.opcode = WorkOpcode::compare_swap, .length = 8, .remote = 64});
    run();
    EXPECT_EQ(seen(), to_text({{'A', rc_compare_swap, 0x000004, true, 0},
                               {'B', rc_atomic_acknowledge, 0x000004, false, 0, 0x1F, 3}}));

    a.post({.opcode = WorkOpcode::write, .length = 5});
    run();
    EXPECT_EQ(seen(),
              to_text({{'A', rc_write_only, 0x000005, true, 5}, {'B', rc_acknowledge, 0x000005, false, 0, 0x1F, 4}}));

    for (int i = 0; i < 3; ++i) b.post_receive(0, 4096);
    for (int i = 0; i < 3; ++i) a.post({.opcode = WorkOpcode::send, .length = 100});
    run();
    EXPECT_EQ(seen(), to_text({{'A', rc_send_only, 0x000006, true, 100},  // lost
                               {'A', rc_send_only, 0x000007, true, 100},
                               {'A', rc_send_only, 0x000008, true, 100},
                               {'B', rc_acknowledge, 0x000006, false, 0, 0x60, 4},
                               {'A', rc_send_only, 0x000006, true, 100},
                               {'A', rc_send_only, 0x000007, true, 100},
                               {'A', rc_send_only, 0x000008, true, 100},
                               {'B', rc_acknowledge, 0x000006, false, 0, 0x1F, 5},
                               {'B', rc_acknowledge, 0x000007, false, 0, 0x1F, 6},
                               {'B', rc_acknowledge, 0x000008, false, 0, 0x1F, 7}}));

    a.post({.opcode = WorkOpcode::send, .length = 100});
    network.after(std::chrono::microseconds{100}, [&] { b.post_receive(0, 4096); });
    run();
    const std::vector<TraceFrame> frames = network.trace();
    EXPECT_EQ(seen(), to_text({{'A', rc_send_only, 0x000009, true, 100},
                               {'B', rc_acknowledge, 0x000009, false, 0, 0x2C, 7},
                               {'A', rc_send_only, 0x000009, true, 100},
                               {'B', rc_acknowledge, 0x000009, false, 0, 0x1F, 8},  // lost
                               {'A', rc_send_only, 0x000009, true, 100},
                               {'B', rc_acknowledge, 0x000009, false, 0, 0x1F, 8}}));
    ASSERT_GE(frames.size(), 3U);
    EXPECT_GE(frames[2].time - frames[1].time, std::chrono::microseconds{640});
    EXPECT_EQ(b.received().size(), 5U) << "a duplicate was delivered";
  }

  Pair pair_;
};

TEST_F(WorkedTrace, EndsWithARefusedWrite) {
  converse();
  pair_.a.post({.opcode = WorkOpcode::write, .length = 5, .id = 99, .r_key = RKey{0xBAD00}});
  run();
  EXPECT_EQ(seen(),
            to_text({{'A', rc_write_only, 0x00000A, true, 5}, {'B', rc_acknowledge, 0x00000A, false, 0, 0x62, 8}}));
  EXPECT_THAT(pair_.a.sent().back(), Ended(99, CompletionStatus::remote_access_error));
  EXPECT_EQ(pair_.a.state(), QpState::err);
  EXPECT_EQ(pair_.b.state(), QpState::err);
}

TEST_F(WorkedTrace, EndsWithAReadOfNothing) {
  converse();
  pair_.a.post({.opcode = WorkOpcode::read, .length = 0, .id = 99});
  run();
  EXPECT_EQ(seen(), to_text({{'A', rc_read_request, 0x00000A, true, 0},
                             {'B', rc_read_response_only, 0x00000A, false, 0, 0x1F, 9}}));
  EXPECT_THAT(pair_.a.sent().back(), Succeeded(99));
  EXPECT_EQ(must(pair_.a.device().query_qp(pair_.a.qpn())).sq_psn, Psn{0x00000B});
}

}  // namespace
}  // namespace roce::sim
