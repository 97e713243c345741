// SPDX-License-Identifier: BSD-2-Clause
// The view of one channel that a capture has: its requests, and the responses to them. sim_truth_evidence.cc has the
// rules.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/sim_truth_judge.h"

namespace roce::sim_truth {

using analysis::VerdictKind;
using enum analysis::VerdictKind;

// No ACK timeout is shorter than the first, no reordering lasts longer than the second. A request that is sent again
// after more than the least timeout, and was not refused, is sent again because no answer came.
inline constexpr Duration kLeastTimeout = std::chrono::milliseconds{1};
inline constexpr Duration kLongestHold = std::chrono::microseconds{20};

/// A packet of a view; `at` is the index of its passage.
struct Entry {
  const Sent* sent = nullptr;
  std::size_t at = 0;
  Time time{};
};

/// Everything that a view shows of one READ or atomic.
struct Asked {
  Entry entry;
  LongPsn first = 0;
  LongPsn end = 0;
  LongPsn next = 0;            ///< PSN of the response that comes next
  std::set<LongPsn> answered;  ///< PSNs answered since the latest request
  std::set<LongPsn> ever;
  std::set<LongPsn> missing;
  bool was_passed = false;
  bool is_repeated = false;
  std::optional<LongPsn> awaited;  ///< PSN of the first response to the latest request, until it is seen

  [[nodiscard]] bool covers(LongPsn psn) const { return first <= psn && psn < end; }
  [[nodiscard]] bool is_answered() const { return answered.size() == static_cast<std::size_t>(end - first); }
};

/// Goes through the packets of one channel once, and adds what they show to the units.
class ChannelEvidence {
 public:
  ChannelEvidence(const View& view, std::size_t channel, std::vector<Unit>& units)
      : run_(*view.run), channel_(channel), units_(units) {
    const bool from_b = run_.channels[channel].from_b;
    to_responder_ = from_b ? run_.to_a : run_.to_b;
    to_requester_ = from_b ? run_.to_b : run_.to_a;
  }

  void take(const Entry& entry) {
    if (entry.sent->is_request) {
      on_request(entry);
    } else {
      on_response(entry);
    }
    if (entry.sent->info().position == Position::first || entry.sent->info().position == Position::middle) {
      mtu_seen_ = true;
    }
  }
  void take_damaged(const Entry& entry) {
    // Before the first request that was seen, it is unknown to which connection a damaged packet belongs.
    if (next_) damaged_.insert(entry.sent->psn);
  }
  void finish() {
    while (!suspects_.empty()) convict(suspects_.begin()->first);
  }

 private:
  void add(VerdictKind kind, const Entry& entry, std::string_view why) {
    units_.push_back({kind, entry.at, channel_, 0, 0, why});
  }
  void add(VerdictKind kind, const Entry& entry, LongPsn first, LongPsn end, std::string_view why) {
    units_.push_back({kind, entry.at, channel_, first, static_cast<std::uint32_t>(end - first), why});
  }

  // Requests

  void on_request(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    const LongPsn end = entry.sent->end();
    if (!next_) next_ = psn;
    std::string_view again;
    if (psn > *next_) {
      const LongPsn first = std::max(*next_, shown_);
      if (is_measured()) {
        if (first < psn) add(gap, entry, first, psn, "PSNs left out");
        for (LongPsn hole = *next_; hole < psn; ++hole) missing_.emplace(hole, entry);
      }
    } else if (psn < *next_) {
      again = on_earlier(entry);
    }
    const bool is_start = !again.empty() && is_new_run(entry);
    if (!again.empty()) {
      if (missing_.contains(psn) && !seen_.contains(psn) && !acknowledged_.contains(psn)) {
        add(request_lost_before, missing_.at(psn), psn, psn + 1, "gap, asked for, sent again");
      }
      explain(entry, is_start);
      convict(psn);
      if (is_start || !run_next_) {
        resent_.clear();
        run_first_ = psn;
        run_begin_ = entry.time;
      }
      resent_.insert(psn);
      run_next_ = end;
      last_again_ = entry.at;
    } else {
      run_next_.reset();
    }
    if (has_hole_before(psn) || is_refused(psn)) discarded_.insert(entry.at);
    if (was_overtaken(entry)) came_late_.insert(entry.at);
    transmissions_.push_back(entry);
    for (LongPsn each = psn; each < end; ++each) {
      seen_[each] = entry;
      suspects_.erase(each);
    }
    next_ = std::max(*next_, end);
    if (entry.sent->needs_answer()) open(entry);
  }

