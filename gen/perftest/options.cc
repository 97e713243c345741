// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/command.h"

namespace roce::gen {

namespace {

struct Entry {
  PerftestProgram program;
  std::string_view name;
  PerftestVerb verb;
  bool latency;
  std::uint32_t iterations;
};

constexpr std::array kPrograms{
    Entry{PerftestProgram::send_bw, "ib_send_bw", PerftestVerb::send, false, 1000},
    Entry{PerftestProgram::send_lat, "ib_send_lat", PerftestVerb::send, true, 1000},
    Entry{PerftestProgram::write_bw, "ib_write_bw", PerftestVerb::write, false, 5000},
    Entry{PerftestProgram::write_lat, "ib_write_lat", PerftestVerb::write, true, 1000},
    Entry{PerftestProgram::read_bw, "ib_read_bw", PerftestVerb::read, false, 1000},
    Entry{PerftestProgram::read_lat, "ib_read_lat", PerftestVerb::read, true, 1000},
    Entry{PerftestProgram::atomic_bw, "ib_atomic_bw", PerftestVerb::atomic, false, 1000},
    Entry{PerftestProgram::atomic_lat, "ib_atomic_lat", PerftestVerb::atomic, true, 1000},
};
constexpr std::string_view kPrefix = "ib_";
constexpr std::uint32_t kBandwidthSize = 65536;
constexpr std::uint32_t kLatencySize = 2;
constexpr std::uint32_t kAtomicSize = 8;

[[nodiscard]] const Entry& entry_of(PerftestProgram program) {
  return *std::find_if(kPrograms.begin(), kPrograms.end(),
                       [program](const Entry& entry) { return entry.program == program; });
}

}  // namespace

std::string_view to_string(PerftestProgram program) {
  return entry_of(program).name;
}

std::optional<PerftestProgram> find_perftest(std::string_view name) {
  for (const Entry& entry : kPrograms) {
    if (name == entry.name || name == entry.name.substr(kPrefix.size())) return entry.program;
  }
  return std::nullopt;
}

PerftestVerb verb_of(PerftestProgram program) {
  return entry_of(program).verb;
}

bool measures_latency(PerftestProgram program) {
  return entry_of(program).latency;
}

bool is_pingpong(PerftestProgram program) {
  return program == PerftestProgram::send_lat || program == PerftestProgram::write_lat;
}

Outcome<PerftestOptions> complete(PerftestOptions options, std::uint32_t max_path_mtu) {
  const Entry& entry = entry_of(options.program);
  if (entry.verb == PerftestVerb::atomic) {
    if (options.size != 0 && options.size != kAtomicSize) {
      return cannot(fmt::format("{} has messages of 8 bytes, not {}", entry.name, options.size));
    }
    options.size = kAtomicSize;
  } else if (options.compare_swap) {
    return cannot(fmt::format("{} makes no atomic operations: -A is for ib_atomic_bw and ib_atomic_lat", entry.name));
  }
  if (entry.latency && options.qps != 1) {
    return cannot(fmt::format("{} has one queue pair: -q is for the bandwidth programs", entry.name));
  }
  if (options.size == 0) options.size = entry.latency ? kLatencySize : kBandwidthSize;
  if (options.iterations == 0) options.iterations = entry.iterations;
  if (options.path_mtu == 0) options.path_mtu = max_path_mtu;
  if (options.path_mtu > max_path_mtu) {
    return cannot(
        fmt::format("a path MTU of {} does not fit the interface, which takes {} at most; use -m {}, or raise the "
                    "interface's MTU",
                    options.path_mtu, max_path_mtu, max_path_mtu));
  }
  if (entry.latency) options.tx_depth = 1;
  return options;
}

void add_perftest_options(command_line::Command& command, PerftestOptions& options, const std::string& prefix) {
  const auto names = [&prefix](const std::string& letter, const std::string& name) {
    return prefix.empty() ? fmt::format("-{},--{}", letter, name) : fmt::format("--{}{}", prefix, name);
  };
  command
      .add_option(names("s", "size"), options.size,
                  "Bytes of a perftest message, as at the other end (default: bandwidth 65536, latency 2)")
      .range(1U, 1U << 30);
  command
      .add_option(names("n", "iters"), options.iterations,
                  "Messages on each queue pair, as at the other end (default: ib_write_bw 5000, else 1000)")
      .range(1U, 1'000'000'000U);
  command.add_option(names("q", "qps"), options.qps, "Queue pairs of a bandwidth program, as at the other end")
      .range(1U, 1000U)
      .capture_default_str();
  command
      .add_option(names("m", "mtu"), options.path_mtu,
                  "Path MTU (default: the largest that the interface takes); the smaller of both ends counts")
      .one_of({256U, 512U, 1024U, 2048U, 4096U});
  if (prefix.empty()) {
    command.add_option("-t,--tx-depth", options.tx_depth, "Requests under way on each queue pair (bandwidth)")
        .range(1U, 16384U)
        .capture_default_str();
  }
  command
      .add_choice(names("A", "atomic"), options.compare_swap, {{"FETCH_AND_ADD", false}, {"CMP_AND_SWAP", true}},
                  "The atomic operation: FETCH_AND_ADD or CMP_AND_SWAP", command_line::LetterCase::ignored)
      .default_str("FETCH_AND_ADD")
      .type_name("OPERATION");
}

}  // namespace roce::gen
