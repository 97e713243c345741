// SPDX-License-Identifier: BSD-2-Clause
// The input is a conversation with a device, as roce-conform fuzz keeps it in its corpus: the two can share a folder.
// Required: our endpoint does only what the model of that fuzzer allows. New conversations are made up as there, so
// that they go on in the state that the endpoint is in; what is worth keeping the coverage of the endpoint says.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "conform/fuzz/fuzzer.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/program_text.h"
#include "conform/language/source_node.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace {

using namespace roce::conform;
using namespace roce::conform::fuzz;

std::optional<Program> read(const std::uint8_t* data, std::size_t size) {
  // No program of so few actions is longer.
  constexpr std::size_t most = 8192;
  if (size > most) return std::nullopt;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const CaseResult<Program> program = read_source("program.yaml", text).and_then(read_program);
  return program ? std::optional{*program} : std::nullopt;
}

template <typename T>
T must(TargetResult<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "the endpoint refuses: {}\n", result.error());
  std::abort();
}

/// The endpoint, with regions that have been filled.
class Device {
 public:
  explicit Device(std::uint64_t seed)
      : target_(roce::transport::strict_profile(), seed), bench_(must(Bench::make(target_, gate_, {}))) {
    check(must(fill_regions(bench_)));
  }
  [[nodiscard]] bool is_worn() const { return !bench_.has_room(); }
  [[nodiscard]] bool has_what_is_needed_by(const Program& program) const { return bench_.port_of(program) != nullptr; }
  ProgramResult run(const Program& program) { return must(run_program(bench_, program)); }
  ProgramResult run_made_up(const Program& from, Random& random) {
    return must(fuzz::run_made_up(bench_, from, random));
  }

  static void check(const ProgramResult& result) {
    if (!result.alarm) return;
    fmt::print(stderr, "{}\n{}", result.alarm->what, program_text(result.program));
    std::abort();
  }

 private:
  Gate gate_{0};
  MemoryTarget target_;
  Bench bench_;
};

/// Returns an endpoint that has room for a program: a new one for each would take most of the time.
Device& device(std::uint64_t seed) {
  static std::unique_ptr<Device> current;
  if (!current || current->is_worn()) current = std::make_unique<Device>(seed);
  return *current;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Program> program = read(data, size);
  if (!program || !device(1).has_what_is_needed_by(*program)) return -1;
  const ProgramResult result = device(1).run(*program);
  if (!result.alarm) return 0;
  // Alone it has to show, too, for else it cannot be repeated.
  Device fresh{1};
  const bool shows_alone = fresh.run(*program).alarm.has_value();
  fmt::print(stderr, "alone on a new device it {}\n", shows_alone ? "shows, too" : "does not show");
  Device::check(result);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  Random random{seed};
  std::optional<Program> from = read(data, size);
  using roce::transport::QpType;
  if (!from || happens(random, 10)) {
    from = new_program(random, {.other_types = {QpType::uc, QpType::ud}});
    if (from->state == roce::transport::QpState::rts && happens(random, 35)) from->half = Half::requester;
  }
  if (!device(1).has_what_is_needed_by(*from)) return size;
  const ProgramResult made = device(1).run_made_up(*from, random);
  Device::check(made);
  const std::string text = program_text(made.program);
  if (text.size() > most) return size;
  std::ranges::copy(text, data);
  return text.size();
}
