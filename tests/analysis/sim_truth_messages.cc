// SPDX-License-Identifier: BSD-2-Clause
// The truth of the ends of messages.
#include <algorithm>

#include "analysis/sim_truth_judge.h"
#include "roce/analysis/tracker.h"

namespace roce::sim_truth {

using analysis::Message;
using analysis::MessageEnd;

std::vector<Message> messages_of(const View& view) {
  analysis::Tracker tracker;
  for (std::size_t i = 0; i < view.kept.size(); ++i) {
    analysis::Observation observation = view.run->passages[view.kept[i]].observation;
    observation.id = {i + 1, 0};
    (void)tracker.observe(observation);
  }
  tracker.finish();
  std::vector<Message> messages;
  tracker.drain_messages(messages);
  return messages;
}

std::string why_not_ended(const View& view, const Message& message) {
  if (message.end != MessageEnd::acknowledged) return "";
  const Run& run = *view.run;
  const std::size_t answer = run.passages[view.kept[message.answer.frame - 1]].sent;
  const Sent& ended_by = run.sent[answer];
  const Sent& begun_by = run.sent_of(view.kept[message.first.frame - 1]);
  if (ended_by.channel != begun_by.channel || ended_by.channel == kNone) return "a response to something else ended it";
  if (!ended_by.is_lost) return "";
  // A later response may have done instead, unless the requester sent it again for want of one.
  const LongPsn end = begun_by.psn + message.psn_count;
  const bool again = std::ranges::any_of(run.channels[begun_by.channel].requests, [&](std::size_t index) {
    const Sent& request = run.sent[index];
    return index > answer && request.psn < end && request.end() > begun_by.psn && view.saw(request);
  });
  return again ? "its answer was lost, and it was sent again" : "";
}

}  // namespace roce::sim_truth