  /// True if a retransmission begins a new run: none is under way, or that one has its PSN, or began long ago after it.
  [[nodiscard]] bool is_new_run(const Entry& entry) const {
    const LongPsn psn = entry.sent->psn;
    if (!run_next_ || resent_.contains(psn)) return true;
    return psn < run_first_ && entry.time - run_begin_ > (to_responder_ + to_requester_) * 2 + kLongestHold;
  }

  /// Takes a request that is not ahead of all earlier ones. Returns the reason for which it is sent again, or nothing.
  std::string_view on_earlier(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    const bool was_seen = seen_.contains(psn);
    const auto hole = missing_.find(psn);
    if (!was_seen && hole == missing_.end()) return {};
    if (run_.has_ip_id) {
      // Each transmission has an identification of its own, so no other evidence is needed.
      const bool is_late = entry.sent->transmission == 0;
      if (is_late) {
        if (!was_seen && was_overtaken(entry)) add(out_of_order, entry, "its identification is older");
        return {};
      }
      if (was_seen) {
        add(retransmission, entry, "seen before");
        return "seen before";
      }
      const std::string_view why = reason(psn, hole->second);
      if (!why.empty()) add(retransmission, entry, why);
      return why;
    }
    if (was_seen) {
      add(retransmission, entry, "seen before");
      return "seen before";
    }
    if (entry.time - hole->second.time < to_responder_ * 2 && last_again_.value_or(0) < hole->second.at &&
        reason(psn, hole->second).empty()) {
      add(out_of_order, entry, "sooner than anything could have asked for it again");
      return {};
    }
    const std::string_view why = reason(psn, hole->second);
    if (!why.empty()) add(retransmission, entry, why);
    return why;
  }

  [[nodiscard]] bool was_overtaken(const Entry& entry) const { return was_overtaken_by(transmissions_, entry); }

  [[nodiscard]] static bool was_overtaken_by(const std::vector<Entry>& others, const Entry& entry) {
    return std::ranges::any_of(others, [&](const Entry& other) { return other.sent > entry.sent; });
  }

  /// True if it is known how many PSNs the last READ takes; a long one is measured only once the path MTU was seen.
  [[nodiscard]] bool is_measured() const {
    constexpr std::uint32_t least_mtu = 256;
    const auto last = seen_.find(*next_ - 1);
    return last == seen_.end() || last->second.sent->read_length <= least_mtu || mtu_seen_;
  }

  [[nodiscard]] std::string_view reason(LongPsn psn, const Entry& reveal) const {
    const bool is_refused = std::ranges::any_of(
        responses_, [&](const Entry& e) { return !e.sent->is_positive() && e.sent->psn == psn && e.at > reveal.at; });
    if (is_refused) return "gap that was NAKed";
    return run_next_ == psn ? "goes on with what is sent again" : std::string_view{};
  }

  [[nodiscard]] bool has_hole_before(LongPsn psn) const {
    return std::any_of(missing_.begin(), missing_.lower_bound(psn),
                       [&](const auto& hole) { return !seen_.contains(hole.first); });
  }

  /// True if the responder waits for a PSN before `psn` that was not sent again yet.
  [[nodiscard]] bool is_refused(LongPsn psn) const {
    return std::ranges::any_of(responses_, [&](const Entry& e) {
      if (e.sent->is_positive() || e.sent->psn >= psn) return false;
      const auto sent = seen_.find(e.sent->psn);
      return sent != seen_.end() && sent->second.at < e.at;
    });
  }

  void open(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    for (Asked& asked : open_) {
      if (asked.first > psn || asked.end != entry.sent->end()) continue;
      asked.entry = entry;  // all of it, or the rest, is requested again
      asked.is_repeated = true;
      asked.next = psn;
      asked.answered.erase(asked.answered.lower_bound(psn), asked.answered.end());
      asked.awaited = psn;
      return;
    }
    Asked asked;
    asked.entry = entry;
    asked.first = asked.next = psn;
    asked.end = entry.sent->end();
    // It was requested before, unseen: answers to that request may be on their way.
    if (missing_.contains(psn) || psn < shown_) {
      asked.is_repeated = true;
      asked.awaited = psn;
    }
    open_.push_back(asked);
  }

