// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/commands/following_summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "analyze/report/json_values.h"
#include "analyze/report/statement_text.h"
#include "analyze/report/summary_format.h"
#include "analyze/session/screen.h"

namespace roce::analyze {

JoinedPoints not_joined(const AnalysisResult& result) {
  JoinedPoints nothing;
  if (result.has_hosts_at_several_points()) {
    nothing.caveats.emplace_back(
        "several capture points saw the same connections, and were not compared: what goes on while it is read cannot "
        "be read twice; save it to files first");
  }
  return nothing;
}

namespace {

/// Shows the summary of what came so far, in the form that fits where it goes: a screen that is drawn anew, a JSON
/// object for each change, or the headline whenever it is another.
class FollowingSummary final : public AnalysisConsumer {
 public:
  FollowingSummary(AnalysisSession& session, std::size_t top)
      : session_(session), top_(top), has_screen_(!session.options().json && isatty(STDOUT_FILENO) != 0) {
    if (has_screen_) screen_.emplace(session.output());
  }

  void on_tick(RunSoFar& run) override {
    AnalysisConsumer nobody;
    const AnalysisResult result = run.result(nobody);
    const Summary summary = summarise(result, not_joined(result));
    std::string text = text_of({result, summary, session_.names(), top_});
    if (std::exchange(shown_, text) == text) return;
    if (screen_) return screen_->show(text);
    text::append(session_.output().buffer(), text);
    session_.output().flush();
  }
  [[nodiscard]] bool is_over() const override { return session_.output().is_over(); }

  /// Leaves the screen.
  void finish() { screen_.reset(); }

 private:
  [[nodiscard]] std::string text_of(const SummaryView& view) const {
    text::TextBuffer out;
    if (session_.options().json) {
      append_summary_json(out, view);
    } else if (has_screen_) {
      append_summary_text(out, view, session_.layout());
    } else if (!view.summary.statements.empty()) {
      if (view.result.counts.last_ns) text::append(out, utc_text(*view.result.counts.last_ns) + "  ");
      append_statement(out, view.summary.statements.front(), session_.layout().palette);
    }
    return fmt::to_string(out);
  }

  AnalysisSession& session_;
  std::size_t top_;
  bool has_screen_;
  std::optional<Screen> screen_;
  std::string shown_;
};

}  // namespace

ExitCode follow_summary(AnalysisSession& session, std::size_t top) {
  FollowingSummary consumer{session, top};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  const AnalysisResult result = session.run(consumer, tracker);
  consumer.finish();
  const Summary summary = summarise(result, not_joined(result));
  const SummaryView view{result, summary, session.names(), top};
  if (session.options().json) {
    append_summary_json(session.output().buffer(), view);
  } else {
    append_summary_text(session.output().buffer(), view, session.layout());
  }
  return session.finish();
}

}  // namespace roce::analyze
