// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "text/human_units.h"
#include "text/sparkline.h"

namespace roce::analyze {

namespace {

using analysis::Histogram;
using analysis::Message;
using analysis::MessageType;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze latency trace.pcap                       by type of message, all streams together
  roce-analyze latency --by-stream --top 5 trace.pcap   the five with the longest p99, and which message was slowest
  roce-analyze latency -Y 'roce.dst == 192.0.2.7' trace.pcap

A message lasts from its first packet to what completed it, as the capture point saw both; those of UC and UD to their
last packet. Percentiles are at most an eighth too high.)";

struct LatencyOptions {
  AnalysisOptions common;
  bool by_stream = false;
  std::size_t top = 0;
};

/// Latencies in steps of a factor of two, for the sparkline: the classes of `Histogram` are not public.
class Octaves {
 public:
  void add(Duration duration) {
    std::size_t octave = 0;
    for (std::int64_t ns = duration.count(); ns > 1; ns >>= 1) ++octave;
    if (octave >= counts_.size()) counts_.resize(octave + 1);
    ++counts_[octave];
  }
  void merge(const Octaves& other) {
    counts_.resize(std::max(counts_.size(), other.counts_.size()));
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  [[nodiscard]] std::string picture(text::Charset charset) const {
    const auto is_used = [](std::uint64_t count) { return count != 0; };
    const auto first = std::find_if(counts_.begin(), counts_.end(), is_used);
    const auto behind = std::find_if(counts_.rbegin(), counts_.rend(), is_used).base();
    if (first >= behind) return {};
    std::vector<double> values;
    std::transform(first, behind, std::back_inserter(values), [](std::uint64_t n) { return static_cast<double>(n); });
    return text::sparkline(values, values.size(), charset);
  }

 private:
  std::vector<std::uint64_t> counts_;  ///< only as long as needed, because there may be many streams
};

struct Distribution {
  Histogram latency;
  Octaves octaves;
  Message slowest{};

  void add(const Message& message) {
    if (latency.count() == 0 || message.latency() > slowest.latency()) slowest = message;
    latency.add(message.latency());
    octaves.add(message.latency());
  }
  void merge(const Distribution& other) {
    if (other.latency.count() == 0) return;
    if (latency.count() == 0 || other.slowest.latency() > slowest.latency()) slowest = other.slowest;
    latency.merge(other.latency);
    octaves.merge(other.octaves);
  }
};

/// Identifies a distribution.
struct Key {
  std::uint32_t stream = analysis::kNoStream;  ///< `kNoStream`: all streams together
  std::uint8_t direction = 0;
  MessageType type{};

  friend auto operator<=>(const Key&, const Key&) = default;
};

class LatencyConsumer final : public AnalysisConsumer {
 public:
  LatencyConsumer(const AnalysisSession& session, bool by_stream) : session_(session), by_stream_(by_stream) {}

  void on_packet(const AnalysedPacket& packet) override {
    files_.learn(packet.file);
    if (by_stream_) ends_.learn(packet);
  }
  void on_message(const Message& message) override {
    if (!message.is_completed() || !message.start_seen || !session_.is_wanted(message.stream)) return;
    if (!session_.is_chosen(message.first) && !session_.is_chosen(message.last) &&
        !session_.is_chosen(message.answer)) {
      return;
    }
    const Key key =
        by_stream_ ? Key{message.stream, message.direction, message.type} : Key{analysis::kNoStream, 0, message.type};
    distributions_[key].add(message);
  }

  void show(AnalysisSession& session, std::size_t top) const {
    std::vector<std::pair<Key, const Distribution*>> rows;
    rows.reserve(distributions_.size());
    for (const auto& [key, distribution] : distributions_) rows.emplace_back(key, &distribution);
    if (by_stream_ && top != 0) {
      std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return a.second->latency.quantile(0.99) > b.second->latency.quantile(0.99);
      });
      rows.resize(std::min(top, rows.size()));
    }
    RowWriter writer{session, columns()};
    for (const auto& [key, distribution] : rows) {
      writer.add(row_of(key, to_string(key.type), *distribution, session));
    }
    if (!by_stream_ && rows.size() > 1) {
      Distribution all;
      for (const auto& [key, distribution] : rows) all.merge(*distribution);
      writer.add(row_of(Key{}, "all", all, session));
    }
    writer.finish();
  }