  // Responses

  void on_response(const Entry& entry) {
    const Sent& sent = *entry.sent;
    const LongPsn psn = sent.psn;
    if (!sent.is_positive()) {
      on_refusal(entry);
      show(entry, psn);
      pass(entry);
    } else {
      for (const LongPsn suspect : suspects_up_to(psn + 1)) late(suspect, entry);
      if (next_ && psn >= *next_ && is_measured()) {
        // The first response is known to belong to these requests only if it answers one of them.
        if (!responses_.empty()) add(ack_of_unseen, entry, *next_, psn + 1, "answers what was not seen");
        for (LongPsn hole = *next_; hole <= psn; ++hole) missing_.emplace(hole, entry);
        next_ = psn + 1;
      }
      show(entry, psn + 1);
      if (std::ranges::any_of(open_, [&](const Asked& asked) { return asked.end <= psn && !asked.is_answered(); })) {
        blocked_.insert(entry.at);
      }
      pass(entry);
      if (sent.is_answer()) answer(entry);
    }
    learn_round_trip(entry);
    responses_.push_back(entry);
  }

  /// Records that everything before `end` has arrived.
  void show(const Entry& entry, LongPsn end) {
    (void)entry;
    for (const auto& [psn, reveal] : missing_) {
      if (psn >= end) break;
      if (seen_.contains(psn) || !acknowledged_.insert(psn).second) continue;
      add(missed_by_capture, reveal, psn, psn + 1, "never seen, and arrived");
      if (damaged_.contains(psn)) add(request_lost_before, reveal, psn, psn + 1, "seen damaged, and arrived unseen");
    }
    shown_ = std::max(shown_, end);
  }

  [[nodiscard]] std::vector<LongPsn> suspects_up_to(LongPsn end) const {
    std::vector<LongPsn> all;
    for (const auto& [psn, entry] : suspects_) {
      if (psn < end) all.push_back(psn);
    }
    return all;
  }

  void on_refusal(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    for (const LongPsn suspect : suspects_up_to(psn)) late(suspect, entry);
    const auto sent = seen_.find(psn);
    if (entry.sent->syndrome.nak_code() != NakCode::psn_sequence_error || sent == seen_.end() ||
        sent->second.sent->psn != psn || discarded_.contains(sent->second.at)) {
      return;
    }
    const std::size_t since = sent->second.at;
    // The NAK came too soon to be an answer to this transmission, so it is about an earlier one.
    if (entry.time < sent->second.time + std::max(to_responder_ * 2, times_sent(psn) > 1 ? least_shown_ : Duration{})) {
      return;
    }
    if (missing_.contains(psn) || late_ends_.contains(psn)) return;
    // It came behind a later packet of its go-back, which may be what provoked the NAK.
    if (came_late_.contains(since)) return;
    for (const Entry& e : transmissions_) {
      if (e.at > since && e.sent->psn < psn) return;
    }
    for (const Entry& e : responses_) {
      if (!e.sent->is_positive() && (e.at > since || e.sent->psn == psn)) return;
    }
    suspects_[psn] = sent->second;
    refused_at_[psn] = entry.time;
  }

  /// Returns how many transmissions of the PSN were seen.
  [[nodiscard]] std::ptrdiff_t times_sent(LongPsn psn) const {
    return std::ranges::count_if(transmissions_, [&](const Entry& e) { return e.sent->covers(psn); });
  }

  /// Learns the least round trip that the view shows: from a request that was sent once to a response with its PSN.
  void learn_round_trip(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    const auto sent = seen_.find(psn);
    if (sent == seen_.end() || sent->second.sent->psn != psn || times_sent(psn) != 1) return;
    const Duration trip = entry.time - sent->second.time;
    least_shown_ = least_shown_ == Duration{} ? trip : std::min(least_shown_, trip);
  }

  void late(LongPsn psn, const Entry& by) {
    const Entry sent = suspects_.at(psn);
    suspects_.erase(psn);
    late_ends_.insert(sent.sent->end());
    if (times_sent(psn) != 1) return;  // the NAK may be about an earlier transmission
    if (by.time - refused_at_.at(psn) >= to_responder_ * 2) return;
    add(request_late_after, sent, "NAKed, and answered sooner than it could have been sent again");
  }

