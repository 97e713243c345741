// SPDX-License-Identifier: BSD-2-Clause
// How long fuzzers that know less or more take to find a planted fault: what the state model, the corpus and the
// coverage of the endpoint are worth. fuzz_ablation.py runs it and makes a table.
//
// usage: fuzz_ablation FAULT LEVEL SEED SECONDS
// SECONDS: at most so much time of a processor.
// LEVEL: flips, replay, grammar: those of PlainFuzzer; model: ours without a corpus; corpus: ours as it is; coverage:
// ours, which also goes on from a program in which code of the endpoint ran for the first time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "conform/fuzz/fuzzer.h"
#include "conform/target/memory_target.h"
#include "plain_fuzzer.h"
#include "planted_fault.h"
#include "roce/transport/profile.h"

namespace {

constexpr std::size_t kPlaces = 1U << 16U;

/// Which places of the endpoint's code have run, by a hash of their addresses.
std::array<bool, kPlaces> has_run{};
bool is_new = false;

}  // namespace

// The compiler calls it at each branch of the endpoint, by this name.
extern "C" void note_place() __asm__("__sanitizer_cov_trace_pc");
extern "C" void note_place() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  bool& place = has_run[(address ^ (address >> 16U)) % kPlaces];
  is_new = is_new || !place;
  place = true;
}

namespace roce::conform::fuzz {
namespace {

/// Returns the seconds of a processor that this program has used, which other programs do not change much.
double seconds_used() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::unique_ptr<Target> make_target(std::uint64_t seed) {
  return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
}

/// Returns a function that runs some programs, and returns whether one raised an alarm; and counts frames.
std::function<bool(std::uint64_t& frames)> make_step(std::string_view level, std::uint64_t seed) {
  constexpr std::array plain{std::pair{std::string_view{"flips"}, Plainness::flips},
                             std::pair{std::string_view{"replay"}, Plainness::replay},
                             std::pair{std::string_view{"grammar"}, Plainness::grammar}};
  const auto* found = std::ranges::find(plain, level, &std::pair<std::string_view, Plainness>::first);
  if (found != plain.end()) {
    return [fuzzer = std::make_shared<PlainFuzzer>(make_target, found->second, seed)](std::uint64_t& frames) {
      const std::optional<Alarm> alarm = fuzzer->step();
      frames = fuzzer->frames();
      if (alarm) fmt::print("{}\n", alarm->what);
      return alarm.has_value();
    };
  }
  Fuzzer::Settings settings{.seed = seed, .repeats = 0, .trials = 0};
  settings.keeps_corpus = level != "model";
  if (level == "coverage") settings.has_new_coverage = [] { return std::exchange(is_new, false); };
  return [fuzzer = std::make_shared<Fuzzer>(make_target, settings)](std::uint64_t& frames) {
    const bool has_found = fuzzer->step().value();
    frames = fuzzer->knowledge().counts().frames;
    if (has_found) fmt::print("{}\n", fuzzer->knowledge().findings().front().result.alarm->what);
    return has_found;
  };
}

int run(std::string_view fault, std::string_view level, std::uint64_t seed, double seconds) {
  const auto found = std::ranges::find(fault_names(), fault, &FaultName::name);
  if (found != fault_names().end()) plant(static_cast<std::size_t>(found - fault_names().begin()));
  if (found == fault_names().end() && fault != "none") {
    fmt::print(stderr, "there is no fault {}\n", fault);
    return 2;
  }
  const auto step = make_step(level, seed);
  const double begin = seconds_used();
  std::uint64_t frames = 0;
  bool has_found = false;
  while (!has_found && seconds_used() - begin < seconds) has_found = step(frames);
  fmt::print("{} {:.2f} {}\n", has_found ? "found" : "nothing", seconds_used() - begin, frames);
  return 0;
}

}  // namespace
}  // namespace roce::conform::fuzz

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: fuzz_ablation FAULT LEVEL SEED SECONDS\n");
    return 2;
  }
  return roce::conform::fuzz::run(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), std::strtod(argv[4], nullptr));
}
