// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/filter/filter.h"
#include "analyze/input/report.h"
#include "analyze/report/json_values.h"
#include "analyze/report/nvme_text.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/nvme_statements.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/statement_rows.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Histogram;
using analysis::NvmeEnd;
using analysis::NvmeExchange;
using analysis::NvmeQueue;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze nvme trace.pcap
  roce-analyze nvme --top 20 --stream 3 trace.pcap            the 20 slowest commands of one queue
  roce-analyze nvme --target 192.0.2.7 trace.pcap             connections to it may be older than the capture
  roce-analyze nvme --json trace.pcap | jq 'select(.operations) | .operations[] | [.name, .latency.p99_ns]'

A command lasts from its first packet to its response, as the capture point saw both. The parts: until the first data,
from those to the last, and from those to the response. Percentiles are at most an eighth too high.)";

struct NvmeCommandOptions {
  AnalysisOptions common;
  std::vector<std::string> targets;
  std::optional<std::uint32_t> port;
  std::size_t top = 5;
};

class NvmeConsumer final : public AnalysisConsumer {
 public:
  NvmeConsumer(const AnalysisSession& session, analysis::NvmeSurveyOptions options, std::size_t top)
      : session_(session), survey_(std::move(options)), figures_(top) {}

  void on_packet(const AnalysedPacket& packet) override {
    points_.learn(packet);
    files_.learn(packet.file);
    if (!start_ns_) start_ns_ = capture_start(packet);
    survey_.observe(packet.decoded.packet, packet.observation, packet.analysis);
    take();
  }
  void on_verdict(const analysis::Verdict& verdict) override { survey_.observe(verdict); }
  void finish() {
    survey_.finish();
    take();
    queues_ = survey_.queues();
  }

  [[nodiscard]] const std::vector<NvmeQueue>& queues() const { return queues_; }
  [[nodiscard]] const NvmeFigures& figures() const { return figures_; }
  [[nodiscard]] const SeenPoints& points() const { return points_; }
  [[nodiscard]] const SeenFiles& files() const { return files_; }
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_.value_or(0); }
  [[nodiscard]] std::uint64_t uncounted() const { return survey_.uncounted() + figures_.uncounted(); }
  [[nodiscard]] std::uint64_t cut_capsules() const {
    std::uint64_t sum = 0;
    for (const NvmeQueue& queue : queues_) sum += queue.cut_capsules;
    return sum;
  }
  [[nodiscard]] bool has_queues() const {
    return std::ranges::any_of(queues_, [](const NvmeQueue& queue) { return queue.commands != 0; });
  }

 private:
  void take() {
    taken_.clear();
    survey_.drain(taken_);
    for (const NvmeExchange& exchange : taken_) {
      const bool is_chosen = session_.is_chosen(exchange.capsule) || session_.is_chosen(exchange.first_data) ||
                             session_.is_chosen(exchange.last_data) || session_.is_chosen(exchange.response);
      if (is_chosen && session_.is_wanted(survey_.stream_of(exchange.queue))) {
        figures_.add(exchange, survey_.is_admin(exchange.queue));
      }
    }
  }

  const AnalysisSession& session_;
  analysis::NvmeSurvey survey_;
  NvmeFigures figures_;
  std::vector<NvmeExchange> taken_;
  std::vector<NvmeQueue> queues_;
  SeenPoints points_;
  SeenFiles files_;
  std::optional<std::int64_t> start_ns_;
};

text::TableCell count_cell(std::uint64_t count, text::Tone tone = text::Tone::plain) {
  return {count == 0 ? "-" : text::count_text(count), count == 0 ? text::Tone::faint : tone};
}

text::TableCell time_cell(Duration time) {
  return {text::duration_text(time.count())};
}

/// Writes what was found: tables, or JSON.
class NvmeReport {
 public:
  NvmeReport(AnalysisSession& session, const NvmeConsumer& found) : session_(session), found_(found) {}

  void write() {
    if (session_.options().json) {
      write_json();
    } else {
      write_queues();
      write_operations();
      write_slowest();
    }
    const NvmeWords words{.queue = [&](const NvmeQueue& queue) { return name_of(queue); },
                          .frame = [&](analysis::PacketId id) { return fmt::format("frame {}", frame(id)); }};
    write_statements(session_, statements_about_nvme(found_.queues(), found_.figures(), words));
  }

 private:
  template <typename Use>
  void for_each_queue(Use use) const {
    for (std::uint32_t index = 0; index < found_.queues().size(); ++index) {
      const NvmeQueueFigures& figures = found_.figures().of(index);
      if (!figures.operations.empty()) use(found_.queues()[index], figures);
    }
  }

  void write_json() {
    text::TextBuffer& out = session_.output().buffer();
    for_each_queue([&](const NvmeQueue& queue, const NvmeQueueFigures& figures) {
      OrderedJson json;
      json["point"] = found_.points().name(queue.point);
      json.update(nvme_queue_json(queue, figures, session_.names(), found_.files()));
      text::append(out, json_line(json));
    });
    for (const NvmeExchange& exchange : found_.figures().slowest()) {
      text::append(out, json_line(nvme_command_json(exchange, found_.queues()[exchange.queue], found_.files())));
    }
    session_.output().commit();
  }

