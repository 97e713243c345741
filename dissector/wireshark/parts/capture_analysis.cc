// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/capture_analysis.h"

#include <algorithm>

namespace roce::plugin {

using analysis::Observation;
using analysis::PacketId;
using analysis::Verdict;

namespace {

analysis::TrackerOptions tracker_options() {
  analysis::TrackerOptions options;
  options.keep_first_ends = true;
  return options;
}

}  // namespace

CaptureAnalysis::CaptureAnalysis(const analysis::PauseOptions& pause) : tracker_(tracker_options()), pauses_(pause) {}

void CaptureAnalysis::observe(const Observation& observation, std::uint32_t offset) {
  if (last_ && observation.id <= last_) return;
  last_ = observation.id;
  if (first_packet_.size() <= observation.id.frame) {
    first_packet_.resize(observation.id.frame + 1, static_cast<std::uint32_t>(packets_.size()));
  }
  const std::optional<analysis::PauseBreach> breach = pauses_.observe(observation);
  const analysis::PacketAnalysis& known = tracker_.observe(observation);
  PacketFacts& facts = packets_.emplace_back();
  facts.id = observation.id;
  facts.offset = offset;
  facts.stream = known.stream;
  facts.direction = known.direction;
  facts.role = known.role;
  facts.is_damaged = observation.icrc_bad;
  facts.relative_psn = known.relative_psn;
  facts.message = known.message;
  facts.request = known.request;
  facts.latency = known.latency;
  facts.since_last = known.since_last;
  for (const Verdict& verdict : known.verdicts) add_verdict(verdict);
  if (breach) add_verdict(breach_verdict(observation, *breach, known.stream));
  learn_ends(observation, facts);
  if (known.absorbed != analysis::kNoStream) absorb(known.stream, known.absorbed);
  take_links(observation, facts, known.verdicts);
  take_news(&facts);
}

void CaptureAnalysis::learn_ends(const Observation& observation, const PacketFacts& facts) {
  if (facts.stream == analysis::kNoStream || observation.icrc_bad) return;
  if (stream_ends_.size() <= facts.stream) stream_ends_.resize(std::size_t{facts.stream} + 1);
  StreamEnd& from = stream_ends_[facts.stream][facts.direction];
  StreamEnd& to = stream_ends_[facts.stream][1U - facts.direction];
  from.address = observation.source;
  to.address = observation.destination;
  to.qpn = observation.dest_qp;
  if (observation.info().service == Service::ud) from.qpn = observation.source_qp;
}

void CaptureAnalysis::finish() {
  tracker_.finish();
  take_news(nullptr);
  take_certain_ends();
}

void CaptureAnalysis::take_certain_ends() {
  const auto ended_by = [](const analysis::Message& message) { return message.answer ? message.answer : message.last; };
  std::ranges::stable_sort(certain_, {}, ended_by);
  messages_ = std::move(certain_);
  certain_.clear();
  ended_.clear();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const PacketFacts* const by = find(ended_by(messages_[i]));
    if (by == nullptr) continue;
    const auto packet = static_cast<std::uint32_t>(by - packets_.data());
    if (ended_.empty() || ended_.back().packet != packet) ended_.push_back({packet, static_cast<std::uint32_t>(i), 0});
    ++ended_.back().count;
  }
}

void CaptureAnalysis::take_news(PacketFacts* revealed_by) {
  tracker_.drain(news_);
  for (const Verdict& verdict : news_) {
    const std::uint32_t index = add_verdict(verdict);
    if (index == 0 || revealed_by == nullptr) continue;
    learned_.push_back({index, revealed_by->learned});
    revealed_by->learned = static_cast<std::uint32_t>(learned_.size());
  }
  news_.clear();
  tracker_.drain_answers(answers_);
  for (const analysis::Answer& answer : answers_) {
    if (PacketFacts* const request = facts_of(answer.request)) {
      request->response = answer.response;
      request->latency = answer.latency;
      windows_.round_trip(channel_of(*request), answer.latency);
    }
  }
  answers_.clear();
  const std::size_t first = messages_.size();
  tracker_.drain_first_ends(messages_);
  tracker_.drain_messages(certain_);
  if (revealed_by != nullptr && messages_.size() != first) {
    ended_.push_back({static_cast<std::uint32_t>(revealed_by - packets_.data()), static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>(messages_.size() - first)});
  }
}

std::span<const analysis::Message> CaptureAnalysis::messages_ended_by(const PacketFacts& facts) const {
  const auto packet = static_cast<std::uint32_t>(&facts - packets_.data());
  const auto found = std::ranges::lower_bound(ended_, packet, {}, &Ended::packet);
  if (found == ended_.end() || found->packet != packet) return {};
  return std::span{messages_}.subspan(found->first, found->count);
}

StreamEnd CaptureAnalysis::end_of(std::uint32_t stream, std::uint8_t end) const {
  return stream < stream_ends_.size() ? stream_ends_[stream][end & 1U] : StreamEnd{};
}

std::uint32_t CaptureAnalysis::add_verdict(const Verdict& verdict) {
  PacketFacts* const about = facts_of(verdict.packet);
  if (about == nullptr) return 0;
  verdicts_.push_back({verdict, 0});
  const auto index = static_cast<std::uint32_t>(verdicts_.size());
  std::uint32_t* place = &about->verdicts;
  while (*place != 0) place = &verdicts_[*place - 1].next;
  *place = index;
  return index;
}

std::uint32_t CaptureAnalysis::packets_in(std::uint64_t frame) const {
  if (frame >= first_packet_.size()) return 0;
  const std::size_t end = frame + 1 < first_packet_.size() ? first_packet_[frame + 1] : packets_.size();
  return static_cast<std::uint32_t>(end - first_packet_[frame]);
}

const PacketFacts* CaptureAnalysis::find(PacketId id) const {
  return has(id) ? &packets_[first_packet_[id.frame] + id.segment] : nullptr;
}

const PacketFacts* CaptureAnalysis::find_at(std::uint64_t frame, std::uint32_t offset) const {
  const std::uint32_t count = packets_in(frame);
  for (std::uint32_t i = 0; i < count; ++i) {
    const PacketFacts& facts = packets_[first_packet_[frame] + i];
    if (facts.offset == offset) return &facts;
  }
  return nullptr;
}

PacketFacts* CaptureAnalysis::facts_of(PacketId id) {
  return has(id) ? &packets_[first_packet_[id.frame] + id.segment] : nullptr;
}

}  // namespace roce::plugin