 private:
  [[nodiscard]] std::vector<text::TableColumn> columns() const {
    std::vector<text::TableColumn> columns;
    if (by_stream_) columns = {{"stream", text::Align::right}, {"from to", text::Align::left, "ends"}};
    for (const text::TableColumn& column :
         std::vector<text::TableColumn>{{"type", text::Align::left},
                                        {"count", text::Align::right},
                                        {"min", text::Align::right, "min_ns"},
                                        {"p50", text::Align::right, "p50_ns"},
                                        {"p90", text::Align::right, "p90_ns"},
                                        {"p99", text::Align::right, "p99_ns"},
                                        {"p99.9", text::Align::right, "p999_ns"},
                                        {"max", text::Align::right, "max_ns"},
                                        {"slowest", text::Align::right, "slowest_frame"},
                                        {"min to max, doubling", text::Align::left, "octaves"}}) {
      columns.push_back(column);
    }
    return columns;
  }

  [[nodiscard]] std::vector<text::TableCell> row_of(const Key& key, std::string_view type,
                                                    const Distribution& distribution,
                                                    const AnalysisSession& session) const {
    const auto duration = [](Duration value) {
      return text::TableCell{text::duration_text(value.count()), text::Tone::plain, std::int64_t{value.count()}};
    };
    const Histogram& latency = distribution.latency;
    const FramePlace slowest = files_.find(distribution.slowest.first.frame);
    std::vector<text::TableCell> cells;
    if (by_stream_) {
      cells = {{std::to_string(key.stream), text::Tone::plain, std::uint64_t{key.stream}},
               {ends_.text(key.stream, key.direction, session.names(), session.layout().charset)}};
    }
    const bool is_one_file = files_.size() == 1 || slowest.file == nullptr;
    for (text::TableCell& cell :
         std::vector<text::TableCell>{{std::string{type}},
                                      {text::count_text(latency.count()), text::Tone::plain, latency.count()},
                                      duration(latency.min()),
                                      duration(latency.quantile(0.5)),
                                      duration(latency.quantile(0.9)),
                                      duration(latency.quantile(0.99)),
                                      duration(latency.quantile(0.999)),
                                      duration(latency.max()),
                                      {is_one_file ? fmt::format("frame {}", slowest.number)
                                                   : fmt::format("{}:{}", slowest.file->path, slowest.number),
                                       text::Tone::plain, slowest.number},
                                      {distribution.octaves.picture(session.layout().charset)}}) {
      cells.push_back(std::move(cell));
    }
    return cells;
  }

  const AnalysisSession& session_;
  bool by_stream_;
  SeenFiles files_;
  StreamEnds ends_;
  std::map<Key, Distribution> distributions_;
};

ExitCode run_latency(const LatencyOptions& options) {
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  LatencyConsumer consumer{session, options.by_stream || options.top != 0};
  analysis::TrackerOptions tracker;
  tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  consumer.show(session, options.top);
  return session.finish();
}

}  // namespace

void add_latency(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("latency", "How long messages take, by type");
  const auto options = std::make_shared<LatencyOptions>();
  add_common_options(command, options->common);
  add_list_options(command, options->common);
  command.add_flag("--by-stream", options->by_stream, "Each direction of each stream for itself");
  command.add_option("--top", options->top, "Only these many with the longest p99 (with --by-stream)")
      .type_name("NUMBER");
  command.footer(std::string{kExamples});
  options->common.mixes_points = true;
  command.callback([options, &code] { code = run_latency(*options); });
}

}  // namespace roce::analyze
