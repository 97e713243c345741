// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "analyze/commands/commands.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/carried_state.h"
#include "analyze/run/datagram_message.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Message;
using analysis::MessageEnd;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze messages trace.pcap                      every message, in the order of their ends
  roce-analyze messages --top 20 trace.pcap             the slowest
  roce-analyze messages --stream 3 --csv trace.pcap
  roce-analyze messages -Y 'roce.analysis.request_lost_after' trace.pcap
  roce-analyze messages --json trace.pcap | jq 'select(.type == "READ") | .latency_ns')";

struct MessagesOptions {
  AnalysisOptions common;
  std::size_t top = 0;
};

std::vector<text::TableColumn> columns() {
  return {{"stream", text::Align::right},
          {"from to", text::Align::left, "ends"},
          {"message", text::Align::right},
          {"type", text::Align::left},
          {"start", text::Align::right, "start"},
          {"first", text::Align::right, "first_frame"},
          {"last", text::Align::right, "last_frame"},
          {"answer", text::Align::right, "answer_frame"},
          {"PSN", text::Align::right, "first_psn"},
          {"packets", text::Align::right, "psn_count"},
          {"bytes", text::Align::right},
          {"resent", text::Align::right},
          {"latency", text::Align::right, "latency_ns"},
          {"end", text::Align::left},
          {"file", text::Align::left}};
}

class MessagesConsumer final : public AnalysisConsumer {
 public:
  MessagesConsumer(AnalysisSession& session, std::size_t top)
      : session_(session), top_(top), rows_(session, columns(), 1) {}

  void go_on_from(const CarriedState& state) override {
    for (const analysis::StreamSummary& stream : state.open) ends_.learn(stream);
    files_ = SeenFiles{state.files};
    start_ns_ = state.start_ns;
  }
  void on_packet(const AnalysedPacket& packet) override {
    ends_.learn(packet);
    files_.learn(packet.file);
    if (!start_ns_) start_ns_ = capture_start(packet);
    add_datagram(packet);
  }

  void on_message(const Message& message) override {
    const bool is_chosen =
        session_.is_chosen(message.first) || session_.is_chosen(message.last) || session_.is_chosen(message.answer);
    if (!is_chosen || !session_.is_wanted(message.stream)) return;
    if (top_ == 0) return rows_.add(row_of(message));
    if (!is_done(message)) return;
    slowest_.push_back(message);
    std::push_heap(slowest_.begin(), slowest_.end(), &is_slower);
    if (slowest_.size() <= top_) return;
    std::pop_heap(slowest_.begin(), slowest_.end(), &is_slower);
    slowest_.pop_back();
  }

  void on_tick(RunSoFar& /*run*/) override { rows_.show(); }

  void finish() {
    std::sort_heap(slowest_.begin(), slowest_.end(), &is_slower);
    for (const Message& message : slowest_) rows_.add(row_of(message));
    rows_.finish();
  }

  [[nodiscard]] bool is_over() const override { return session_.output().is_over(); }

 private:
  void add_datagram(const AnalysedPacket& packet) {
    if (top_ != 0 || !session_.is_chosen(packet.observation.id) || !session_.is_wanted(packet.analysis.stream)) return;
    if (const auto message = message_of_datagram(packet)) rows_.add(row_of(*message));
  }

  static bool is_done(const Message& message) {
    return message.end == MessageEnd::acknowledged || message.end == MessageEnd::sent;
  }
  static bool is_slower(const Message& a, const Message& b) {
    return std::tuple{a.latency(), b.first} > std::tuple{b.latency(), a.first};
  }

  [[nodiscard]] text::TableCell frame(analysis::PacketId id) const {
    if (!id) return {};
    const FramePlace place = files_.find(id.frame);
    return {frame_text(place, files_), text::Tone::plain, place.number};
  }

  [[nodiscard]] std::vector<text::TableCell> row_of(const Message& message) const {
    const std::int64_t start = message.start.time_since_epoch().count();
    const FramePlace place = files_.find(message.first.frame);
    const bool is_numbered = message.number != 0;
    const bool has_latency = is_done(message) && message.start_seen && is_numbered;
    std::string type{to_string(message.type)};
    if (message.has_immediate) type += "_IMM";
    if (message.has_invalidate) type += "_INV";
    const bool is_bad = message.end == MessageEnd::refused || message.end == MessageEnd::open;
    return {{std::to_string(message.stream), text::Tone::plain, std::uint64_t{message.stream}},
            {ends_.text(message.stream, message.direction, session_.names(), session_.layout().charset)},
            is_numbered ? text::TableCell{std::to_string(message.number), text::Tone::plain, message.number}
                        : text::TableCell{},
            {type},
            {seconds_text(start - start_ns_.value_or(start)), text::Tone::plain, utc_text(start)},
            frame(message.first),
            frame(message.last),
            frame(message.answer),
            {std::to_string(message.first_psn.value()), text::Tone::plain, std::uint64_t{message.first_psn.value()}},
            {text::count_text(message.psn_count), text::Tone::plain, std::uint64_t{message.psn_count}},
            {text::count_text(message.bytes), text::Tone::plain, message.bytes},
            {message.retransmissions == 0 ? "-" : text::count_text(message.retransmissions),
             message.retransmissions == 0 ? text::Tone::faint : text::Tone::caution,
             std::uint64_t{message.retransmissions}},
            has_latency ? text::TableCell{text::duration_text(message.latency().count()), text::Tone::plain,
                                          std::int64_t{message.latency().count()}}
                        : text::TableCell{},
            {std::string{to_string(message.end)}, is_bad ? text::Tone::bad : text::Tone::plain},
            {place.file != nullptr ? place.file->path : std::string{}}};
  }

  AnalysisSession& session_;
  std::size_t top_;
  RowWriter rows_;
  StreamEnds ends_;
  SeenFiles files_;
  std::vector<Message> slowest_;  ///< a heap with the quickest of them at the front
  std::optional<std::int64_t> start_ns_;
};

ExitCode run_messages(const MessagesOptions& options) {
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  MessagesConsumer consumer{session, options.top};
  analysis::TrackerOptions tracker;
  tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  consumer.finish();
  return session.finish();
}

}  // namespace

void add_messages(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("messages", "One row a message: a SEND, WRITE, READ, atomic …");
  const auto options = std::make_shared<MessagesOptions>();
  add_common_options(command, options->common);
  add_list_options(command, options->common);
  add_carry_options(command, options->common);
  add_follow_options(command, options->common);
  command.add_option("--top", options->top, "Only the slowest that were completed, the slowest first")
      .type_name("NUMBER");
  command.footer(std::string{kExamples});
  options->common.mixes_points = true;
  command.callback([options, &code] { code = run_messages(*options); });
}

}  // namespace roce::analyze
