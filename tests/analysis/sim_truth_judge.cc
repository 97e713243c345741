// SPDX-License-Identifier: BSD-2-Clause
// The truth of verdicts. The rules are those of docs/analysis.md, "Ground truth", for captures that may miss packets.
#include "analysis/sim_truth_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "roce/analysis/tracker.h"

namespace roce::sim_truth {

using analysis::Verdict;
using analysis::VerdictKind;
using enum analysis::VerdictKind;

View::View(const Run& of, std::vector<std::size_t> passages_kept)
    : run(&of), kept(std::move(passages_kept)), numbers(of.passages.size()) {
  for (std::size_t i = 0; i < kept.size(); ++i) numbers[kept[i]] = i + 1;
}

bool View::saw(const Sent& sent, std::size_t before) const {
  return std::ranges::any_of(sent.passages, [&](std::size_t passage) { return passage < before && has(passage); });
}

std::vector<Verdict> judge_view(const View& view) {
  analysis::Tracker tracker;
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < view.kept.size(); ++i) {
    analysis::Observation observation = view.run->passages[view.kept[i]].observation;
    observation.id = {i + 1, 0};
    const auto& immediate = tracker.observe(observation).verdicts;
    verdicts.insert(verdicts.end(), immediate.begin(), immediate.end());
    tracker.drain(verdicts);
  }
  tracker.finish();
  tracker.drain(verdicts);
  return verdicts;
}

bool is_judged(VerdictKind kind) {
  switch (kind) {
    case response_not_in_time:
    case duplicate_ack:
    case response_repeated:
    case unexplained:
      return false;
    default:
      return true;
  }
}

namespace {

/// The rules. Each returns the reason why a verdict is false, or nothing.
class Judge {
 public:
  Judge(const View& view, const Verdict& verdict)
      : view_(view),
        run_(*view.run),
        verdict_(verdict),
        index_(view.kept[verdict.packet.frame - 1]),
        passage_(run_.passages[index_]),
        sent_(run_.sent[passage_.sent]) {}

