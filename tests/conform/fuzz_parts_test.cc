// SPDX-License-Identifier: BSD-2-Clause
// Parts of the fuzzer that need no device: programs as text, the choice of a merge, routers, growth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "conform/commands/fuzz_target.h"
#include "conform/commands/growth.h"
#include "conform/fuzz/counter_check.h"
#include "conform/fuzz/event_match.h"
#include "conform/fuzz/fuzzer.h"
#include "conform/fuzz/merge.h"
#include "conform/fuzz/program_text.h"
#include "conform/fuzz/service.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform::fuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CaseResult<Program> read(const std::string& text) {
  return read_source("program.yaml", text).and_then(read_program);
}

TEST(ProgramText, IsReadAsWhatItWasWrittenFrom) {
  Fuzzer fuzzer{[](std::uint64_t seed) { return std::make_unique<MemoryTarget>(transport::strict_profile(), seed); },
                {.seed = 3}};
  while (fuzzer.knowledge().counts().programs < 300) ASSERT_TRUE(fuzzer.step());
  const std::vector<Program> programs = fuzzer.knowledge().take_kept();
  ASSERT_GT(programs.size(), 100U);
  for (const Program& program : programs) {
    const std::string text = program_text(program);
    const CaseResult<Program> again = read(text);
    ASSERT_TRUE(again) << to_string(again.error()) << '\n' << text;
    EXPECT_EQ(again->actions, program.actions) << text;
    EXPECT_EQ(again->half, program.half);
    EXPECT_EQ(again->path_mtu, program.path_mtu);
    EXPECT_EQ(again->first_psn, program.first_psn);
    EXPECT_EQ(again->type, program.type);
    EXPECT_EQ(again->version, program.version);
    EXPECT_EQ(again->state, program.state);
    EXPECT_EQ(again->access, program.access);
    EXPECT_EQ(again->retry_count, program.retry_count);
  }
}

struct Mistake {
  const char* text;
  const char* message;
};

class MistakesInPrograms : public testing::TestWithParam<Mistake> {};

TEST_P(MistakesInPrograms, AreNamed) {
  const CaseResult<Program> program = read(GetParam().text);
  ASSERT_FALSE(program);
  EXPECT_THAT(to_string(program.error()), HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    All, MistakesInPrograms,
    testing::Values(
        Mistake{"for: nobody\nactions: []", "1:6: for: expected responder or requester or manager, found \"nobody\""},
        Mistake{"actions: [{post: {}}]",
                "action \"post\" is unknown; there are: request, receive, deregister, restart, bind"},
        Mistake{"for: requester\nactions: [{request: {}}]", "there are: post, response, wait"},
        Mistake{"retry_count: 8\nactions: []", "retry_count: expected 0 to 7, found 8"},
        Mistake{"actions: [{request: {payload: 4294967295}}]", "4294967295 bytes are too many"},
        Mistake{"for: requester\nactions: [{restart: {}}]", "there are: post, response"},
        Mistake{"actions: [{restart: {psn: far}}]", "psn: expected a whole number, found \"far\""},
        Mistake{"actions: [{deregister: {key: right}}]", "\"key\" is unknown"},
        Mistake{"actions: [{request: {payload: -1}}]", "expected a whole number, found \"-1\""},
        Mistake{"actions: [{request: {opcode: RC_NOTHING}}]", "\"RC_NOTHING\" is no opcode"},
        Mistake{"actions: [{request: {key: mine}}]", "key: expected right or variant"},
        Mistake{"actions: [{receive: {length: 4096}}]", "at most 2048 are possible"},
        Mistake{"for: requester\nactions: [{post: {opcode: flush}}]", "\"flush\" is no request"},
        Mistake{"type: uc\nfor: requester\nactions: [{post: {opcode: read}}]", "a uc QP takes no read"},
        Mistake{"type: ud\nfor: requester\nactions: [{post: {opcode: write}}]", "a ud QP takes no write"},
        Mistake{"for: requester\nstate: INIT\nactions: []", "only programs for a responder can have another one"},
        Mistake{"for: manager\ntype: uc\nactions: []", "type: only RC QPs are connected"},
        Mistake{"for: manager\nactions: [{bind: {}}]", "there are: message, disconnect"},
        Mistake{"for: manager\nactions: [{message: {kind: sidr}}]", "kind: expected req or mra or rej"},
        Mistake{"actions: [{bind: {length: 0}}]", "a window has at least one byte"},
        Mistake{"actions: [{bind: {variant: 0}}]", "variant: expected 1 to 255, found 0"},
        Mistake{"actions: [{bind: {region: gone}}]", "region: expected right, other_pd or closed"},
        Mistake{"version: v3\nactions: []", "version: expected own or v1 or v2_ipv4 or v2_ipv6"},
        Mistake{"path_mtu: 100\nactions: []", "path_mtu: expected 256, 512, 1024, 2048, 4096, found 100"},
        Mistake{"access: [all]\nactions: []", "access"}, Mistake{"path_mtu: 256", "has actions"},
        Mistake{"colour: red\nactions: []", "member of a program \"colour\" is unknown"}));

TEST(ProgramText, HasAtMostSoManyActions) {
  std::string text = "actions:\n";
  for (std::size_t i = 0; i <= kMostActions; ++i) text += "- receive: {}\n";
  EXPECT_FALSE(read(text));
}

TEST(EventMatch, FindsAWayInWhichTheyFit) {
  using enum transport::EventType;
  const AwaitedEvent may{.types = {communication_established}, .is_required = false};
  const AwaitedEvent must{.types = {communication_established}};
  const AwaitedEvent refused{.types = {qp_request_error}};
  EXPECT_FALSE(find_mismatch({may, must, refused, may}, {communication_established, qp_request_error}));
  EXPECT_FALSE(find_mismatch({may, must, refused, may},
                             {communication_established, qp_request_error, communication_established}));
  EXPECT_FALSE(
      find_mismatch({may, must, refused}, {communication_established, communication_established, qp_request_error}));
  EXPECT_FALSE(find_mismatch({may}, {}));
}

TEST(EventMatch, NamesWhatIsMissingAndWhatIsTooMuch) {
  using enum transport::EventType;
  const AwaitedEvent must{.types = {communication_established}};
  const AwaitedEvent refused{.types = {qp_request_error, qp_fatal}};
  const auto missing = find_mismatch({must, refused}, {communication_established, qp_access_error});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->expected, qp_request_error);
  EXPECT_EQ(missing->seen, qp_access_error);
  const auto too_many = find_mismatch({must}, {communication_established, communication_established});
  ASSERT_TRUE(too_many);
  EXPECT_EQ(too_many->expected, std::nullopt);
  EXPECT_EQ(too_many->seen, communication_established);
}