  void convict(LongPsn psn) {
    const auto suspect = suspects_.find(psn);
    if (suspect == suspects_.end()) return;
    add(request_lost_after, suspect->second, "NAKed, not answered before it was sent again");
    suspects_.erase(suspect);
  }

  void pass(const Entry& entry) {
    bool said = false;
    for (Asked& asked : open_) {
      if (asked.end > entry.sent->psn || asked.is_answered() || asked.was_passed) continue;
      asked.was_passed = true;
      // A refusal passes it too: the verdict may be on the refusal or on the first ACK after it, so none is demanded.
      if (entry.sent->is_positive() && !asked.is_repeated && !said) {
        add(implied_nak, entry, "passes a READ or atomic");
        said = true;
      }
    }
  }

  void answer(const Entry& entry) {
    const LongPsn psn = entry.sent->psn;
    const auto found =
        std::ranges::find_if(open_, [&](const Asked& asked) { return asked.first <= psn && psn < asked.end; });
    if (found == open_.end()) return;
    Asked& asked = *found;
    if (asked.awaited) {
      // Until the awaited response comes, these may be responses to the earlier request.
      if (psn != *asked.awaited || entry.time < asked.entry.time + to_responder_ * 2) return;
      asked.awaited.reset();
    }
    if (run_.has_ip_id && psn != asked.next && was_overtaken_by(responses_, entry)) {
      if (!asked.missing.contains(psn)) return;
      add(response_out_of_order, entry, "its identification is older");
      asked.answered.insert(psn);
      asked.ever.insert(psn);
      asked.missing.erase(psn);
      return;
    }
    if (psn < asked.next && asked.answered.contains(psn)) {
      // The responder got another request that was not seen, and begins its answer again.
      asked.next = psn;
      asked.missing.clear();
      hole_at_.erase(hole_at_.lower_bound(asked.first), hole_at_.lower_bound(asked.end));
    }
    const auto was = [&](const std::set<LongPsn>& set, LongPsn first, LongPsn end) {
      return set.lower_bound(first) != set.lower_bound(end);
    };
    if (psn > asked.next) {
      if (!was(asked.missing, asked.next, psn) && !was(asked.ever, asked.next, psn)) {
        add(response_gap, entry, asked.next, psn, "left out of an answer");
      }
      for (LongPsn hole = asked.next; hole < psn; ++hole) {
        asked.missing.insert(hole);
        hole_at_.emplace(hole, entry.time);
      }
    } else if (psn < asked.next && !asked.answered.contains(psn) &&
               entry.sent->info().operation == Operation::read_response) {
      const auto hole = hole_at_.find(psn);
      const bool is_soon = hole != hole_at_.end() && entry.time - hole->second < to_requester_ * 2;
      if (is_soon) add(response_out_of_order, entry, "behind a later response to the same READ");
    }
    asked.answered.insert(psn);
    asked.ever.insert(psn);
    asked.missing.erase(psn);
    asked.next = std::max(asked.next, psn + 1);
  }

  // Reasons for retransmissions

  void explain(const Entry& entry, bool is_start) {
    const LongPsn psn = entry.sent->psn;
    const auto found = seen_.find(psn);
    if (!is_start || found == seen_.end() || has_older_unanswered(psn) || responses_.empty()) return;
    const Entry earlier = found->second;
    std::vector<Entry> since;
    for (const Entry& e : responses_) {
      if (e.at > earlier.at) since.push_back(e);
    }
    for (const Entry& e : since) {
      if (!e.sent->is_positive() && e.sent->psn <= psn) return;  // a refusal asked for it
    }
    if (discarded_.contains(earlier.at)) return;
    if (earlier.sent->needs_answer()) {
      explain_answer(entry, earlier);
      return;
    }
    if (entry.time - earlier.time < kLeastTimeout) return;
    bool any = false;
    for (const Entry& e : since) {
      if (e.sent->psn < psn || (e.sent->psn == psn && !e.sent->is_positive())) continue;
      any = true;
      if (!e.sent->is_positive() || blocked_.contains(e.at)) continue;
      if (e.time + to_requester_ * 2 > entry.time) continue;
      add(response_lost_after, e, "acknowledges what is sent again");
    }
    if (!any && earlier.sent->ack_req) add(lost_beyond, earlier, "not answered, sent again");
  }

