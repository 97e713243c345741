// SPDX-License-Identifier: BSD-2-Clause
// Commands of NVMe whose set-up nobody saw, frame by frame.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "roce/analysis/nvme.h"
#include "roce/wire/all_headers.h"

namespace roce::analysis {
namespace {

const Gid kHost = Gid::from_ipv4({{10, 0, 0, 1}});
const Gid kTarget = Gid::from_ipv4({{10, 0, 0, 2}});

/// A host and a target, 1 us from packet to packet.
class NvmeWire {
 public:
  explicit NvmeWire(std::size_t most_commands = 100, std::size_t most_queues = 100)
      : survey_{{.targets = {kTarget}, .most_queues = most_queues, .most_commands = most_commands}} {}

  void command(std::uint16_t id, std::uint8_t opcode = 2, std::uint32_t qp = 0x22) {
    std::vector<std::byte> capsule(NvmeCommand::kBytes);
    capsule[0] = std::byte{opcode};
    capsule[1] = std::byte{0x40};
    put(capsule, 2, id);
    put(capsule, 35, id);  // the key of its memory
    capsule[33] = std::byte{0x10};
    capsule[39] = std::byte{0x40};
    packet(true, qp, host_psn_++, Opcode::rc_send_only, capsule);
  }
  void ack() { packet(false, 0x11, host_psn_ - 1, Opcode::rc_acknowledge, std::vector(4, std::byte{0x1F})); }
  void response(std::uint16_t id) {
    std::vector<std::byte> capsule(NvmeCompletion::kBytes);
    put(capsule, 12, id);
    packet(false, 0x11, target_psn_++, Opcode::rc_send_only, capsule);
  }
  void data(std::uint16_t id) {
    std::vector<std::byte> write(kSize<Reth> + 64);
    roce::write(Reth{.r_key = RKey{id}, .dma_length = 64}, write.data());
    packet(false, 0x11, target_psn_++, Opcode::rc_write_only, write);
  }

  std::vector<NvmeExchange> finish() {
    survey_.finish();
    std::vector<NvmeExchange> all;
    survey_.drain(all);
    return all;
  }
  [[nodiscard]] const NvmeSurvey& survey() const { return survey_; }

 private:
  static void put(std::vector<std::byte>& bytes, std::size_t at, std::uint16_t value) {
    bytes[at] = static_cast<std::byte>(value & 0xFF);
    bytes[at + 1] = static_cast<std::byte>(value >> 8U);
  }
  void packet(bool is_forth, std::uint32_t qp, std::uint32_t psn, Opcode opcode, const std::vector<std::byte>& rest) {
    std::vector<std::byte> bytes(kSize<Bth>);
    write(Bth{.opcode = opcode, .dest_qp = Qpn{qp}, .psn = Psn{psn}}, bytes.data());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    bytes.resize(bytes.size() + 4);
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = is_forth ? kHost : kTarget;
    net.destination = is_forth ? kTarget : kHost;
    const Packet parsed = parse_transport(bytes, net, static_cast<std::uint32_t>(bytes.size()));
    const Observation seen =
        observe_packet(parsed, {}, Time{Duration{static_cast<std::int64_t>(++frame_) * 1000}}, {frame_});
    survey_.observe(parsed, seen, tracker_.observe(seen));
  }

  Tracker tracker_;
  NvmeSurvey survey_;
  std::uint64_t frame_ = 0;
  std::uint32_t host_psn_ = 100;
  std::uint32_t target_psn_ = 5000;
};

TEST(NvmeSurvey, PairsResponsesInAnyOrder) {
  NvmeWire wire;
  wire.command(1);
  wire.ack();
  wire.command(2);
  wire.command(3);
  wire.data(3);
  wire.response(3);
  wire.data(1);
  wire.response(1);
  wire.response(2);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].command.command_id, 3);
  EXPECT_EQ(all[0].until_data(), Duration{1000});
  EXPECT_EQ(all[0].data_bytes, 64U);
  EXPECT_EQ(all[1].command.command_id, 1);
  EXPECT_EQ(all[1].latency(), Duration{7000});
  EXPECT_EQ(all[2].has_data(), false);
  const NvmeQueue queue = wire.survey().queues().at(0);
  EXPECT_EQ(queue.most_outstanding, 3U);
  EXPECT_EQ(queue.host, kHost);
  EXPECT_EQ(queue.target_qp, Qpn{0x22});
  EXPECT_EQ(queue.queue_id, std::nullopt);
  EXPECT_FALSE(queue.is_admin);
}

TEST(NvmeSurvey, AnIdentifierThatIsUsedAgainEndsTheCommandBefore) {
  NvmeWire wire;
  wire.command(7);
  wire.ack();
  wire.command(7);
  wire.response(7);
  wire.response(7);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].end, NvmeEnd::missed);
  EXPECT_EQ(all[1].end, NvmeEnd::answered);
  EXPECT_EQ(wire.survey().queues().at(0).responses_without_command, 1U);
}

TEST(NvmeSurvey, ACommandThatWaitsLongerThanAnyIsUnanswered) {
  NvmeWire wire;
  wire.command(1);
  wire.ack();
  wire.response(1);
  wire.command(2);
  for (std::uint16_t id = 10; id < 20; ++id) {
    wire.command(id);
    wire.response(id);
  }
  wire.command(3);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 13U);
  EXPECT_EQ(all[11].command.command_id, 2);
  EXPECT_EQ(all[11].end, NvmeEnd::unanswered);
  EXPECT_EQ(all[12].command.command_id, 3);
  EXPECT_EQ(all[12].end, NvmeEnd::open);
}

TEST(NvmeSurvey, AnAdminQueueIsKnownByItsCommands) {
  NvmeWire wire;
  wire.command(1, 0x06);
  wire.ack();
  EXPECT_TRUE(wire.survey().queues().at(0).is_admin);
}

TEST(NvmeSurvey, KeepsNoMoreThanItMay) {
  constexpr std::size_t kMost = 16;
  NvmeWire wire{kMost};
  for (std::uint16_t id = 0; id < 5000; ++id) wire.command(id);
  wire.ack();
  // Twice as many things are kept: commands, and messages that belong to them.
  const std::vector<NvmeExchange> all = wire.finish();
  EXPECT_LE(all.size(), 2 * kMost);
  EXPECT_GE(all.size(), kMost);
  EXPECT_EQ(all.size() + wire.survey().uncounted(), 5000U);
}

TEST(NvmeSurvey, FollowsNoMoreQueuesThanItMay) {
  NvmeWire wire{100, 2};
  for (std::uint32_t qp = 1; qp <= 5; ++qp) wire.command(1, 2, 0x20 + qp);
  EXPECT_EQ(wire.survey().queues().size(), 2U);
  EXPECT_EQ(wire.survey().uncounted(), 3U);
}

}  // namespace
}  // namespace roce::analysis
