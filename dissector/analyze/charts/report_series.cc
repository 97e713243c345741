// SPDX-License-Identifier: BSD-2-Clause
// The series of a report over time, from the packets, verdicts and messages of an analysis.
#include "analyze/charts/report_series.h"

#include <algorithm>
#include <array>

#include "analyze/report/time_bins.h"
#include "analyze/run/incast_statements.h"

namespace roce::analyze {

namespace {

using page::Measure;

// For the hosts that data goes to: pairs that are counted, and frames whose loss may come to light later.
constexpr std::size_t kHostPairs = std::size_t{1} << 20U;
constexpr std::size_t kRemembered = std::size_t{1} << 16U;

constexpr std::array<page::SeriesInfo, kAllSeries> kSeries{
    {{"goodput", Measure::rate},      {"resent", Measure::count},
     {"lost", Measure::count},        {"nak", Measure::count},
     {"rnr", Measure::count},         {"ce", Measure::count},
     {"cnp", Measure::count},         {"latency", Measure::sample},
     {"under_way", Measure::level},   {"paused_0", Measure::rate},
     {"paused_1", Measure::rate},     {"paused_2", Measure::rate},
     {"paused_3", Measure::rate},     {"paused_4", Measure::rate},
     {"paused_5", Measure::rate},     {"paused_6", Measure::rate},
     {"paused_7", Measure::rate},     {"paused_all", Measure::rate},
     {"wait_nothing", Measure::time}, {"wait_link", Measure::time},
     {"wait_answers", Measure::time}, {"wait_application", Measure::time},
     {"wait_credits", Measure::time}, {"wait_receiver", Measure::time},
     {"wait_losses", Measure::time},  {"wait_pauses", Measure::time},
     {"wait_rate", Measure::time},    {"wait_host", Measure::time}}};

struct Counted {
  std::uint64_t TimeBin::*counter;
  SeriesId id;
};
constexpr std::array kCounted{Counted{&TimeBin::resent, SeriesId::resent}, Counted{&TimeBin::lost, SeriesId::lost},
                              Counted{&TimeBin::naks, SeriesId::nak},      Counted{&TimeBin::rnr, SeriesId::rnr},
                              Counted{&TimeBin::ce, SeriesId::ce},         Counted{&TimeBin::cnp, SeriesId::cnp}};

}  // namespace

std::span<const page::SeriesInfo> report_series() {
  return kSeries;
}

ReportSeries::ReportSeries(AnalysisConsumer& next, std::uint64_t link_bits_per_second, std::size_t most_requesters)
    : next_(next),
      link_bits_per_second_(link_bits_per_second),
      pyramid_(page::measures_of(kSeries)),
      pauses_(link_bits_per_second),
      waits_(link_bits_per_second, most_requesters, this),
      fan_in_(analysis::FanInSurvey::kWindow, kHostPairs, kRemembered) {}

void ReportSeries::follow(const analysis::Observation& seen, const analysis::PacketAnalysis& known,
                          std::optional<std::int64_t> start_ns) {
  latest_ns_ = std::max(latest_ns_, seen.time.time_since_epoch().count());
  // Like all times of the summary, those of the axis count from the first frame, which need not be a RoCE packet.
  if (start_ns && pyramid_.size() == 0) pyramid_.reach(*start_ns);
  pyramid_.reach(seen.time.time_since_epoch().count());
  if (seen.kind == PacketKind::roce) {
    if (seen.payload_length != 0 && brings_new_payload(known)) {
      add(SeriesId::goodput, seen.time, seen.payload_length);
    }
  } else if (seen.kind == PacketKind::pfc || seen.kind == PacketKind::pause) {
    pauses_.observe(seen, [this](const PauseSpan& span) {
      pyramid_.add_span(kPlainSeries + span.priority, span.begin_ns, span.end_ns);
    });
  }
  psns_.add(seen, known);
  if (known.absorbed != analysis::kNoStream) under_way_.absorb(known.absorbed, known.stream);
  congestion_.add(seen, known);
  waits_.observe(seen, known);
  paths_.observe(seen);
  fan_in_.observe(seen);
}

void ReportSeries::take(const analysis::WaitSpan& span) {
  pyramid_.add_span(kFirstWait + static_cast<std::size_t>(span.wait), span.begin.time_since_epoch().count(),
                    span.end.time_since_epoch().count());
}

void ReportSeries::take(const analysis::UnderWay& under_way) {
  add(SeriesId::under_way, under_way.time, under_way.all);
  under_way_.add(under_way);
}

void ReportSeries::follow(const analysis::Verdict& verdict) {
  const auto counter = counter_of(verdict.kind);
  const auto* series = std::ranges::find(kCounted, counter, &Counted::counter);
  const std::uint64_t weight = weight_of(verdict);
  if (counter != nullptr && weight != 0) add(series->id, verdict.time, weight);
  psns_.add(verdict);
  // Requests that nobody answers are in no queue any more.
  if (const std::uint32_t lost = packets_lost_by(verdict); lost != 0) fan_in_.lose(verdict.packet, lost);
  if (verdict.kind == analysis::VerdictKind::no_answer || verdict.kind == analysis::VerdictKind::never_ready) {
    waits_.give_up(verdict.stream, verdict.direction, Time{Duration{latest_ns_}});
  }
}

void ReportSeries::follow(const analysis::Message& message) {
  if (message.is_completed() && message.start_seen) {
    const Duration latency = std::max(message.latency(), Duration{});
    latencies_[static_cast<std::size_t>(message.type)].add(latency);
    add(SeriesId::latency, message.finish, static_cast<std::uint64_t>(latency.count()));
  }
  slowest_.add(message, psns_);
}

void ReportSeries::finish() {
  waits_.finish();
  under_way_.hold(latest_ns_);
  pauses_.finish(latest_ns_, [this](const PauseSpan& span) {
    pyramid_.add_span(kPlainSeries + span.priority, span.begin_ns, span.end_ns);
  });
}

}  // namespace roce::analyze
