// SPDX-License-Identifier: BSD-2-Clause
// The verdicts that can be known from a capture: the rules of docs/analysis.md, "Ground truth", as far as they hold in
// captures that may miss packets. The differences:
// - Two packets with the same bits are a copy and its original only if the IP identification shows it (or, for
//   requests, if no answer could have come between the two).
// - A request that fills a gap was overtaken, not sent again, if the IP identification shows it, or if it comes sooner
//   than any answer could have asked for it.
// - A NAKed request was only late if an answer that covers it is seen sooner than it could have been sent again.
// - A request that was never seen, although a response shows that it arrived, was missed by the capture.
// - An answer to a READ that was requested again is judged only from the first response of the new answer on.
// - A positive response that was not heeded counts as lost only if it had time to reach its requester.
#include <map>
#include <utility>
#include <vector>

#include "analysis/sim_truth_channel.h"

namespace roce::sim_truth {

namespace {

VerdictKind nak_kind(const Sent& sent) {
  switch (sent.syndrome.nak_code().value_or(NakCode::invalid_request)) {
    case NakCode::psn_sequence_error:
      return nak_sequence_error;
    case NakCode::invalid_request:
      return nak_invalid_request;
    case NakCode::remote_access_error:
      return nak_remote_access_error;
    case NakCode::remote_operational_error:
      return nak_remote_operational_error;
    case NakCode::invalid_rd_request:
      return nak_invalid_rd_request;
  }
  return nak_invalid_request;
}

/// Goes through a view once.
class Evidence {
 public:
  explicit Evidence(const View& view) : view_(view), run_(*view.run) {
    for (std::size_t i = 0; i < run_.channels.size(); ++i) channels_.emplace_back(view, i, units);
  }

  void take(std::size_t at) {
    const Passage& passage = run_.passages[at];
    const Sent& sent = run_.sent[passage.sent];
    const Entry entry{&sent, at, passage.time};
    if (passage.is_corrupted) {
      add(bad_icrc, entry, "");
      if (shows_itself(sent, passage.observation)) channels_[sent.channel].take_damaged(entry);
      return;
    }
    if (passage.is_ce) add(ce_mark, entry, "");
    if (sent.channel == kNone) return;
    const bool is_copy = view_.saw(sent, at);
    if (is_copy) {
      if (is_known_copy(entry)) add(duplicate, entry, "copied");
    } else {
      if (sent.is_nak()) add(nak_kind(sent), entry, "");
      if (sent.is_rnr()) add(rnr_nak, entry, "");
    }
    last_of_[{sent.channel, sent.is_request}] = entry;
    ++count_of_[{sent.channel, sent.is_request}];
    if (!is_copy) channels_[sent.channel].take(entry);
  }
  void finish() {
    for (ChannelEvidence& channel : channels_) channel.finish();
  }

  std::vector<Unit> units;

 private:
  void add(VerdictKind kind, const Entry& entry, std::string_view why) {
    units.push_back({kind, entry.at, entry.sent->channel, 0, 0, why});
  }

  /// True if a request was lost by its damage, and not damaged in what tells which one it is.
  [[nodiscard]] bool shows_itself(const Sent& sent, const analysis::Observation& seen) const {
    if (sent.channel == kNone || !sent.is_request || !seen.is_whole || seen.opcode != sent.opcode) return false;
    if (!sent.is_lost_before) return false;
    if (seen.psn.value() != (sent.psn & 0xFF'FFFF)) return false;
    // The damaged packet does not count before its flow is known.
    const auto last = last_of_.find({sent.channel, true});
    return last != last_of_.end() && run_.passages[last->second.at].observation.dest_qp == seen.dest_qp;
  }

  [[nodiscard]] bool is_known_copy(const Entry& entry) {
    const std::pair key{entry.sent->channel, entry.sent->is_request};
    // Two identifications have to be seen before it is known that they count up.
    if (run_.has_ip_id) return count_of_[key] >= 2 || entry.sent->is_request;
    if (entry.sent->is_response) return false;
    const auto last = last_of_.find(key);
    return last != last_of_.end() && last->second.sent == entry.sent && last->second.time == entry.time;
  }

  const View& view_;
  const Run& run_;
  std::vector<ChannelEvidence> channels_;
  std::map<std::pair<std::size_t, bool>, Entry> last_of_;
  std::map<std::pair<std::size_t, bool>, std::size_t> count_of_;
};

}  // namespace

std::vector<Unit> evidence(const View& view) {
  Evidence all(view);
  for (const std::size_t at : view.kept) all.take(at);
  all.finish();
  return std::move(all.units);
}

}  // namespace roce::sim_truth