TEST(Merge, ChoosesFewAndShortPrograms) {
  const std::vector<Measured> programs{{{1, 2}, 5}, {{1, 2, 3}, 9}, {{3}, 1}, {{4}, 7}, {{4, 4}, 2}, {{}, 1}};
  EXPECT_THAT(choose_fewest(programs), ElementsAre(1, 4));
}

TEST(CounterCheck, AllowsWhatOthersMayDoToo) {
  CounterCheck check{{{"sent_packets", 10}, {"duplicate_requests", 1}}};
  EXPECT_FALSE(check.judge({{"sent_packets", 15}, {"duplicate_requests", 1}, {"new", 1}}, 3));
  EXPECT_FALSE(check.judge({{"sent_packets", 15}, {"duplicate_requests", 2}, {"new", 1}}, 0));
}

TEST(CounterCheck, NamesWhatCannotBe) {
  const auto place_of = [](const CounterCheck::Counters& now, std::uint64_t frames) {
    CounterCheck check{{{"sent_packets", 10}, {"duplicate_requests", 1}}};
    const auto deviation = check.judge(now, frames);
    return deviation ? deviation->place : std::string{};
  };
  EXPECT_EQ(place_of({{"sent_packets", 12}, {"duplicate_requests", 0}}, 2), "duplicate_requests went back");
  EXPECT_EQ(place_of({{"sent_packets", 12}}, 2), "duplicate_requests is gone");
  EXPECT_EQ(place_of({{"sent_packets", 12}, {"duplicate_requests", 1}}, 3), "sent_packets is too small");
}

TEST(Opcodes, OfOtherServicesKeepTheOperation) {
  EXPECT_EQ(with_service(Opcode::rc_write_last_imm, Service::uc), Opcode::uc_write_last_imm);
  EXPECT_EQ(with_service(Opcode::rc_send_only, Service::ud), Opcode::ud_send_only);
  EXPECT_EQ(service_of(static_cast<Opcode>(0x7F)), Service::ud);
}

}  // namespace
}  // namespace roce::conform::fuzz

namespace roce::conform {
namespace {

using testing::ElementsAre;

TEST(Gateways, AreReadFromTheTablesOfTheKernel) {
  std::istringstream route{
      "Iface\tDestination\tGateway \tFlags\tRefCnt\n"
      "eth0\t00000000\t010200C0\t0003\t0\n"
      "eth0\t000200C0\t00000000\t0001\t0\n"};
  const std::string none(32, '0');
  std::istringstream ipv6_route{none + " 00 " + none + " 00 20010db8000000000000000000000001 00000400 eth0\n" + none +
                                " 00 " + none + " 00 " + none + " 00000400 eth0\nno route\n"};
  const std::vector<Gid> gateways = read_gateways(route, ipv6_route);
  ASSERT_EQ(gateways.size(), 2U);
  EXPECT_EQ(to_string(gateways[0]), "192.0.2.1");
  EXPECT_EQ(to_string(gateways[1]), "2001:db8::1");
}

TEST(NameServers, AreReadFromTheFileOfTheResolver) {
  std::istringstream resolv_conf{
      "# nameserver 192.0.2.1\n"
      "search example.org\n"
      "nameserver 192.0.2.53\n"
      "nameserver\t2001:db8::53\n"
      "nameserver fe80::1%eth0\n"
      "nameserver\n"
      "nameserver dns.example.org\n"
      "nameserver 127.0.0.53 trailing words\n"};
  const std::vector<Gid> servers = read_name_servers(resolv_conf);
  std::vector<std::string> texts;
  texts.reserve(servers.size());
  for (const Gid& server : servers) texts.push_back(to_string(server));
  EXPECT_THAT(texts, ElementsAre("192.0.2.53", "2001:db8::53", "fe80::1", "127.0.0.53"));
}

TEST(Growth, IsThatOfTheLastMinute) {
  Growth growth{10, 100};
  growth.add(11, 100);
  EXPECT_EQ(growth.last(), 10);
  growth.add(20, 150);
  EXPECT_EQ(growth.in_last_minute(), 50U);
  for (int second = 21; second < 200; ++second) growth.add(second, 150);
  EXPECT_EQ(growth.in_last_minute(), 0U);
  EXPECT_EQ(growth.last(), 20);
}

}  // namespace
}  // namespace roce::conform
