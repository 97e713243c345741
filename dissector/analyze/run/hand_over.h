// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// Passes to a consumer what the trackers have found since the last time.
class HandOver {
 public:
  /// All arguments must outlive the object.
  HandOver(analysis::TrackerShards& shards, const analysis::TrackerOptions& options, AnalysisConsumer& consumer)
      : shards_(shards), options_(options), consumer_(consumer) {}

  void operator()() {
    verdicts_.clear();
    shards_.drain(verdicts_);
    for (const analysis::Verdict& verdict : verdicts_) consumer_.on_verdict(verdict);
    if (options_.keep_answers) {
      answers_.clear();
      shards_.drain_answers(answers_);
      for (const analysis::Answer& answer : answers_) consumer_.on_answer(answer);
    }
    if (options_.keep_messages) {
      messages_.clear();
      shards_.drain_messages(messages_);
      for (const analysis::Message& message : messages_) consumer_.on_message(message);
    }
  }

 private:
  analysis::TrackerShards& shards_;
  const analysis::TrackerOptions& options_;
  AnalysisConsumer& consumer_;
  std::vector<analysis::Verdict> verdicts_;
  std::vector<analysis::Message> messages_;
  std::vector<analysis::Answer> answers_;
};

}  // namespace roce::analyze
