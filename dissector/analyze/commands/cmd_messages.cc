// SPDX-License-Identifier: BSD-2-Clause
#include <memory>
#include <optional>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/report/message_row.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/carried_state.h"
#include "analyze/run/datagram_message.h"
#include "analyze/run/slowest_messages.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"

namespace roce::analyze {

namespace {

using analysis::Message;

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

struct SlowMessage {
  Message message;
};

class MessagesConsumer final : public AnalysisConsumer {
 public:
  MessagesConsumer(AnalysisSession& session, std::size_t top)
      : session_(session), top_(top), rows_(session, message_row_columns(), 1), slowest_(top) {}

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
    if (slowest_.takes(message)) slowest_.add({message});
  }

  void on_tick(RunSoFar& /*run*/) override { rows_.show(); }

  void finish() {
    for (const SlowMessage& slow : slowest_.sorted()) rows_.add(row_of(slow.message));
    rows_.finish();
  }

  [[nodiscard]] bool is_over() const override { return session_.output().is_over(); }

 private:
  void add_datagram(const AnalysedPacket& packet) {
    if (top_ != 0 || !session_.is_chosen(packet.observation.id) || !session_.is_wanted(packet.analysis.stream)) return;
    if (const auto message = message_of_datagram(packet)) rows_.add(row_of(*message));
  }

  [[nodiscard]] std::vector<text::TableCell> row_of(const Message& message) const {
    return message_row(message, {ends_, files_, session_.names(), session_.layout().charset, start_ns_});
  }

  AnalysisSession& session_;
  std::size_t top_;
  RowWriter rows_;
  StreamEnds ends_;
  SeenFiles files_;
  SlowestMessages<SlowMessage> slowest_;
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
