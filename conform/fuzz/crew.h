// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conform/fuzz/fuzzer.h"

namespace roce::conform::fuzz {

/// Fuzzers of one device that learn together, each with a thread and a way to the device of its own: on a wire they
/// mostly wait for it.
class Crew {
 public:
  /// A fuzzer for each of `ways`, of which there has to be one. The first has the seed of `settings`, the others have
  /// seeds that follow from it.
  Crew(const std::vector<TargetFactory>& ways, const Fuzzer::Settings& settings);

  /// Runs programs until `watch`, which is called several times a second by the calling thread, returns false, or until
  /// the knowledge has `most_programs`; 0: no limit. What is under way then is brought to its end, but a finding stays
  /// as it is 5 s later. Error: the device cannot be used. Throws DeviceGone.
  [[nodiscard]] TargetResult<void> run(std::uint64_t most_programs, const std::function<bool()>& watch);

  /// Goes on where other fuzzers ended, with other conversations. To be called before `run`.
  void remember(FuzzMemory memory);
  /// Returns all that another crew needs to go on.
  [[nodiscard]] FuzzMemory memory() const;
  /// Lets go of the device, before another one takes its place.
  void forget_devices();
  [[nodiscard]] Knowledge& knowledge() const { return *knowledge_; }
  /// Returns a fuzzer for what is to be done alone, while `run` is not under way.
  [[nodiscard]] Fuzzer& first() const { return *fuzzers_.front(); }

 private:
  /// Runs programs in a thread.
  void work(Fuzzer& fuzzer);
  /// Returns true if one more program may begin.
  [[nodiscard]] bool may_begin();
  /// Lets nothing more begin.
  void end();

  std::shared_ptr<Knowledge> knowledge_;
  std::vector<std::unique_ptr<Fuzzer>> fuzzers_;
  std::uint64_t most_programs_ = 0;
  std::atomic<std::uint64_t> begun_{0};  ///< programs
  std::atomic<bool> is_over_{false};     ///< nothing more is begun
  std::atomic<std::chrono::steady_clock::rep> over_since_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t working_ = 0;             ///< threads
  std::optional<std::string> refused_;  ///< the first error
  std::exception_ptr thrown_;           ///< the first exception
};

}  // namespace roce::conform::fuzz
