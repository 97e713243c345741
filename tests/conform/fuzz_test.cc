// SPDX-License-Identifier: BSD-2-Clause
// The fuzzer finds nothing on our endpoint, and finds faults that are planted in it. Each finding is a conformance case
// that fails with the fault and passes without.
//
// ROCE_FUZZ=SECONDS looks for every fault for so long, with the seeds 1 … ROCE_FUZZ_SEEDS (1), and prints what it took.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "conform/fuzz/finding_case.h"
#include "conform/fuzz/fuzzer.h"
#include "conform/language/read_case.h"
#include "conform/run/case_run.h"
#include "conform/target/memory_target.h"
#include "planted_fault.h"
#include "roce/transport/profile.h"

namespace roce::conform::fuzz {
namespace {

/// Plants a fault as long as it lives.
class Planted {
 public:
  explicit Planted(std::string_view name) {
    const auto found = std::ranges::find(fault_names(), name, &FaultName::name);
    if (found == fault_names().end()) throw std::invalid_argument("there is no fault " + std::string{name});
    plant(static_cast<std::size_t>(found - fault_names().begin()));
  }
  ~Planted() { plant(std::nullopt); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
};

Fuzzer make_fuzzer(const transport::Profile& profile, std::uint64_t seed) {
  return Fuzzer{[profile](std::uint64_t device) { return std::make_unique<MemoryTarget>(profile, device); },
                {.seed = seed}};
}

/// Runs programs until one shows a fault, at most `most`; null if none did.
const Finding* find_first(Fuzzer& fuzzer, std::uint64_t most) {
  while (fuzzer.knowledge().counts().programs < most) {
    const TargetResult<bool> is_new = fuzzer.step();
    if (!is_new) {
      ADD_FAILURE() << is_new.error();
      return nullptr;
    }
    if (*is_new) return &fuzzer.knowledge().findings().front();
  }
  return nullptr;
}

CaseOutcome run_case(const std::string& text, Target& target) {
  const CaseResult<Case> read = read_case("finding.yaml", text);
  if (!read) {
    ADD_FAILURE() << to_string(read.error()) << '\n' << text;
    return {};
  }
  const CaseResult<std::vector<Instance>> instances = expand(*read);
  return CaseRun{target, instances->front(), 1, {}}.run();
}

CaseOutcome run_case(const std::string& text) {
  MemoryTarget target{transport::strict_profile(), 1};
  return run_case(text, target);
}

class FuzzedProfiles : public testing::TestWithParam<transport::Profile> {};

TEST_P(FuzzedProfiles, DoNothingThatTheModelForbids) {
  Fuzzer fuzzer = make_fuzzer(GetParam(), 1);
  const Finding* finding = find_first(fuzzer, 1500);
  EXPECT_EQ(finding, nullptr) << finding->result.alarm->what << '\n' << case_text(*finding);
  EXPECT_GT(fuzzer.knowledge().counts().states, 20U);
  EXPECT_GT(fuzzer.knowledge().counts().signatures, 500U);
}
INSTANTIATE_TEST_SUITE_P(All, FuzzedProfiles,
                         testing::Values(transport::strict_profile(), transport::rxe_profile(),
                                         transport::hardware_like_profile()));

/// The name of a fault, and a seed.
class FuzzedFaults : public testing::TestWithParam<std::tuple<std::string_view, std::uint64_t>> {};

/// Returns how many frames the tester sends.
std::ptrdiff_t frames_of(const Program& program) {
  return std::ranges::count_if(program.actions, [](const Action& action) {
    return std::holds_alternative<Request>(action) || std::holds_alternative<Response>(action) ||
           std::holds_alternative<Message>(action);
  });
}

std::string name_of_fault(const testing::TestParamInfo<FuzzedFaults::ParamType>& one) {
  const auto& [name, seed] = one.param;
  return fmt::format("{}_{}", name, seed);
}

TEST_P(FuzzedFaults, BecomeCasesThatFailOnlyWithTheFault) {
  std::string text;
  {
    const auto& [name, seed] = GetParam();
    const Planted fault{name};
    Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), seed);
    const Finding* finding = find_first(fuzzer, 20'000);
    ASSERT_NE(finding, nullptr);
    EXPECT_LE(frames_of(finding->result.program), 5) << case_text(*finding);
    text = case_text(*finding);
    const CaseOutcome failed = run_case(text);
    EXPECT_EQ(failed.result, Result::fail) << text;
  }
  const CaseOutcome passed = run_case(text);
  EXPECT_EQ(passed.result, Result::pass) << (passed.failure ? passed.failure->what : "") << '\n' << text;
}
INSTANTIATE_TEST_SUITE_P(
    Some, FuzzedFaults,
    testing::Combine(testing::Values("qpn_20_bits", "psn_no_wrap", "dup_write_runs", "dup_atomic_runs",
                                     "dup_read_creeps", "nak_61_for_62", "rnr_moves_psn", "middle_starts",
                                     "write_sum_ignored", "range_end_one", "imm_length_0", "ack_future_ok",
                                     "ack_completes_read", "kind_ignored", "reserved_is_ack", "completes_twice",
                                     "format_no_a", "read_overrun", "read_placed_by_arrival", "init_executes",
                                     "icrc_at_frame_end", "v1_icrc_as_v2", "uc_joins", "uc_middle_starts", "uc_asks",
                                     "ud_area_20", "ud_qkey_literal", "go_back_skips", "reset_keeps_store",
                                     "reset_keeps_msn", "timeout_half", "timeout_never", "retry_one_more",
                                     "retry_no_refill", "rnr_wait_short", "credits_too_many", "window_range_ignored",
                                     "window_has_regions_rights", "window_any_qp", "bind_unchecked",
                                     "invalidate_not_done", "no_error_event", "no_established"),
                     testing::Values(1)),
    name_of_fault);
INSTANTIATE_TEST_SUITE_P(OfManagers, FuzzedFaults,
                         testing::Combine(testing::Values("cm_class_ignored", "cm_slots_leak", "cm_second_connection",
                                                          "cm_fields_unchecked", "cm_rtu_ignored", "cm_rtu_of_any",
                                                          "cm_long_ari_ignored", "cm_dreq_any_qpn", "cm_crossing_hangs",
                                                          "cm_no_drep", "cm_lap_silent"),
                                          testing::Values(1)),
                         name_of_fault);
// Of these a right device often takes another way than the one with the fault, before the fault shows.
INSTANTIATE_TEST_SUITE_P(SeveralTimes, FuzzedFaults,
                         testing::Combine(testing::Values("reserved_is_ack", "completes_twice"),
                                          testing::Values(2, 3, 4, 6, 7, 8, 19)),
                         name_of_fault);
INSTANTIATE_TEST_SUITE_P(OfDatagrams, FuzzedFaults, testing::Values(std::tuple{"ud_short_kills", 2}), name_of_fault);
INSTANTIATE_TEST_SUITE_P(OfKeysThatGo, FuzzedFaults, testing::Values(std::tuple{"key_at_first_only", 5}),
                         name_of_fault);

/// Our endpoint, with a fault that no planted one shows, from the first FETCH ADD on.
class HarmedTarget : public MemoryTarget {
 public:
  explicit HarmedTarget(std::uint64_t seed) : MemoryTarget(transport::strict_profile(), seed) {}