  void write_queues() {
    using text::Align;
    RowWriter rows{session_,
                   {{"point", Align::left},
                    {"stream", Align::right},
                    {"host target", Align::left},
                    {"queue", Align::right},
                    {"size", Align::right},
                    {"commands", Align::right},
                    {"bytes", Align::right},
                    {"p50", Align::right},
                    {"p99", Align::right},
                    {"max", Align::right},
                    {"depth", Align::right},
                    {"most", Align::right},
                    {"not 0", Align::right},
                    {"no answer", Align::right},
                    {"resent", Align::right},
                    {"keep-alive gap", Align::right}},
                   0,
                   "point"};
    for_each_queue([&](const NvmeQueue& queue, const NvmeQueueFigures& figures) {
      const NvmeOperationFigures all = figures.all();
      std::uint64_t failed = figures.other_statuses;
      for (const auto& [key, status] : figures.statuses) failed += status.count;
      rows.add({{std::string{found_.points().distinctive_name(queue.point)}},
                {std::to_string(queue.stream)},
                {ends(queue)},
                {queue_text(queue)},
                {queue.size == 0 ? "?" : std::to_string(queue.size)},
                {text::count_text(all.commands)},
                {text::bytes_text(all.bytes)},
                time_cell(all.latency.quantile(0.5)),
                time_cell(all.latency.quantile(0.99)),
                time_cell(all.latency.max()),
                {fmt::format("{:.1f}", queue.mean_outstanding)},
                {text::count_text(queue.most_outstanding)},
                count_cell(failed, text::Tone::bad),
                count_cell(figures.of(NvmeEnd::unanswered), text::Tone::bad),
                count_cell(all.retransmissions, text::Tone::caution),
                {keep_alive(queue)}});
    });
    rows.finish();
  }

  void write_operations() {
    using text::Align;
    std::vector<text::TableColumn> columns{{"stream", Align::right}, {"queue", Align::right}, {"command", Align::left},
                                           {"count", Align::right},  {"bytes", Align::right}, {"p50", Align::right},
                                           {"p99", Align::right},    {"max", Align::right}};
    for (const char* const part : {"until data", "data", "until response"}) {
      columns.push_back({part, Align::right});
      columns.push_back({"p99", Align::right});
    }
    begin_table();
    RowWriter rows{session_, columns};
    for_each_queue([&](const NvmeQueue& queue, const NvmeQueueFigures& figures) {
      for (const auto& [key, of_operation] : figures.operations) {
        std::vector<text::TableCell> cells{{std::to_string(queue.stream)},
                                           {queue_text(queue)},
                                           {operation_text(key.set == NvmeCommandSet::fabrics || !queue.is_admin
                                                               ? key
                                                               : NvmeOperation{NvmeCommandSet::admin, key.code})},
                                           {text::count_text(of_operation.commands)},
                                           {of_operation.bytes == 0 ? "-" : text::bytes_text(of_operation.bytes)}};
        const auto add = [&](const Histogram& times, std::initializer_list<double> fractions) {
          for (const double fraction : fractions) {
            cells.push_back(times.count() == 0 ? text::TableCell{} : time_cell(times.quantile(fraction)));
          }
        };
        add(of_operation.latency, {0.5, 0.99, 1});
        for (const Histogram* const part :
             {&of_operation.until_data, &of_operation.data, &of_operation.until_response}) {
          add(*part, {0.5, 0.99});
        }
        rows.add(std::move(cells));
      }
    });
    rows.finish();
  }

  void write_slowest() {
    using text::Align;
    const std::vector<NvmeExchange> slowest = found_.figures().slowest();
    if (slowest.empty()) return;
    begin_table();
    RowWriter rows{session_,
                   {{"slowest", Align::left},
                    {"stream", Align::right},
                    {"queue", Align::right},
                    {"id", Align::right},
                    {"start", Align::right},
                    {"frame", Align::right},
                    {"data", Align::right},
                    {"response", Align::right},
                    {"bytes", Align::right},
                    {"latency", Align::right},
                    {"until data", Align::right},
                    {"data", Align::right},
                    {"until response", Align::right},
                    {"resent", Align::right},
                    {"because of", Align::left}}};
    for (const NvmeExchange& exchange : slowest) {
      const NvmeQueue& queue = found_.queues()[exchange.queue];
      const bool is_answered = exchange.end == NvmeEnd::answered;
      const auto part = [&](Duration time) { return exchange.has_data() ? time_cell(time) : text::TableCell{}; };
      rows.add({{operation_text(operation_of(exchange.command, queue))},
                {std::to_string(queue.stream)},
                {queue_text(queue)},
                {std::to_string(exchange.command.command_id)},
                {seconds_text(exchange.start.time_since_epoch().count() - found_.start_ns())},
                {frame(exchange.capsule)},
                {data_frames(exchange)},
                {is_answered ? frame(exchange.response) : "none", is_answered ? text::Tone::plain : text::Tone::bad},
                {exchange.data_bytes == 0 ? "-" : text::bytes_text(exchange.data_bytes)},
                time_cell(exchange.latency()),
                part(exchange.until_data()),
                part(exchange.data()),
                is_answered ? time_cell(exchange.until_response()) : text::TableCell{},
                count_cell(exchange.retransmissions, text::Tone::caution),
                {is_answered ? std::string{delay_text(exchange.delay)} : "no answer"}});
    }
    rows.finish();
  }

