// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/sim_truth_way.h"

#include <algorithm>
#include <optional>

#include "roce/wire/aeth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/reth.h"

namespace roce::sim_truth {

using impair::Direction;

void Way::enter(bool from_b, Bytes frame) {
  const std::size_t index = run_.sent.size();
  run_.sent.push_back(facts_of(from_b, frame));
  submit(from_b ? 1 : 0, from_b, index, frame);
  pump(from_b ? 1 : 0);
}

Sent Way::facts_of(bool from_b, Bytes frame) {
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const Bth bth = packet.bth();
  Sent sent;
  sent.time = network_.now();
  sent.from_b = from_b;
  sent.opcode = packet.opcode();
  sent.ack_req = bth.ack_req;
  if (sent.info().operation == Operation::cnp) return sent;
  sent.is_response = sent.info().is_response();
  sent.is_request = !sent.is_response;
  if (const auto aeth = packet.get<Aeth>()) sent.syndrome = aeth->syndrome;
  const auto& [requests, responses] = channels_.at({!from_b, bth.dest_qp.value()});
  sent.channel = sent.is_request ? requests : responses;
  Channel& channel = run_.channels[sent.channel];
  sent.psn = channel.highest + bth.psn.distance_from(Psn{static_cast<std::uint32_t>(channel.highest & 0xFF'FFFF)});
  const std::size_t index = run_.sent.size();
  if (sent.is_response) {
    channel.responses.push_back(index);
    channel.responses_of[sent.psn].push_back(index);
    return sent;
  }
  if (sent.is_read()) {
    sent.read_length = packet.get<Reth>()->dma_length;
    sent.span = std::max(1U, (sent.read_length + channel.mtu - 1) / channel.mtu);
  }
  channel.requests.push_back(index);
  for (LongPsn psn = sent.psn; psn < sent.end(); ++psn) {
    std::vector<std::size_t>& all = channel.requests_of[psn];
    sent.transmission = std::max(sent.transmission, static_cast<std::uint32_t>(all.size()));
    all.push_back(index);
  }
  channel.highest = std::max(channel.highest, sent.end());
  return sent;
}

void Way::submit(std::size_t engine, bool from_b, std::size_t item, Bytes frame) {
  items_[engine].push_back(item);
  if (engines_[engine].submit(from_b ? Direction::b_to_a : Direction::a_to_b, frame, network_.now()) !=
      impair::Submitted::taken) {
    run_.failure = "the fault engine did not take a frame";
  }
}

void Way::pump(std::size_t engine) {
  const Time now = network_.now();
  while (const std::optional<impair::Output> output = engines_[engine].poll(now)) {
    const sim::Frame frame(output->bytes.begin(), output->bytes.end());
    const bool from_b = output->direction == Direction::b_to_a;
    const std::size_t item = items_[engine][output->packet - 1];
    const bool is_first_half = from_b == (engine == 1);
    if (is_first_half) {
      const std::size_t passage = pass(item, frame);
      submit(1 - engine, from_b, passage, frame);
      pump(1 - engine);
    } else {
      leave(item, from_b, frame);
    }
  }
  const Time next = engines_[engine].next_timeout();
  if (next == kNever || (woken_at_[engine] > now && woken_at_[engine] <= next)) return;
  woken_at_[engine] = next;
  network_.after(next - now, [this, engine] { pump(engine); });
}

std::size_t Way::pass(std::size_t index, const sim::Frame& frame) {
  const std::size_t number = run_.passages.size();
  Passage passage;
  passage.sent = index;
  passage.time = network_.now();
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const IcrcVerdict icrc = check_icrc(packet);
  passage.is_corrupted = icrc.status == IcrcStatus::bad;
  passage.observation = analysis::observe_packet(packet, icrc, passage.time, {});
  passage.is_ce = passage.observation.is_ce();
  passage.frame = frame;
  Sent& sent = run_.sent[index];
  if (passage.is_corrupted) {
    sent.bad_passages.push_back(number);
  } else {
    sent.is_lost_before = false;
    passage.copy = sent.passages.size();
    if (sent.channel != kNone) {
      std::size_t& newest = newest_[{sent.channel, sent.is_request}];
      passage.is_behind = newest > index + 1;
      newest = std::max(newest, index + 1);
    }
    sent.passages.push_back(number);
  }
  run_.passages.push_back(std::move(passage));
  return number;
}

void Way::leave(std::size_t index, bool from_b, const sim::Frame& frame) {
  Passage& passage = run_.passages[index];
  if (check_icrc(parse_frame(frame, LinkType::ethernet)).status != IcrcStatus::bad) {
    Sent& sent = run_.sent[passage.sent];
    const std::size_t arrival = arrivals_++;
    sent.is_lost = false;
    ++sent.arrivals;
    if (sent.first_arrival == kNone) sent.left = network_.now();
    if (!passage.arrived) passage.arrival = arrival;
    passage.arrived = true;
    sent.first_arrival = std::min(sent.first_arrival, arrival);
  }
  network_.inject(ends_[from_b ? 0 : 1], frame);
}

}  // namespace roce::sim_truth