  void send(std::span<const std::byte> frame) override {
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    if (!harmer_ && packet.is_roce() && packet.opcode() == Opcode::rc_fetch_add) harmer_ = packet.bth().dest_qp;
    if (harmer_) {
      send_harmed(frame, packet);
    } else {
      deliver(frame);
    }
  }

 protected:
  [[nodiscard]] Qpn harmer() const { return *harmer_; }
  void deliver(std::span<const std::byte> frame) { MemoryTarget::send(frame); }

 private:
  virtual void send_harmed(std::span<const std::byte> frame, const Packet& packet) = 0;

  std::optional<Qpn> harmer_;
};

/// It serves no other QP any more.
class DeafTarget final : public HarmedTarget {
 public:
  using HarmedTarget::HarmedTarget;

 private:
  void send_harmed(std::span<const std::byte> frame, const Packet& packet) override {
    if (packet.is_roce() && packet.bth().dest_qp == harmer()) deliver(frame);
  }
};

TEST(Fuzzer, FindsThatOtherQpsAreServedNoMore) {
  Fuzzer fuzzer{[](std::uint64_t seed) { return std::make_unique<DeafTarget>(seed); }, {.seed = 1}};
  const Finding* finding = find_first(fuzzer, 1000);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->result.alarm->oracle, Oracle::liveness) << finding->result.alarm->what;
  EXPECT_EQ(finding->result.program.actions.size(), 1U);
  EXPECT_EQ(finding->shown, 20U);
  const std::string text = case_text(*finding);
  DeafTarget deaf{1};
  EXPECT_EQ(run_case(text, deaf).result, Result::fail) << text;
  EXPECT_EQ(run_case(text).result, Result::pass) << text;
}

/// It stops, and stays so.
class DyingTarget final : public HarmedTarget {
 public:
  DyingTarget(std::uint64_t seed, bool& is_dead) : HarmedTarget(seed), is_dead_(is_dead) {}

 private:
  void send_harmed(std::span<const std::byte> /*frame*/, const Packet& /*packet*/) override {
    is_dead_ = true;
    throw DeviceGone("nothing answers");
  }