  void begin_table() { session_.output().buffer().push_back('\n'); }

  [[nodiscard]] std::string ends(const NvmeQueue& queue) const {
    return fmt::format("{} {} {}", session_.names().text(QpEnd{queue.host, queue.host_qp}),
                       arrow(session_.layout().charset), session_.names().text(QpEnd{queue.target, queue.target_qp}));
  }
  [[nodiscard]] std::string name_of(const NvmeQueue& queue) const {
    const std::string number = queue_text(queue);
    return fmt::format("stream {}, {}, {}", queue.stream,
                       queue.is_admin   ? "admin queue"
                       : queue.queue_id ? "queue " + number
                                        : "an unknown queue",
                       ends(queue));
  }
  [[nodiscard]] std::string frame(analysis::PacketId id) const {
    return id ? frame_text(found_.files().find(id.frame), found_.files()) : std::string{};
  }
  [[nodiscard]] std::string data_frames(const NvmeExchange& exchange) const {
    if (!exchange.has_data()) return {};
    const std::string first = frame(exchange.first_data);
    const std::string last = frame(exchange.last_data);
    return first == last ? first : fmt::format("{}-{}", first, last);
  }
  [[nodiscard]] static std::string keep_alive(const NvmeQueue& queue) {
    if (!queue.is_admin || queue.longest_keep_alive_gap <= Duration::zero()) return {};
    std::string text = text::duration_text(queue.longest_keep_alive_gap.count());
    if (queue.keep_alive_timeout > Duration::zero()) {
      text += fmt::format(" of {}", text::duration_text(queue.keep_alive_timeout.count()));
    }
    return text;
  }

  AnalysisSession& session_;
  const NvmeConsumer& found_;
};

/// Reads the options of the command. Returns nothing after having reported what is wrong with one.
std::optional<analysis::NvmeSurveyOptions> survey_options(const NvmeCommandOptions& options) {
  analysis::NvmeSurveyOptions survey;
  survey.most_queues = static_cast<std::size_t>(options.common.max_streams);
  for (const std::string& text : options.targets) {
    const auto pattern = AddressPattern::parse(text);
    if (!pattern || pattern->is_mac() || pattern->prefix() != 128) {
      report(
          fmt::format("--target takes the address of an NVMe target such as 192.0.2.7 or 2001:db8::7, not '{}'", text));
      return std::nullopt;
    }
    survey.targets.push_back(pattern->address());
  }
  if (options.port) survey.ports.push_back(static_cast<std::uint16_t>(*options.port));
  return survey;
}

ExitCode run_nvme(const NvmeCommandOptions& options) {
  auto survey = survey_options(options);
  if (!survey) return ExitCode::usage;
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  NvmeConsumer consumer{session, *std::move(survey), options.top};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  consumer.finish();
  if (consumer.cut_capsules() != 0) {
    report(fmt::format("warning: a snap length has cut {}, which are left out: capture 160 bytes of each frame or more",
                       text::counted(consumer.cut_capsules(), "NVMe capsule", "NVMe capsules")));
  }
  if (!consumer.has_queues()) {
    report(
        "there are no NVMe commands: no connection to port 4420 is set up in the capture and used; --port NUMBER names "
        "another port of a target, --target ADDRESS a target whose connections may be older than the capture");
    return session.finish();
  }
  NvmeReport{session, consumer}.write();
  if (consumer.uncounted() != 0) {
    report(fmt::format("warning: {} of NVMe are not counted: there are too many queues or commands",
                       text::counted(consumer.uncounted(), "packet or command", "packets or commands")));
  }
  return session.finish();
}

}  // namespace

void add_nvme(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand(
      "nvme", "NVMe over RDMA by queue: how long commands take and why, depth, statuses, keep-alive");
  const auto options = std::make_shared<NvmeCommandOptions>();
  add_common_options(command, options->common);
  add_filter_options(command, options->common);
  command
      .add_option(
          "--target", options->targets,
          "The connections of this NVMe target that were set up before the capture are queues, too; may be given "
          "several times")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .type_name("ADDRESS");
  command.add_option("--port", options->port, "Targets listen at this port, too, beside 4420")
      .range(std::uint32_t{1}, std::uint32_t{65'535})
      .type_name("NUMBER");
  command.add_option("--top", options->top, "List so many of the slowest commands (5; 0: none)").type_name("NUMBER");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_nvme(*options); });
}

}  // namespace roce::analyze
