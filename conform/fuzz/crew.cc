// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/crew.h"

#include <chrono>
#include <thread>
#include <utility>

#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{50};
// On a wire a finding can take minutes to become as short as can be.
constexpr Clock::duration kLastWork = std::chrono::seconds{5};

}  // namespace

Crew::Crew(const std::vector<TargetFactory>& ways, const Fuzzer::Settings& settings)
    : knowledge_(std::make_shared<Knowledge>()) {
  const auto gate = std::make_shared<Gate>(settings.frames_a_second);
  fuzzers_.reserve(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Fuzzer::Settings own = settings;
    if (i != 0) own.seed = mix(settings.seed, i);
    own.is_over = [this] {
      return is_over_ && Clock::now().time_since_epoch().count() - over_since_ > kLastWork.count();
    };
    fuzzers_.push_back(std::make_unique<Fuzzer>(ways[i], own, knowledge_, gate));
  }
}

TargetResult<void> Crew::run(std::uint64_t most_programs, const std::function<bool()>& watch) {
  most_programs_ = most_programs;
  begun_ = knowledge_->counts().programs;
  refused_.reset();
  thrown_ = nullptr;
  working_ = fuzzers_.size();
  {
    std::vector<std::jthread> threads;
    threads.reserve(fuzzers_.size());
    for (const auto& fuzzer : fuzzers_) threads.emplace_back([this, &fuzzer] { work(*fuzzer); });
    std::unique_lock lock{mutex_};
    while (!ended_.wait_for(lock, kBetweenLooks, [this] { return working_ == 0; })) {
      lock.unlock();
      if (!watch()) end();
      lock.lock();
    }
  }
  is_over_ = false;
  if (thrown_) std::rethrow_exception(thrown_);
  if (refused_) return tl::unexpected(*refused_);
  return {};
}

bool Crew::may_begin() {
  return !is_over_ && (most_programs_ == 0 || begun_++ < most_programs_);
}

void Crew::end() {
  if (is_over_) return;
  over_since_ = Clock::now().time_since_epoch().count();
  is_over_ = true;
}

void Crew::work(Fuzzer& fuzzer) {
  std::optional<std::string> refused;
  std::exception_ptr thrown;
  try {
    while (!refused && may_begin()) {
      if (TargetResult<bool> is_new = fuzzer.step(); !is_new) refused = std::move(is_new.error());
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  if (refused || thrown) end();
  const std::lock_guard lock{mutex_};
  if (!refused_) refused_ = std::move(refused);
  if (!thrown_) thrown_ = thrown;
  if (--working_ == 0) ended_.notify_one();
}

void Crew::remember(FuzzMemory memory) {
  for (const auto& fuzzer : fuzzers_) fuzzer->begin_behind(memory.programs);
  for (const std::uint64_t shape : memory.left_out) first().gate().leave_out(shape);
  knowledge_->remember(std::move(memory));
}

FuzzMemory Crew::memory() const {
  FuzzMemory memory = knowledge_->memory();
  memory.left_out = first().gate().left_out();
  return memory;
}

void Crew::forget_devices() {
  for (const auto& fuzzer : fuzzers_) fuzzer->forget_device();
}

}  // namespace roce::conform::fuzz