  Judgement operator()() {
    Judgement result;
    result.channel = sent_.channel;
    if (sent_.channel != kNone) {
      channel_ = &run_.channels[sent_.channel];
      const auto near = static_cast<std::uint32_t>(sent_.psn & 0xFF'FFFF);
      first_ = result.first = sent_.psn + verdict_.first_psn.distance_from(Psn{near});
    }
    result.why = why_false();
    if (!result.why.empty()) result.ruling = is_unknowable_ ? Ruling::unknowable : Ruling::wrong;
    return result;
  }

 private:
  std::string why_false() {
    const VerdictKind kind = verdict_.kind;
    if (kind == bad_icrc) return passage_.is_corrupted ? "" : "the ICRC is right";
    if (passage_.is_corrupted) return "its ICRC is wrong: it says nothing";
    if (kind == ce_mark) return passage_.is_ce ? "" : "it carries no CE mark";
    if (kind == cnp) return sent_.info().operation == Operation::cnp ? "" : "it is no CNP";
    if (kind == duplicate) return why_no_duplicate();
    if (channel_ == nullptr) return "it is of no connection";
    switch (kind) {
      case gap:
        return why_no_gap();
      case retransmission:
        return why_not_again();
      case out_of_order:
        return why_in_order(sent_.is_request);
      case response_out_of_order:
        return why_in_order(sent_.is_response);
      case rule_broken:
        return fmt::format("our endpoint keeps {}", rule_info(verdict_.rule).identifier);
      case new_connection:
        return "there is but one connection";
      case response_gap:
        return why_no_response_gap();
      case nak_sequence_error:
        return is_nak(NakCode::psn_sequence_error);
      case nak_invalid_request:
        return is_nak(NakCode::invalid_request);
      case nak_remote_access_error:
        return is_nak(NakCode::remote_access_error);
      case nak_remote_operational_error:
        return is_nak(NakCode::remote_operational_error);
      case nak_invalid_rd_request:
        return is_nak(NakCode::invalid_rd_request);
      case rnr_nak:
        return sent_.is_rnr() ? "" : "it is no RNR NAK";
      case ghost_ack:
        return why_no_ghost();
      case ack_of_unseen:
        return why_seen();
      case implied_nak:
        return why_nothing_passed();
      case request_lost_after:
        return why_not_lost_after(sent_.is_request);
      case response_lost_after:
        return why_not_lost_after(sent_.is_response);
      case response_not_in_time:
        return sent_.is_response && (sent_.is_lost || is_out_of_sequence()) ? "" : "it arrived in its turn";
      case request_late_after:
        return was_overtaken_behind() ? "" : "nothing overtook it behind the capture point";
      case lost_beyond:
        return why_not_lost_beyond();
      case no_answer:
      case never_ready:
        return why_answered();
      case request_lost_before:
        return for_each_psn([&](LongPsn psn) { return why_request_not_lost_before(psn); });
      case response_lost_before:
        return for_each_psn([&](LongPsn psn) { return why_response_not_lost_before(psn); });
      case missed_by_capture:
        return for_each_psn([&](LongPsn psn) { return why_not_missed(psn); });
      case reordered:
        return for_each_psn([&](LongPsn psn) { return why_not_reordered(psn); });
      default:
        return "";
    }
  }

  template <typename F>
  std::string for_each_psn(F&& why) const {
    for (LongPsn psn = first_; psn < first_ + verdict_.psn_count; ++psn) {
      if (std::string text = why(psn); !text.empty()) return fmt::format("PSN {}: {}", psn & 0xFF'FFFF, text);
    }
    return "";
  }

  [[nodiscard]] const std::vector<std::size_t>& requests_of(LongPsn psn) const {
    static const std::vector<std::size_t> none;
    const auto found = channel_->requests_of.find(psn);
    return found == channel_->requests_of.end() ? none : found->second;
  }
  [[nodiscard]] const std::vector<std::size_t>& responses_of(LongPsn psn) const {
    static const std::vector<std::size_t> none;
    const auto found = channel_->responses_of.find(psn);
    return found == channel_->responses_of.end() ? none : found->second;
  }

  std::string why_no_duplicate() {
    if (passage_.copy > 0)
      return verdict_.cause == analysis::Cause::capture ? "the network made it, not the capture" : "";
    // Without identifications, the answer to a copy of the request made after the capture point looks like a copy.
    is_unknowable_ = !run_.has_ip_id && (sent_.is_response ? was_request_copied_behind() : follows_its_like());
    return "nobody copied it";
  }

  /// True if the request before it has the same bits and passed just before: it may as well be a copy of that, and its
  /// other transmission lost before this point.
  [[nodiscard]] bool follows_its_like() const {
    constexpr Duration kCopyFollows = std::chrono::microseconds{2};
    for (std::size_t at = index_; at-- > 0;) {
      const Passage& before = run_.passages[at];
      const Sent& other = run_.sent[before.sent];
      if (other.channel != sent_.channel || !other.is_request || before.is_corrupted || !view_.has(at)) continue;
      return before.observation.icrc == passage_.observation.icrc && passage_.time - before.time < kCopyFollows;
    }
    return false;
  }

  [[nodiscard]] bool was_request_copied_behind() const {
    const bool is_own = sent_.is_answer();
    return std::ranges::any_of(channel_->requests, [&](std::size_t index) {
      const Sent& request = run_.sent[index];
      return request.arrivals > request.passages.size() && request.psn <= sent_.psn &&
             (!is_own || request.covers(sent_.psn)) && index < passage_.sent;
    });
  }

  std::string why_not_again() {
    if (sent_.is_request && sent_.transmission > 0) return "";
    is_unknowable_ = is_late_behind_refusal(passage_.sent) || may_be_exchanged();
    return "this PSN was never sent before";
  }

  /// True if another transmission with the same bits passed earlier, and had been sent by then, as this one had: the
  /// capture is the same if the two changed their places, and no delay is longer then.
  [[nodiscard]] bool may_be_exchanged() const {
    const std::vector<std::size_t>& all = sent_.is_request ? requests_of(sent_.psn) : responses_of(sent_.psn);
    return std::ranges::any_of(all, [&](std::size_t index) {
      const Sent& other = run_.sent[index];
      if (index == passage_.sent || other.psn != sent_.psn) return false;
      return std::ranges::any_of(other.passages, [&](std::size_t at) {
        const Passage& earlier = run_.passages[at];
        return at < index_ && view_.has(at) && sent_.time <= earlier.time &&
               earlier.observation.icrc == passage_.observation.icrc &&
               earlier.observation.opcode == passage_.observation.opcode;
      });
    });
  }

  /// True if a request came late, after a refusal asked for it: without identifications it looks like one sent again.
  [[nodiscard]] bool is_late_behind_refusal(std::size_t request) const {
    const Sent& late = run_.sent[request];
    if (run_.has_ip_id || !late.is_request || late.passages.empty() || !run_.passages[late.passages[0]].is_behind) {
      return false;
    }
    return std::ranges::any_of(responses_of(late.psn), [&](std::size_t response) {
      const Sent& refusal = run_.sent[response];
      return !refusal.is_positive() && view_.saw(refusal, late.passages[0]);
    });
  }

  [[nodiscard]] std::string why_in_order(bool is_right_sort) {
    if (!is_right_sort) return "it is of the other sort";
    if (passage_.is_behind) return "";
    is_unknowable_ = may_be_exchanged();
    return "nothing that was sent later came by before it";
  }

  [[nodiscard]] std::string is_nak(NakCode code) const {
    return sent_.is_nak() && sent_.syndrome.nak_code() == code ? "" : "it is no such NAK";
  }

  std::string why_no_gap() {
    if (!sent_.is_request) return "it is of the other sort";
    return for_each_psn([&](LongPsn psn) -> std::string {
      if (psn >= sent_.psn) return "it is not in front of the packet";
      const std::vector<std::size_t>& all = requests_of(psn);
      const auto last = std::find_if(all.rbegin(), all.rend(), [&](std::size_t s) { return s < passage_.sent; });
      if (last == all.rend()) return "it was never sent";
      return view_.saw(run_.sent[*last], index_) ? "it was seen when it was sent last" : "";
    });
  }

  /// True if the capture has, before this response, an answer to `psn` that the responder sent after it was last asked
  /// for it. A request that reached the responder while this response was on its way does not count.
  [[nodiscard]] bool was_answered(LongPsn psn) const {
    const Duration way = (sent_.from_b ? run_.to_b : run_.to_a) * 2;
    std::size_t asked = 0;
    for (const std::size_t request : requests_of(psn)) {
      if (run_.sent[request].is_lost || run_.sent[request].left + way > sent_.time) continue;
      for (const std::size_t passage : run_.sent[request].passages) {
        if (passage < index_ && view_.has(passage)) asked = std::max(asked, passage + 1);
      }
    }
    for (const std::size_t response : responses_of(psn)) {
      if (!run_.sent[response].is_answer()) continue;
      for (const std::size_t passage : run_.sent[response].passages) {
        if (passage < index_ && passage + 1 > asked && view_.has(passage)) return true;
      }
    }
    return false;
  }

  std::string why_no_response_gap() {
    if (!sent_.is_response) return "it is of the other sort";
    // The responses of one answer were sent one after the other.
    const std::vector<std::size_t>& all = channel_->responses;
    const auto here = std::ranges::find(all, passage_.sent);
    return for_each_psn([&](LongPsn psn) -> std::string {
      if (psn >= sent_.psn) return "it is not in front of the packet";
      if (here - all.begin() < sent_.psn - psn) return "it is not of this answer";
      const Sent& missing = run_.sent[*(here - (sent_.psn - psn))];
      if (missing.psn != psn || !missing.is_answer()) return "it is not of this answer";
      return view_.saw(missing, index_) ? "it was seen" : "";
    });
  }

  std::string why_answered() {
    if (!sent_.is_request) return "it is of the other sort";
    for (const std::size_t index : channel_->responses) {
      const Sent& response = run_.sent[index];
      if (index < passage_.sent || response.is_lost || !response.is_positive()) continue;
      const bool is_own = response.is_answer() && sent_.covers(response.psn);
      if (sent_.needs_answer() ? !is_own : response.psn < sent_.psn) continue;
      is_unknowable_ = !view_.saw(response);
      return "an answer to it arrived";
    }
    return "";
  }

  [[nodiscard]] std::string why_no_ghost() const {
    if (!sent_.is_response) return "it is of the other sort";
    for (const std::size_t response : channel_->responses) {
      const Sent& other = run_.sent[response];
      if (other.psn > sent_.psn && view_.saw(other, index_)) return "";
    }
    return "nothing before it acknowledged more";
  }

  std::string why_seen() {
    if (!sent_.is_response) return "it is of the other sort";
    return for_each_psn([&](LongPsn psn) -> std::string {
      const std::vector<std::size_t>& all = requests_of(psn);
      if (all.empty()) return "it was never sent";
      const bool seen = std::ranges::any_of(all, [&](std::size_t s) { return view_.saw(run_.sent[s], index_); });
      return seen ? "it was seen" : "";
    });
  }

  [[nodiscard]] std::string why_nothing_passed() const {
    if (!sent_.is_response) return "it is of the other sort";
    for (const std::size_t request : channel_->requests) {
      const Sent& other = run_.sent[request];
      if (!other.needs_answer() || other.end() > sent_.psn || !view_.saw(other, index_)) continue;
      for (LongPsn psn = other.psn; psn < other.end(); ++psn) {
        if (!was_answered(psn)) return "";
      }
    }
    return "every READ and atomic in front of it was answered";
  }

  std::string why_not_lost_after(bool is_right_sort) {
    if (!is_right_sort) return "it is of the other sort";
    if (sent_.is_lost) return "";
    // A response or request that was not taken in its turn looks like a lost one.
    is_unknowable_ = is_out_of_sequence() || (sent_.is_response ? is_start_hidden() : was_refused_unseen());
    return "it arrived";
  }

  /// True if an RNR NAK refused it that the view does not have: the NAK for a sequence error that follows, or the
  /// silence, is that of a request that did not arrive.
  [[nodiscard]] bool was_refused_unseen() const {
    return std::ranges::any_of(responses_of(sent_.psn), [&](std::size_t response) {
      return response > passage_.sent && run_.sent[response].is_rnr() && !view_.saw(run_.sent[response]);
    });
  }

  /// True if the go-back that the verdict refers to began with packets that are not in the capture: the first packet of
  /// it that was seen then looks like the oldest one without an answer.
  [[nodiscard]] bool is_start_hidden() const {
    if (verdict_.other.frame == 0 || verdict_.other.frame > view_.kept.size()) return false;
    const std::size_t other = run_.passages[view_.kept[verdict_.other.frame - 1]].sent;
    const std::vector<std::size_t>& all = channel_->requests;
    const auto here = std::ranges::find(all, other);
    if (here == all.end()) return false;
    for (auto each = here; each != all.begin();) {
      const Sent& before = run_.sent[*--each];
      if (before.transmission == 0 || before.end() != run_.sent[*(each + 1)].psn) return false;
      if (!view_.saw(before)) return true;
    }
    return false;
  }

  /// True if it arrived before something sent earlier, or after something sent later.
  [[nodiscard]] bool is_out_of_sequence() const {
    const std::vector<std::size_t>& all = sent_.is_request ? channel_->requests : channel_->responses;
    return std::ranges::any_of(all, [&](std::size_t index) {
      const Sent& other = run_.sent[index];
      return !other.is_lost && index != passage_.sent &&
             (index < passage_.sent) != (other.first_arrival < sent_.first_arrival);
    });
  }

  [[nodiscard]] bool was_overtaken_behind() const {
    if (!sent_.is_request || sent_.is_lost) return false;
    for (const std::size_t request : channel_->requests) {
      const Sent& other = run_.sent[request];
      if (request <= passage_.sent || other.is_lost || other.passages.empty()) continue;
      if (other.first_arrival < sent_.first_arrival && other.passages.front() > sent_.passages.front()) return true;
    }
    return false;
  }

  /// Checks that it was lost after this point, or one of its answers before this point.
  std::string why_not_lost_beyond() {
    if (!sent_.is_request) return "it is no request";
    // The verdict may be about all packets up to this one that were not answered.
    for (LongPsn psn = first_; psn < first_ + verdict_.psn_count; ++psn) {
      const std::vector<std::size_t>& every = requests_of(psn);
      const auto last = std::find_if(every.rbegin(), every.rend(), [&](std::size_t s) { return s <= passage_.sent; });
      if (last != every.rend() && run_.sent[*last].is_lost && !run_.sent[*last].is_lost_before) return "";
    }
    if (sent_.is_lost) return "";
    const std::vector<std::size_t>& all = requests_of(sent_.psn);
    const auto again = std::find_if(all.begin(), all.end(), [&](std::size_t s) { return s > passage_.sent; });
    bool any = false;
    for (const std::size_t response : channel_->responses) {
      const Sent& answer = run_.sent[response];
      if (response < passage_.sent || (again != all.end() && response > *again)) continue;
      // An answer that the capture missed looks like one that was lost before this point.
      if (answer.psn >= sent_.psn && !answer.is_lost_before && !view_.saw(answer)) is_unknowable_ = true;
      // A refusal is an answer, too.
      const bool refuses_it = !answer.is_positive() && answer.psn >= first_ && answer.psn < sent_.end();
      if (refuses_it && answer.is_lost_before) return "";
      if (!answer.is_positive()) continue;
      const bool is_own =
          sent_.needs_answer() ? answer.is_answer() && sent_.covers(answer.psn) : answer.psn >= sent_.psn;
      if (!is_own) continue;
      any = true;
      if (answer.is_lost_before) return "";
    }
    is_unknowable_ = is_unknowable_ || is_start_hidden();
    return any ? "it arrived, and its answer came to this point" : "it arrived, and was not answered";
  }

  /// Judges what a verdict with cause `corrupted` says: that the packet which it refers to is a damaged one with `psn`.
  [[nodiscard]] std::string why_not_damaged(LongPsn psn) {
    if (verdict_.other.frame == 0 || verdict_.other.frame > view_.kept.size()) return "it names no damaged packet";
    const Passage& other = run_.passages[view_.kept[verdict_.other.frame - 1]];
    if (!other.is_corrupted) return "the packet that it names is not damaged";
    const Sent& damaged = run_.sent[other.sent];
    const bool is_this = damaged.is_request && damaged.channel == sent_.channel && damaged.covers(psn);
    if (!is_this) return "the damaged packet had another PSN";
    // An intact copy of it came by. Without that the capture does not show it.
    if (!damaged.is_lost_before && !view_.saw(damaged)) is_unknowable_ = true;
    return damaged.is_lost_before ? "" : "an intact copy of the damaged packet came by";
  }

  std::string why_request_not_lost_before(LongPsn psn) {
    if (verdict_.cause == analysis::Cause::corrupted) return why_not_damaged(psn);
    for (const std::size_t request : requests_of(psn)) {
      const Sent& other = run_.sent[request];
      if (other.time > passage_.time) continue;
      if (other.is_lost_before) return "";
      // A request that the capture missed looks like one lost before this point until a response shows that it arrived.
      if (!view_.saw(other) && !was_acknowledged(psn)) is_unknowable_ = true;
      if (is_late_behind_refusal(request)) is_unknowable_ = true;
    }
    return "no request with this PSN was lost before this point";
  }

  /// True if a response that was seen before any request with `psn` shows that such a request had arrived.
  [[nodiscard]] bool was_acknowledged(LongPsn psn) const {
    std::size_t first = kNone;
    for (const std::size_t request : requests_of(psn)) {
      for (const std::size_t passage : run_.sent[request].passages) {
        if (view_.has(passage)) first = std::min(first, passage);
      }
    }
    return std::ranges::any_of(channel_->responses, [&](std::size_t response) {
      const Sent& other = run_.sent[response];
      return other.psn + (other.is_positive() ? 1 : 0) > psn && view_.saw(other, first);
    });
  }

  std::string why_response_not_lost_before(LongPsn psn) {
    const bool is_own =
        std::ranges::any_of(requests_of(psn), [&](std::size_t s) { return run_.sent[s].needs_answer(); });
    for (const std::size_t response : channel_->responses) {
      const Sent& other = run_.sent[response];
      if (!other.is_positive() || (is_own ? other.psn != psn || !other.is_answer() : other.psn < psn)) continue;
      if (other.is_lost_before) return "";
      // The capture missed it, and the requester asks for it again: all is as if it had been lost before this point.
      if (!view_.saw(other)) is_unknowable_ = true;
    }
    is_unknowable_ = is_unknowable_ || is_start_hidden();
    return "no answer to it was lost before this point";
  }

  [[nodiscard]] std::string why_not_missed(LongPsn psn) const {
    for (const std::vector<std::size_t>* all : {&requests_of(psn), &responses_of(psn)}) {
      for (const std::size_t each : *all) {
        const Sent& other = run_.sent[each];
        if (!other.is_lost_before && !view_.saw(other)) return "";
      }
    }
    return "every packet with this PSN that came by is in the capture";
  }

  [[nodiscard]] std::string why_not_reordered(LongPsn psn) const {
    for (const std::vector<std::size_t>* all : {&requests_of(psn), &responses_of(psn)}) {
      for (const std::size_t each : *all) {
        for (const std::size_t passage : run_.sent[each].passages) {
          if (run_.passages[passage].is_behind && view_.has(passage)) return "";
        }
      }
    }
    return "no packet with this PSN fell behind";
  }

  const View& view_;
  const Run& run_;
  const Verdict& verdict_;
  std::size_t index_;
  const Passage& passage_;
  const Sent& sent_;
  const Channel* channel_ = nullptr;
  LongPsn first_ = 0;
  bool is_unknowable_ = false;
};

}  // namespace

Judgement judge(const View& view, const Verdict& verdict) {
  if (verdict.packet.frame == 0 || verdict.packet.frame > view.kept.size()) {
    return {Ruling::wrong, "there is no such packet", kNone, 0};
  }
  return Judge(view, verdict)();
}

std::string describe(const View& view, const Verdict& verdict) {
  std::string text = fmt::format("{} of frame {} PSN {}+{}", verdict_info(verdict.kind).name, verdict.packet.frame,
                                 verdict.first_psn.value(), verdict.psn_count);
  if (verdict.cause != analysis::Cause::none) text += fmt::format(" cause {}", to_string(verdict.cause));
  if (verdict.other) text += fmt::format(" (refers to frame {})", verdict.other.frame);
  (void)view;
  return text;
}

namespace {

std::string line_of(const View& view, std::size_t index, bool is_marked) {
  const Passage& passage = view.run->passages[index];
  const Sent& sent = view.run->sent[passage.sent];
  const std::string number = view.has(index) ? fmt::format("{}", view.numbers[index]) : "withheld";
  std::string text = fmt::format("{} {:>8} {:13.3f} us {} {}", is_marked ? ">" : " ", number,
                                 static_cast<double>(passage.time.time_since_epoch().count()) / 1000,
                                 sent.from_b ? "B->A" : "A->B", sim::describe(passage.frame));
  if (sent.span > 1) text += fmt::format(" ({} PSNs)", sent.span);
  if (sent.transmission > 0) text += fmt::format(" sent-again({})", sent.transmission);
  if (passage.is_corrupted) text += " CORRUPTED";
  if (passage.copy > 0) text += " copy";
  if (passage.is_behind) text += " overtaken-before";
  if (passage.is_ce) text += " CE";
  if (passage.observation.has_ip_id && view.run->has_ip_id) text += fmt::format(" id {}", passage.observation.ip_id);
  if (!passage.is_corrupted && sent.is_lost) text += " LOST-AFTER";
  return text + "\n";
}

}  // namespace

std::string trace(const View& view, std::size_t passage, std::size_t before, std::size_t after) {
  const Run& run = *view.run;
  if (passage == kNone) {
    std::string all;
    for (std::size_t i = 0; i < run.passages.size(); ++i) all += line_of(view, i, false);
    return all;
  }
  const std::size_t channel = run.sent_of(passage).channel;
  if (channel == kNone) return line_of(view, passage, true);
  const std::size_t qp = run.channels[channel].qp;
  const auto is_of_it = [&](const Sent& sent) { return sent.channel != kNone && run.channels[sent.channel].qp == qp; };
  std::size_t begin = passage;
  while (begin > 0 && before > 0) {
    if (is_of_it(run.sent_of(--begin))) --before;
  }
  std::string text;
  Time last = run.passages[begin].time;
  for (std::size_t i = begin; i < run.passages.size() && (i <= passage || after > 0); ++i) {
    if (!is_of_it(run.sent_of(i))) continue;
    if (i > passage) --after;
    const Time now = run.passages[i].time;
    for (const Sent& sent : run.sent) {
      if (sent.is_lost_before && is_of_it(sent) && sent.time > last && sent.time <= now) {
        text += fmt::format("                              {} LOST BEFORE {} psn 0x{:06x} len? {}\n",
                            sent.from_b ? "B->A" : "A->B", sent.info().name, sent.psn & 0xFF'FFFF,
                            sent.transmission > 0 ? fmt::format("sent-again({})", sent.transmission) : "");
      }
    }
    last = now;
    text += line_of(view, i, i == passage);
  }
  return text;
}

}  // namespace roce::sim_truth