  void explain_answer(const Entry& entry, const Entry& earlier) {
    const LongPsn psn = entry.sent->psn;
    const auto asked =
        std::ranges::find_if(open_, [&](const Asked& each) { return each.first <= psn && psn < each.end; });
    if (asked == open_.end()) return;
    const bool is_timeout = entry.time - earlier.time >= kLeastTimeout;
    bool is_executed = false;
    bool is_passed = false;
    bool is_overtaken = false;
    std::vector<Entry> answers;
    for (const Entry& e : responses_) {
      // A response that comes sooner answers an earlier transmission.
      if (e.at < earlier.at || e.time < earlier.time + to_responder_ * 2) continue;
      if (e.sent->psn == psn && e.sent->is_answer()) answers.push_back(e);
      // Once executed, it may be lost when it is requested again: only the new answer shows that it was not.
      const bool is_new = !asked->is_repeated || !asked->awaited;
      is_executed = is_executed || (!asked->is_repeated && e.sent->psn >= asked->end) ||
                    (is_new && e.sent->is_answer() && asked->covers(e.sent->psn));
      is_passed = is_passed || e.sent->psn >= asked->end;
      is_overtaken = is_overtaken || e.sent->psn > psn || (e.sent->psn == psn && !e.sent->is_answer());
    }
    if (!answers.empty()) {
      for (const Entry& e : answers) {
        // A later response makes the requester ask again too, whether this one was lost or only overtaken.
        if (is_passed || (is_overtaken && !is_timeout)) continue;
        if (blocked_.contains(e.at) || e.time + to_requester_ * 2 > entry.time) continue;
        add(is_overtaken ? response_not_in_time : response_lost_after, e, "asked for again");
      }
    } else if (is_executed) {
      add(response_lost_before, earlier, psn, psn + 1, "executed, asked for again");
    } else if (is_timeout) {
      add(lost_beyond, earlier, "not answered, asked for again");
    }
  }

  /// True if a request before `psn` still waits for its answer, as far as the view shows.
  [[nodiscard]] bool has_older_unanswered(LongPsn psn) const {
    if (has_hole_before(psn)) return true;
    for (const Asked& asked : open_) {
      if (asked.end <= psn && !asked.is_answered()) return true;
    }
    const auto behind = seen_.lower_bound(psn);
    if (behind == seen_.begin()) return false;
    const auto& [last, entry] = *std::prev(behind);
    if (entry.sent->needs_answer()) return false;
    for (const Entry& e : responses_) {
      if (e.sent->psn + (e.sent->is_positive() ? 1 : 0) > last) return false;
    }
    return true;
  }

  const Run& run_;
  std::size_t channel_;
  std::vector<Unit>& units_;
  Duration to_responder_{};
  Duration to_requester_{};

  std::optional<LongPsn> next_;
  LongPsn shown_ = 0;                 ///< PSN after the last that responses have shown to have arrived
  std::map<LongPsn, Entry> seen_;     ///< latest transmission of each PSN
  std::set<LongPsn> damaged_;         ///< PSNs of requests that were seen with a wrong ICRC
  std::map<LongPsn, Entry> missing_;  ///< missing PSNs, and the packet that revealed the gap
  std::set<LongPsn> acknowledged_;    ///< missing PSNs that a response has acknowledged
  std::optional<LongPsn> run_next_;   ///< PSN after the latest retransmission, if no other request followed it
  LongPsn run_first_ = 0;
  Time run_begin_{};
  std::set<LongPsn> resent_;  ///< PSNs of the run under way
  std::optional<std::size_t> last_again_;
  std::vector<Entry> responses_;
  std::vector<Entry> transmissions_;
  std::vector<Asked> open_;
  bool mtu_seen_ = false;
  Duration least_shown_{};             ///< least round trip that the view shows; zero if none
  std::map<LongPsn, Entry> suspects_;  ///< transmissions that did not arrive according to a NAK
  std::map<LongPsn, Time> refused_at_;
  std::set<LongPsn> late_ends_;      ///< PSNs after requests that were late: packets sent with those were discarded
  std::set<std::size_t> discarded_;  ///< requests that came while an earlier one was missing or refused
  std::set<std::size_t> came_late_;  ///< requests that a later transmission overtook
  std::set<std::size_t> blocked_;    ///< responses that came while an older READ or atomic had no answer
  std::map<LongPsn, Time> hole_at_;
};

}  // namespace roce::sim_truth
