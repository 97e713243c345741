// SPDX-License-Identifier: BSD-2-Clause
// Conversations read from captures, compared with what the captured programs report that they posted.
#include "replay/converse/conversation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "replay/converse/captured_memory.h"
#include "replay/converse/conversations_of.h"
#include "roce/link/capture_reader.h"
#include "support/source_tree.h"

namespace roce::replay {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kSoftRoce = std::filesystem::path{roce::test::captures_folder()} / "softroce";

/// An operation in the terms of the ground truth.
struct Posted {
  std::string type;
  std::uint64_t length = 0;
  std::uint64_t address = 0;  ///< remote address; WRITE, READ and atomics only
  std::optional<std::uint32_t> immediate;

  friend bool operator==(const Posted&, const Posted&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Posted& posted) {
    out << posted.type << ' ' << posted.length << " at " << posted.address;
    return posted.immediate ? out << " immediate " << *posted.immediate : out;
  }
};

[[nodiscard]] Posted in_words(const CapturedOperation& operation) {
  Posted posted;
  switch (operation.operation) {
    case Operation::send:
      posted.type = operation.immediate ? "send_imm" : "send";
      break;
    case Operation::write:
      posted.type = operation.immediate ? "write_imm" : "write";
      break;
    case Operation::read_request:
      posted.type = "read";
      break;
    case Operation::compare_swap:
      posted.type = "cas";
      break;
    case Operation::fetch_add:
      posted.type = "faa";
      break;
    default:
      posted.type = "other";
  }
  posted.length = operation.length;
  if (operation.operation != Operation::send) posted.address = operation.remote_address;
  posted.immediate = operation.immediate;
  return posted;
}

/// Returns what one side of a case of the ground truth posted.
[[nodiscard]] std::vector<Posted> truth_of(const nlohmann::json& side) {
  std::vector<Posted> all;
  for (const nlohmann::json& entry : side.at("posted")) {
    Posted posted;
    posted.type = entry.at("t");
    const bool is_atomic = posted.type == "cas" || posted.type == "faa";
    posted.length = is_atomic ? 8 : entry.at("len").get<std::uint64_t>();
    if (!posted.type.starts_with("send")) {
      posted.address = side.at("peer").at("addr").get<std::uint64_t>() + entry.at("roff").get<std::uint64_t>();
    }
    if (entry.contains("imm")) posted.immediate = entry.at("imm").get<std::uint32_t>();
    all.push_back(std::move(posted));
  }
  return all;
}

[[nodiscard]] std::vector<Conversation> read(const std::string& name) {
  Outcome<CapturedConversations> captured = conversations_of((kSoftRoce / name).string());
  if (!captured) throw std::runtime_error(captured.error().message);
  return std::move(captured->conversations);
}

class ConversationTruth : public testing::TestWithParam<const char*> {};

TEST_P(ConversationTruth, HasWhatBothSidesPosted) {
  const std::string name = GetParam();
  std::ifstream file{kSoftRoce / (name + ".truth.json")};
  const nlohmann::json truth = nlohmann::json::parse(file);
  const std::vector<Conversation> conversations = read(name + ".tx.pcap");
  std::size_t compared = 0;
  for (const Conversation& conversation : conversations) {
    EXPECT_THAT(conversation.obstacles, IsEmpty());
    for (std::uint8_t side = 0; side < 2; ++side) {
      // Guest a is the server, 10.77.0.2 or fd77::2, and b the client.
      const bool is_client = to_string(conversation.ends.at(side)).ends_with('3');
      for (const nlohmann::json& told : truth.at(is_client ? "client" : "server")) {
        if (told.at("me").at("qpn") != conversation.qpns.at(side).value()) continue;
        std::vector<Posted> found;
        for (const CapturedOperation& operation : conversation.operations) {
          if (operation.side == side) found.push_back(in_words(operation));
        }
        EXPECT_EQ(found, truth_of(told)) << (is_client ? "client" : "server") << " of stream " << conversation.stream;
        compared += found.size();
      }
    }
  }
  EXPECT_GT(compared, 0U);
}

INSTANTIATE_TEST_SUITE_P(Captures, ConversationTruth,
                         testing::Values("rc-mix-v4", "rc-mix-v6", "rc-mtu-sweep", "rc-psn-wrap", "rc-drop-random",
                                         "rc-drop-requests", "rc-drop-responses", "rc-drop-atomic-ack",
                                         "rc-drop-read-middle", "rc-duplicate", "rc-reorder", "rc-corrupt", "rc-rnr",
                                         "rc-ecn-ce"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Returns the one connection of a capture whose packets `change` has changed.
template <typename Change>
[[nodiscard]] Conversation changed(const std::string& name, Change change) {
  link::Result<link::CaptureReader> reader = link::CaptureReader::open((kSoftRoce / name).string());
  if (!reader) throw std::runtime_error(reader.error().message);
  ConversationReader conversations;
  for (link::CaptureRecord record; reader->next(record);) {
    const std::span<const std::byte> bytes = change(record);
    const Packet packet = parse_frame(bytes, LinkType::ethernet, record.original_length);
    if (!bytes.empty() && packet.is_roce()) {
      conversations.observe(packet, check_icrc(packet), Time{Duration{record.timestamp_ns}}, {record.number, 0});
    }
  }
  std::vector<Conversation> all = conversations.finish();
  if (all.size() != 1) throw std::runtime_error("it is not one connection");
  return std::move(all.front());
}

constexpr const char* kMix = "rc-mix-v4.tx.pcap";

TEST(ConversationObstacles, AreNoneInAWholeCapture) {
  EXPECT_THAT(changed(kMix, [](const link::CaptureRecord& record) { return record.bytes; }).obstacles, IsEmpty());
}

TEST(ConversationObstacles, AreTheCutPayloads) {
  const Conversation cut = changed(kMix, [](const link::CaptureRecord& record) {
    return record.bytes.first(std::min(record.bytes.size(), std::size_t{96}));
  });
  EXPECT_THAT(cut.obstacles, Contains(HasSubstr("is cut short by the snap length")));
  EXPECT_THAT(cut.obstacles, Contains(HasSubstr("the data that came back for the READ in frame")));
}

TEST(ConversationObstacles, AreTheMissingDirection) {
  const Conversation half = changed(kMix, [](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    return packet.is_roce() && to_string(packet.net().source).ends_with(".2") ? std::span<const std::byte>{}
                                                                              : record.bytes;
  });
  EXPECT_THAT(half.obstacles, Not(IsEmpty()));
}

TEST(ConversationObstacles, AreTheMissingBeginning) {
  bool has_begun = false;
  const Conversation late = changed("pp-rc-drop.tx.pcap", [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    has_begun = has_begun || (packet.is_roce() && packet.info().position == Position::middle);
    return has_begun ? record.bytes : std::span<const std::byte>{};
  });
  EXPECT_THAT(late.obstacles, Contains(HasSubstr("had begun before the capture")));
}

TEST(ConversationRefusals, AreOperationsWithAllTheirData) {
  // The first packet of the last request is refused while its other two are on the way.
  const std::vector<Conversation> conversations = read("rc-errors.tx.pcap");
  ASSERT_EQ(conversations.size(), 8U);
  for (const Conversation& conversation : conversations) EXPECT_THAT(conversation.obstacles, IsEmpty());
  const CapturedOperation& refused = conversations.front().operations.back();
  EXPECT_EQ(refused.end, analysis::MessageEnd::refused);
  EXPECT_EQ(refused.length, 3000U);
  ASSERT_EQ(refused.data.size(), 3000U);
  EXPECT_NE(refused.data.back(), std::byte{0});
}

TEST(ConversationTimes, FollowWhatWasWaitedFor) {
  // In a ping-pong each message of one side follows one of the other.
  const std::vector<Conversation> conversations = read("pp-rc-drop.tx.pcap");
  ASSERT_EQ(conversations.size(), 1U);
  std::array<std::size_t, 2> counts{};
  for (const CapturedOperation& operation : conversations.front().operations) {
    const std::size_t number = counts.at(operation.side)++;
    EXPECT_EQ(operation.after_arrived, operation.side == 0 ? number : number + 1) << "frame " << operation.frame;
    EXPECT_GE(operation.think, Duration{});
  }
  EXPECT_EQ(counts[0], 20U);
  EXPECT_EQ(counts[1], 20U);
}

TEST(CapturedMemory, HasWhatReadsFoundAndWhatWritesLeft) {
  const RKey key{7};
  const auto bytes = [](std::size_t count, int value) { return std::vector<std::byte>(count, std::byte(value)); };
  Conversation conversation;
  const auto add = [&](Operation operation, std::uint64_t address, std::vector<std::byte> data) {
    CapturedOperation made;
    made.operation = operation;
    made.r_key = key;
    made.remote_address = address;
    made.length = static_cast<std::uint32_t>(data.size());
    made.end = analysis::MessageEnd::acknowledged;
    made.data = std::move(data);
    conversation.operations.push_back(std::move(made));
  };
  add(Operation::read_request, 0x1000, bytes(4, 1));
  add(Operation::write, 0x1002, bytes(4, 2));
  add(Operation::read_request, 0x1000, bytes(2, 1));
  // The program itself put something else there.
  add(Operation::read_request, 0x1004, bytes(2, 3));
  const auto memory = memory_of(conversation, 1);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->regions.size(), 1U);
  const CapturedRegion& region = memory->regions.front();
  EXPECT_EQ(region.address, 0x1000U);
  EXPECT_EQ(region.before,
            (std::vector{std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{0}, std::byte{0}}));
  EXPECT_EQ(region.after,
            (std::vector{std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}, std::byte{3}, std::byte{3}}));
  ASSERT_EQ(memory->changes.size(), 1U);
  EXPECT_EQ(memory->changes.front().operation, 3U);
  EXPECT_EQ(memory->changes.front().offset, 4U);
  EXPECT_TRUE(memory_of(conversation, 0)->regions.empty());
}

TEST(CapturedMemory, OfMoreThanIsAllowedIsRefused) {
  Conversation conversation;
  CapturedOperation far;
  far.operation = Operation::write;
  far.length = 1;
  far.data.resize(1);
  far.end = analysis::MessageEnd::acknowledged;
  conversation.operations = {far, far};
  conversation.operations[1].remote_address = std::uint64_t{1} << 40;
  const auto memory = memory_of(conversation, 1);
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.error(), HasSubstr("more memory than the 1024 MiB that are left"));
}

}  // namespace
}  // namespace roce::replay
