// SPDX-License-Identifier: BSD-2-Clause
// Compares endpoints with bare loops on the same virtual wire: in turn, round by round, by the median of the ratios.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/program.h"
#include "live/gaps.h"
#include "live/runs.h"
#include "support/network_namespace.h"

namespace roce::bench {
namespace {

struct Row {
  std::string name;
  std::string unit;
  double factor = 1;  ///< factor from the measured unit to `unit`
  bool at_most = false;
  double target = 0;  ///< target for ours / bare; 0: none
  std::function<double()> ours;
  std::function<double()> bare;
};

struct Result {
  double ours = 0;
  double bare = 0;
  double ratio = 0;
};

[[nodiscard]] std::vector<Row> rows_on(const Wire& wire, const std::function<double()>& tcp) {
  constexpr double giga = 1e-9;
  constexpr double mega = 1e-6;
  constexpr double micro = 1e-3;
  constexpr std::uint32_t mebibyte = 1 << 20;
  constexpr std::uint64_t pace = 100'000;
  constexpr std::uint64_t paced_packets = 50'000;
  std::vector<Row> rows;
  for (const auto& [path, what] : {std::pair{Path::raw, ""}, std::pair{Path::xdp, ", AF_XDP"}}) {
    for (const std::uint32_t mtu : {1024U, 4096U}) {
      const std::uint64_t messages = mtu == 1024 ? 100 : 200;
      rows.push_back({fmt::format("1 MiB RC WRITE, MTU {}{}", mtu, what), "Gbit/s", giga, false, 0.8,
                      [=, path = path] { return our_goodput(wire, mtu, mebibyte, messages, path); },
                      [=, path = path] { return bare_goodput(wire, mtu, messages * mebibyte / mtu, path); }});
    }
  }
  rows.push_back({"16 B RC WRITE, one a frame", "M/s", mega, false, 0.7,
                  [=] { return our_message_rate(wire, 300'000, Path::raw); },
                  [=] { return bare_message_rate(wire, 300'000); }});
  for (const std::uint32_t mtu : {1024U, 4096U}) {
    constexpr std::uint64_t messages = 500;
    const auto ours = [=] { return our_goodput(wire, mtu, mebibyte, messages, Path::segmented); };
    rows.push_back({fmt::format("1 MiB RC WRITE, MTU {}, segmented", mtu), "Gbit/s", giga, false, 0.7, ours,
                    [=] { return bare_segmented_goodput(wire, mtu, messages * mebibyte / mtu); }});
    if (tcp) {
      rows.push_back({fmt::format("1 MiB RC WRITE, MTU {}, segmented, beside TCP", mtu), "Gbit/s", giga, false,
                      mtu == 1024 ? 1.3 : 1.5, ours, tcp});
    }
  }
  rows.push_back({"16 B RC WRITE, segmented", "M/s", mega, false, 0,
                  [=] { return our_message_rate(wire, 1'000'000, Path::segmented); },
                  [=] { return bare_segmented_message_rate(wire, 3'000'000); }});
  rows.push_back({"16 B SEND ping-pong, spinning", "us", micro, true, 1.6,
                  [=] { return our_round_trip(wire, 20'000, false); },
                  [=] { return bare_round_trip(wire, 20'000, false); }});
  rows.push_back({"16 B SEND ping-pong, blocking", "us", micro, true, 1.15,
                  [=] { return our_round_trip(wire, 3'000, true); },
                  [=] { return bare_round_trip(wire, 3'000, true); }});
  rows.push_back({"100 k packets/s, gap error", "ns", 1, true, 2,
                  [=] { return our_pace(wire, pace, paced_packets).gap_error_ns; },
                  [=] { return bare_pace(wire, pace, paced_packets).gap_error_ns; }});
  rows.push_back({"100 k packets/s, drift", "ppm", 1e6, true, 0,
                  [=] { return our_pace(wire, pace, paced_packets).drift; },
                  [=] { return bare_pace(wire, pace, paced_packets).drift; }});
  return rows;
}

/// Returns the rows for craft. On `wire` the kernel cuts super-frames before they go out, as for a NIC that cannot; on
/// `uncut` it passes them on as they are.
[[nodiscard]] std::vector<Row> craft_rows_on(const Wire& wire, const Wire& uncut, bool has_trafgen) {
  constexpr double mega = 1e-6;
  constexpr std::uint64_t frames = 1'000'000;
  std::vector<Row> rows;
  for (const std::uint32_t payload : {64U, 1024U}) {
    const std::string what = fmt::format("craft, {} B of payload, ", payload);
    const auto xdp = [=] { return our_craft_rate(wire, payload, frames, Path::xdp); };
    rows.push_back(
        {what + "AF_XDP", "M/s", mega, false, 0.85, xdp, [=] { return bare_craft_rate(wire, payload, frames); }});
    if (has_trafgen) {
      rows.push_back({what + "AF_XDP, beside trafgen", "M/s", mega, false, 1.5, xdp,
                      [=] { return trafgen_rate(wire, payload, frames); }});
    }
    rows.push_back({what + "segmented, beside craft on AF_XDP", "M/s", mega, false, 1.3,
                    [=] { return our_craft_rate(wire, payload, frames, Path::segmented); }, xdp});
    rows.push_back({what + "segmented and uncut, beside craft on AF_XDP", "M/s", mega, false, 0,
                    [=] { return our_craft_rate(uncut, payload, frames, Path::segmented); }, xdp});
  }
  return rows;
}

/// Takes a sample, and another when a packet was lost: on a busy machine the receiving thread may not run in time.
[[nodiscard]] double sample(const std::function<double()>& run) {
  constexpr int tries = 5;
  for (int i = 1;; ++i) {
    try {
      return run();
    } catch (const std::runtime_error&) {
      if (i == tries) throw;
    }
  }
}

[[nodiscard]] Result measure(const Row& row, int rounds) {
  std::vector<double> ours;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    // The two take turns to go first, so that neither always finds the warmer machine.
    const bool ours_first = round % 2 == 0;
    if (ours_first) ours.push_back(sample(row.ours));
    bare.push_back(sample(row.bare));
    if (!ours_first) ours.push_back(sample(row.ours));
    ratios.push_back(ours.back() / bare.back());
  }
  return {median(ours), median(bare), median(ratios)};
}

[[nodiscard]] std::string verdict(const Row& row, const Result& result) {
  if (row.target == 0) return "-";
  const bool met = row.at_most ? result.ratio <= row.target : result.ratio >= row.target;
  return fmt::format("{} {} {}", row.at_most ? "<=" : ">=", row.target, met ? "met" : "NOT MET");
}

/// Returns the bit/s of one TCP stream of iperf3 between two namespaces, to the address of the second.
[[nodiscard]] double tcp_goodput(const test::NetworkNamespace& a, const test::NetworkNamespace& b) {
  if (b.run("iperf3 -s -1 -D").exit_code != 0) throw std::runtime_error("iperf3 does not start");
  const test::CommandOutcome client = a.run("iperf3 -c 192.0.2.2 -t 1 -J 2>/dev/null");
  const nlohmann::json report = nlohmann::json::parse(client.output, nullptr, false);
  const nlohmann::json::json_pointer rate{"/end/sum_received/bits_per_second"};
  if (report.is_discarded() || !report.contains(rate)) throw std::runtime_error("iperf3 said: " + client.output);
  return report[rate];
}

/// Returns a measurement of TCP on a veth pair of its own with the same MTU; empty if there is no iperf3.
[[nodiscard]] std::function<double()> tcp_between(const test::NetworkNamespace& a, const test::NetworkNamespace& b) {
  if (a.run("command -v iperf3").exit_code != 0) return {};
  test::connect_by_veth(a, "tcp", b, "tcp");
  a.ip("link set tcp mtu 9000");
  b.ip("link set tcp mtu 9000");
  a.ip("addr add 192.0.2.1/24 dev tcp");
  b.ip("addr add 192.0.2.2/24 dev tcp");
  return [&a, &b] { return tcp_goodput(a, b); };
}

int run(int argc, char** argv) {
  command_line::Program program{"bench_live", "Endpoints on a virtual wire beside bare loops on the same"};
  int rounds = 9;
  std::string only;
  bool json = false;
  bool markdown = false;
  program.add_option("--rounds", rounds, "How often each is measured").range(1, 1000).capture_default_str();
  program.add_option("--only", only, "Rows whose name contains this");
  program.add_flag("--json", json, "Print JSON");
  program.add_flag("--markdown", markdown, "Print a table for docs/benchmarks.md");
  if (!program.parse(argc, argv)) return 2;
  // AF_XDP is only for the root of the host.
  if (::geteuid() == 0) test::NetworkNamespace::stay_on_the_host();
  if (const std::optional<std::string>& why = test::NetworkNamespace::unavailable()) {
    fmt::print(stderr, "no benchmark: {}\n", *why);
    return 2;
  }
  const test::NetworkNamespace a;
  const test::NetworkNamespace b;
  // Both ends are in one namespace for the packet sockets, which do not need addresses.
  a.ip("link add near mtu 9000 type veth peer name far mtu 9000");
  for (const char* end : {"near", "far"}) {
    a.ip(fmt::format("link set {} addrgenmode none up", end));
  }
  const std::function<double()> tcp = tcp_between(a, b);
  a.ip("link add cut mtu 9000 type veth peer name end mtu 9000");
  for (const char* end : {"cut", "end"}) a.ip(fmt::format("link set {} addrgenmode none up", end));
  const bool cuts = a.run("ethtool -K cut tx-udp-segmentation off").exit_code == 0;
  if (!cuts) fmt::print(stderr, "ethtool does not turn segmentation off: super-frames of craft are not cut\n");
  const bool has_trafgen = a.run("command -v trafgen").exit_code == 0;
  nlohmann::ordered_json report = nlohmann::ordered_json::array();
  if (markdown) {
    fmt::print("| | ours | bare | ratio | target |\n|---|---|---|---|---|\n");
  } else if (!json) {
    fmt::print("{:<34} {:>16} {:>16} {:>7}  {}\n", "", "ours", "bare", "ratio", "target");
    fmt::print("ACKs: 16 B WRITE one for 16 messages; ping-pong spinning after 10 us, blocking at once\n");
  }
  a.enter([&] {
    std::vector<Row> rows = rows_on({"near", "far"}, tcp);
    for (Row& row : craft_rows_on({"cut", "end"}, {"near", "far"}, has_trafgen)) rows.push_back(std::move(row));
    for (const Row& row : rows) {
      if (row.name.find(only) == std::string::npos) continue;
      const Result result = measure(row, rounds);
      const std::string ours = fmt::format("{:.2f} {}", result.ours * row.factor, row.unit);
      const std::string bare = fmt::format("{:.2f} {}", result.bare * row.factor, row.unit);
      if (json) {
        report.push_back({{"row", row.name},
                          {"unit", row.unit},
                          {"ours", result.ours * row.factor},
                          {"bare", result.bare * row.factor},
                          {"ratio", result.ratio},
                          {"target", row.target}});
      } else if (markdown) {
        fmt::print("| {} | {} | {} | {:.2f} | {} |\n", row.name, ours, bare, result.ratio, verdict(row, result));
      } else {
        fmt::print("{:<34} {:>16} {:>16} {:>7.2f}  {}\n", row.name, ours, bare, result.ratio, verdict(row, result));
      }
      std::fflush(stdout);
    }
  });
  if (json) fmt::print("{}\n", report.dump(2));
  return 0;
}

}  // namespace
}  // namespace roce::bench

int main(int argc, char** argv) {
  try {
    return roce::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_live: {}\n", error.what());
    return 1;
  }
}
