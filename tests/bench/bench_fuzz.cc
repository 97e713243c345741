// SPDX-License-Identifier: BSD-2-Clause
// Conversations of roce-conform fuzz with our endpoint in memory, compared with a bare loop that only builds and seals
// the same frames. The endpoint's part, which answers them, is in the first.
#include <benchmark/benchmark.h>

#include <memory>
#include <stdexcept>
#include <variant>
#include <vector>

#include "conform/fuzz/fuzzer.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/request_frame.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint64_t kSeed = 1;

std::unique_ptr<Target> make_target(std::uint64_t seed) {
  return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
}

template <typename T>
T must(TargetResult<T> result) {
  if (!result) throw std::runtime_error(result.error());
  return std::move(*result);
}

/// Requests that programs have sent, and what is needed to build them again.
class Sent {
 public:
  explicit Sent(std::size_t programs) : target_(make_target(kSeed)), bench_(must(Bench::make(*target_, gate_, {}))) {
    Random random{kSeed};
    while (bench_.has_room() && programs-- != 0) {
      for (Turn& turn : must(run_made_up(bench_, new_program(random, {}), random)).turns) {
        const bool was_sent = std::holds_alternative<Request>(turn.action) && !turn.frame.empty();
        if (was_sent) requests_.push_back(std::get<Request>(std::move(turn.action)));
      }
    }
  }
  [[nodiscard]] const std::vector<Request>& requests() const { return requests_; }
  [[nodiscard]] std::vector<std::byte> build(const Request& request) {
    return build_request(request, bench_.clean(), bench_, target_->port());
  }

 private:
  Gate gate_{0};
  std::unique_ptr<Target> target_;
  Bench bench_;
  std::vector<Request> requests_;
};

void count_frames(benchmark::State& state, std::uint64_t frames) {
  state.SetItemsProcessed(static_cast<std::int64_t>(frames));
  state.counters["packet"] =
      benchmark::Counter(static_cast<double>(frames),
                         benchmark::Counter::kDefaults | benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Measures conversations: frames in both directions.
void fuzz_conversations(benchmark::State& state) {
  Fuzzer fuzzer{make_target, {.seed = kSeed}};
  for (auto _ : state) {
    if (must(fuzzer.step())) return state.SkipWithError("the endpoint does wrong");
  }
  count_frames(state, fuzzer.knowledge().counts().frames);
}

void fuzz_bare(benchmark::State& state) {
  constexpr std::size_t most_programs = 50;
  Sent sent{most_programs};
  std::uint64_t frames = 0;
  for (auto _ : state) {
    for (const Request& request : sent.requests()) benchmark::DoNotOptimize(sent.build(request).data());
    frames += sent.requests().size();
  }
  count_frames(state, frames);
}

BENCHMARK(fuzz_conversations);
BENCHMARK(fuzz_bare);

}  // namespace

}  // namespace roce::conform::fuzz