  bool& is_dead_;
};

TEST(Fuzzer, KeepsWhatKilledTheDevice) {
  bool is_dead = false;
  const auto make = [&](std::uint64_t seed) -> std::unique_ptr<Target> {
    if (is_dead) throw DeviceGone("nothing answers");
    return std::make_unique<DyingTarget>(seed, is_dead);
  };
  Fuzzer fuzzer{make, {.seed = 1}};
  const Finding* finding = find_first(fuzzer, 1000);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->result.alarm->oracle, Oracle::gone);
  EXPECT_EQ(finding->repeats, 0U);
  const auto* last = std::get_if<Request>(&finding->result.program.actions.back());
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->opcode, Opcode::rc_fetch_add);
  EXPECT_FALSE(case_text(*finding).empty());
  EXPECT_THROW((void)fuzzer.step(), DeviceGone);
}

TEST(Fuzzer, LeavesOutWhatKillsTheDevice) {
  bool is_dead = false;
  unsigned deaths = 0;
  const auto make = [&](std::uint64_t seed) -> std::unique_ptr<Target> {
    if (is_dead) throw DeviceGone("nothing answers");
    return std::make_unique<DyingTarget>(seed, is_dead);
  };
  Fuzzer fuzzer{make, {.seed = 1}};
  while (fuzzer.knowledge().counts().programs < 2000) {
    try {
      while (auto suspect = fuzzer.knowledge().take_suspect()) fuzzer.try_again(std::move(*suspect));
      ASSERT_TRUE(fuzzer.step());
    } catch (const DeviceGone&) {
      ++deaths;
      is_dead = false;
      fuzzer.forget_device();
    }
  }
  // Any FETCH ADD kills it, and there are many shapes of these.
  EXPECT_GT(fuzzer.gate().left_out().size(), 1U);
  EXPECT_LT(deaths, 150U);
  EXPECT_EQ(fuzzer.knowledge().findings().size(), 1U);
}

/// It shows a fault in every second life only.
TEST(Fuzzer, AllowsThatAnOldNakIsIgnored) {
  Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), 1);
  Program program{.half = Half::requester, .path_mtu = 256, .first_psn = Psn{100}};
  // Its first packet is acknowledged, and then called missing.
  program.actions = {Post{.length = 257}, Response{}, Response{.syndrome = 0x60}};
  const TargetResult<ProgramResult> result = fuzzer.run(program);
  ASSERT_TRUE(result) << result.error();
  EXPECT_FALSE(result->alarm) << result->alarm->what;
}

TEST(Fuzzer, SaysHowOftenAFindingShowsAgain) {
  unsigned lives = 0;
  const auto make = [&](std::uint64_t seed) -> std::unique_ptr<Target> {
    if (++lives % 2 == 0) return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
    return std::make_unique<DeafTarget>(seed);
  };
  Fuzzer fuzzer{make, {.seed = 1}};
  const Finding* finding = find_first(fuzzer, 1000);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->shown, 10U);
  EXPECT_THAT(case_text(*finding), testing::StartsWith("# Shown by 10 of 20 runs"));
}

TEST(Fuzzer, CountsNoRetryForAnRnrNakAndOneForATimeout) {
  Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), 1);
  Program program{.half = Half::requester, .path_mtu = 256, .first_psn = Psn{100}};
  program.retry_count = 1;
  program.actions = {Post{}, Response{.syndrome = 0x21}, Wait{}, Wait{}};
  const TargetResult<ProgramResult> result = fuzzer.run(program);
  ASSERT_TRUE(result) << result.error();
  EXPECT_FALSE(result->alarm) << result->alarm->what;
  EXPECT_EQ(result->turns[2].answers.size(), 1U);
  EXPECT_EQ(result->turns[3].completions.size(), 1U);
}

TEST(Fuzzer, AllowsThatAnOldFlushIsIgnored) {
  Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), 1);
  const Request write{.payload = 8, .length = 8};
  Request flush = write;
  flush.psn = -1;
  flush.changes = {{.field = "bth.opcode", .value = "28"}};
  Program program{.path_mtu = 256, .first_psn = Psn{100}};
  program.access = transport::Access::remote_write;
  program.actions = {write, flush};
  const TargetResult<ProgramResult> result = fuzzer.run(program);
  ASSERT_TRUE(result) << result.error();
  EXPECT_FALSE(result->alarm) << result->alarm->what;
}

