// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/path_statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace roce::analyze {

namespace {

using analysis::PathMarks;
using analysis::PathSummary;
using analysis::PathTraffic;
using analysis::Severity;

/// A DSCP that fewer packets than this share of a kind have is none that somebody has configured.
constexpr double kLeastShare = 0.01;
/// A port with more than this share of the bytes decides alone how even the links can be.
constexpr double kElephantShare = 0.5;
/// The bytes from which on it matters how they are spread.
constexpr std::uint64_t kManyBytes = 1 << 20;

/// Returns the DSCPs of more than a few packets.
[[nodiscard]] std::vector<unsigned> usual_dscps(const PathMarks& marks) {
  std::vector<unsigned> usual;
  const auto all = static_cast<double>(marks.packets());
  for (unsigned dscp = 0; dscp < marks.dscp.size(); ++dscp) {
    if (marks.dscp[dscp] != 0 && static_cast<double>(marks.dscp[dscp]) >= kLeastShare * all) usual.push_back(dscp);
  }
  return usual;
}

class Judge {
 public:
  Judge(std::span<const PathSummary> paths, const PathNames& names) : paths_(paths), names_(names) {}

  [[nodiscard]] std::vector<Statement> statements() {
    for (const PathSummary& path : paths_) {
      judge_ports(path);
      judge_classes(path);
      judge_cnps(path);
    }
    judge_ordinary();
    judge_changes();
    std::ranges::stable_sort(statements_, std::ranges::greater{}, &Statement::severity);
    return std::move(statements_);
  }

 private:
  [[nodiscard]] std::string name_of(const PathSummary& path) const {
    return fmt::format("{} {} {}", names_.host(path.source), names_.arrow, names_.host(path.destination));
  }
  void say(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }

  void judge_ports(const PathSummary& path) {
    if (path.bytes < kManyBytes || path.ports.empty()) return;
    if (path.ports.size() == 1 && path.queue_pairs > 1) {
      say(Severity::warning,
          fmt::format("{}: {} QPs share the UDP source port {}, so that all of them go over the same one of several "
                      "equal links; let the sender give each QP a port of its own (by its flow label)",
                      name_of(path), path.queue_pairs, path.ports.front().port));
      return;
    }
    std::uint64_t all = 0;
    for (const analysis::PathPort& port : path.ports) all += port.bytes;
    const double share = static_cast<double>(path.ports.front().bytes) / static_cast<double>(all);
    if (path.ports.size() > 1 && share > kElephantShare) {
      say(Severity::note,
          fmt::format("{}: one of {} UDP source ports, {}, has {:.0f} % of the bytes; no spreading by flow makes links "
                      "more even than that",
                      name_of(path), path.ports.size(), path.ports.front().port, 100 * share));
    }
  }

  void judge_classes(const PathSummary& path) {
    const std::vector<unsigned> dscps = usual_dscps(path.of(PathTraffic::data));
    if (dscps.size() > 1) {
      say(Severity::note, fmt::format("{}: data has DSCP {}; packets of one connection that take several queues "
                                      "overtake each other",
                                      name_of(path), fmt::join(dscps, " and ")));
    }
  }

  /// One sentence for all: where nothing is configured, it holds for every path.
  void judge_ordinary() {
    std::size_t all = 0;
    std::size_t ordinary = 0;
    const PathSummary* first = nullptr;
    for (const PathSummary& path : paths_) {
      const std::vector<unsigned> dscps = usual_dscps(path.of(PathTraffic::data));
      if (dscps.empty()) continue;
      ++all;
      if (dscps.size() != 1 || dscps.front() != 0) continue;
      ++ordinary;
      if (first == nullptr) first = &path;
    }
    if (first == nullptr) return;
    say(Severity::note,
        fmt::format("{}: data has DSCP 0{}, that of all ordinary traffic, so that no switch keeps it apart "
                    "or lossless, unless it goes by the priority of the VLAN tag",
                    name_of(*first), all == 1 ? "" : fmt::format(" (as in {} of {} rows)", ordinary, all)));
  }

  void judge_cnps(const PathSummary& path) {
    const PathMarks& cnps = path.of(PathTraffic::cnp);
    if (cnps.packets() == 0) return;
    // The queue in which a CNP waits is that of the data of its own direction.
    const PathSummary* const data = find(path, PathTraffic::data);
    if (data == nullptr || data->of(PathTraffic::data).usual_dscp() != cnps.usual_dscp()) return;
    say(Severity::warning, fmt::format("{}: CNPs have DSCP {} as data has, so that they wait in the same queues and "
                                       "come late; give them a class of their own (48 is usual)",
                                       name_of(path), cnps.usual_dscp()));
  }

  /// Returns the path in the same direction, else that in the other one, that has such packets.
  [[nodiscard]] const PathSummary* find(const PathSummary& path, PathTraffic traffic) const {
    if (path.of(traffic).packets() != 0) return &path;
    for (const PathSummary& other : paths_) {
      if (other.point == path.point && other.version == path.version && other.source == path.destination &&
          other.destination == path.source && other.of(traffic).packets() != 0) {
        return &other;
      }
    }
    return nullptr;
  }

  /// Says where the class of data is another one at another capture point.
  void judge_changes() {
    for (auto path = paths_.begin(); path != paths_.end(); ++path) {
      for (auto other = std::next(path); other != paths_.end(); ++other) {
        if (path->source != other->source || path->destination != other->destination) continue;
        if (path->point == other->point || path->of(PathTraffic::data).packets() == 0 ||
            other->of(PathTraffic::data).packets() == 0) {
          continue;
        }
        const unsigned here = path->of(PathTraffic::data).usual_dscp();
        const unsigned there = other->of(PathTraffic::data).usual_dscp();
        if (here == there) continue;
        say(Severity::warning,
            fmt::format("{}: data has DSCP {} at {} and {} at {}; something between them changes it", name_of(*path),
                        here, names_.point(path->point), there, names_.point(other->point)));
      }
    }
  }

  std::span<const PathSummary> paths_;
  const PathNames& names_;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_about_paths(std::span<const PathSummary> paths, const PathNames& names) {
  return Judge{paths, names}.statements();
}

}  // namespace roce::analyze