/// Returns how many devices it took until a fault had been found and examined.
unsigned devices_for(std::string_view fault_name, bool keeps_device) {
  const Planted fault{fault_name};
  unsigned lives = 0;
  const auto make = [&](std::uint64_t seed) {
    ++lives;
    return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
  };
  Fuzzer fuzzer{make, {.seed = 1, .keeps_device = keeps_device}};
  const Finding* finding = find_first(fuzzer, 20'000);
  EXPECT_TRUE(finding != nullptr && finding->shown == 20);
  return lives;
}

TEST(Fuzzer, KeepsADeviceOnlyAsLongAsItsMemoryIsRight) {
  EXPECT_LT(devices_for("nak_61_for_62", true), devices_for("nak_61_for_62", false) / 10);
  EXPECT_GT(devices_for("pad_in_memory", true), 20U);
}

/// A counter of it falls now and then.
class ForgetfulTarget final : public HarmedTarget {
 public:
  using HarmedTarget::HarmedTarget;
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    std::map<std::string, std::uint64_t> values = MemoryTarget::counters();
    if (is_harmed_) values["received_packets"] = 0;
    return values;
  }

 private:
  void send_harmed(std::span<const std::byte> frame, const Packet& /*packet*/) override {
    is_harmed_ = true;
    deliver(frame);
  }

  bool is_harmed_ = false;
};

TEST(Fuzzer, FindsACounterThatGoesBack) {
  Fuzzer fuzzer{[](std::uint64_t seed) { return std::make_unique<ForgetfulTarget>(seed); }, {.seed = 1, .repeats = 1}};
  const Finding* finding = find_first(fuzzer, 1000);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->result.alarm->oracle, Oracle::counters) << finding->result.alarm->what;
  const std::string text = case_text(*finding);
  ForgetfulTarget forgetful{1};
  EXPECT_EQ(run_case(text, forgetful).result, Result::fail) << text;
  EXPECT_EQ(run_case(text).result, Result::pass) << text;
}

TEST(Fuzzer, CallsALeakBySecret) {
  const Planted fault{"pd_ignored"};
  Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), 1);
  while (fuzzer.knowledge().counts().programs < 5000) ASSERT_TRUE(fuzzer.step());
  EXPECT_THAT(fuzzer.knowledge().findings(),
              testing::Contains(
                  testing::ResultOf([](const Finding& one) { return one.result.alarm->oracle; }, Oracle::secret)));
}

TEST(Fuzzer, RepeatsItselfWithTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), seed);
    (void)find_first(fuzzer, 200);
    return std::pair{fuzzer.knowledge().counts().frames, fuzzer.knowledge().counts().signatures};
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// True if a fault is one of those that were asked for, separated by commas; by default all are.
bool is_asked_for(std::string_view fault) {
  const char* asked = std::getenv("ROCE_FUZZ_FAULTS");
  return asked == nullptr || fmt::format(",{},", asked).find(fmt::format(",{},", fault)) != std::string::npos;
}

/// Prints how long it takes to find each fault, for fuzz_faults.py.
TEST(Measurement, OfTheTimeUntilEachFaultIsFound) {
  const auto seconds = number_of("ROCE_FUZZ", 60);
  for (std::size_t fault = 0; fault < fault_names().size(); ++fault) {
    if (!is_asked_for(fault_names()[fault].name)) continue;
    plant(fault);
    for (std::uint64_t seed = 1; seed <= number_of("ROCE_FUZZ_SEEDS", 1); ++seed) {
      Fuzzer fuzzer = make_fuzzer(transport::strict_profile(), seed);
      const auto begin = std::chrono::steady_clock::now();
      std::chrono::duration<double> spent{};
      while (fuzzer.knowledge().findings().empty() && spent.count() < static_cast<double>(seconds)) {
        (void)find_first(fuzzer, fuzzer.knowledge().counts().programs + 100);
        spent = std::chrono::steady_clock::now() - begin;
      }
      std::string verdict = "not found";
      if (!fuzzer.knowledge().findings().empty()) {
        const ProgramResult& result = fuzzer.knowledge().findings().front().result;
        const std::string text = case_text(fuzzer.knowledge().findings().front());
        const bool fails = run_case(text).result == Result::fail;
        plant(std::nullopt);
        const CaseOutcome right = run_case(text);
        plant(fault);
        verdict =
            fmt::format("{} actions, its case {} with the fault and {} without: {}", result.program.actions.size(),
                        fails ? "fails" : "PASSES",
                        right.result == Result::pass ? "passes" : "FAILS " + (right.failure ? right.failure->what : ""),
                        result.alarm->what);
      }
      fmt::print("{:<26} seed {} {:>8.2f} s {:>9} frames  {}\n", fault_names()[fault].name, seed, spent.count(),
                 fuzzer.knowledge().counts().frames, verdict);
    }
  }
  plant(std::nullopt);
}

}  // namespace
}  // namespace roce::conform::fuzz
