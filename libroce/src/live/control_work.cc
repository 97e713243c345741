// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol that post work and report what became of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "live/carried_out.h"
#include "roce/json_input/json_input.h"
#include "roce/live/control_names.h"
#include "roce/live/control_session.h"
#include "roce/live/memory_requests.h"

namespace roce::live {

namespace {

using transport::QpType;

constexpr std::size_t kMaxCompletions = 65536;
constexpr std::uint32_t kMaxSlots = 4096;
constexpr std::size_t kMaxPieces = 16;
/// The largest work request number that a client may use.
constexpr std::uint64_t kMaxRequest = ControlSinks::kFirstRequest - 1;

}  // namespace

transport::Sge ControlSession::sge_of(const Json& request) {
  const Memory& memory = memory_of(request);
  const std::span<std::byte> range = range_of(memory.bytes, request, UINT32_MAX);
  return {memory.info.address + static_cast<std::uint64_t>(range.data() - memory.bytes.data()),
          static_cast<std::uint32_t>(range.size()), memory.info.l_key};
}

std::vector<transport::Sge> ControlSession::pieces_of(const Json& request) {
  if (request.contains("memory")) return {sge_of(request)};
  std::vector<transport::Sge> pieces;
  const Json all = list(request, "pieces");
  if (all.size() > kMaxPieces) {
    throw Refusal(fmt::format("\"pieces\" has {} members, needs at most {}", all.size(), kMaxPieces));
  }
  pieces.reserve(all.size());
  for (const Json& piece : all) {
    if (!piece.is_object()) {
      throw Refusal(fmt::format("\"pieces\" has {}, needs objects", json_input::shown_value(piece)));
    }
    pieces.push_back({number<std::uint64_t>(piece, "address", 0, UINT64_MAX),
                      number<std::uint32_t>(piece, "length", 0, UINT32_MAX),
                      LKey{number<std::uint32_t>(piece, "l_key", 0, UINT32_MAX)}});
  }
  return pieces;
}

transport::MwBinding ControlSession::bind_of(const Json& request) const {
  return {.mw = object_of(windows_, request, "window"),
          .mr = object_of(regions_, request, "region"),
          .address = number<std::uint64_t>(request, "bind_address", 0, UINT64_MAX),
          .length = number<std::uint64_t>(request, "bind_length", 0, UINT64_MAX),
          .access = rights_of(request),
          .variant = number<std::uint8_t>(request, "key_variant", 0, UINT8_MAX, 0)};
}

ControlSession::Answer ControlSession::post_receive(const Json& request, Time) {
  if (!request.contains("memory") && !request.contains("pieces")) throw Refusal("\"memory\" is missing");
  const std::vector<transport::Sge> pieces = pieces_of(request);
  const auto wr_id = number<std::uint64_t>(request, "wr_id", 0, kMaxRequest, 0);
  const transport::ReceiveRequest receive{.wr_id = wr_id, .sges = pieces};
  if (request.contains("srq")) {
    if (request.contains("qp")) throw Refusal("a receive is for a \"qp\" or for an \"srq\", not for both");
    carried_out(device_.post_srq_receive(object_of(srqs_, request, "srq"), receive), "post_receive");
  } else {
    carried_out(device_.post_receive(qp_of(request), receive), "post_receive");
  }
  return {};
}

ControlSession::Answer ControlSession::post_send(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  transport::SendRequest send;
  send.wr_id = number<std::uint64_t>(request, "wr_id", 0, kMaxRequest, 0);
  send.opcode = opcode_of(text(request, "opcode"));
  const std::vector<transport::Sge> pieces = pieces_of(request);
  send.sges = pieces;
  if (send.opcode == transport::WorkOpcode::bind_mw) send.bind = bind_of(request);
  send.signaled = !request.contains("signaled") || flag(request, "signaled");
  send.solicited = flag(request, "solicited");
  send.fence = flag(request, "fence");
  send.immediate = number<std::uint32_t>(request, "immediate", 0, 0xFFFF'FFFF, 0);
  send.invalidate = RKey{number<std::uint32_t>(request, "invalidate", 0, 0xFFFF'FFFF, 0)};
  send.remote.address = number<std::uint64_t>(request, "remote_address", 0, UINT64_MAX, 0);
  send.remote.r_key = RKey{number<std::uint32_t>(request, "r_key", 0, 0xFFFF'FFFF, 0)};
  send.compare_add = number<std::uint64_t>(request, "compare_add", 0, UINT64_MAX, 0);
  send.swap = number<std::uint64_t>(request, "swap", 0, UINT64_MAX, 0);
  send.flush.length = number<std::uint32_t>(request, "flush_length", 0, 0xFFFF'FFFF, 0);
  send.flush.persistent = flag(request, "persistent");
  if (const auto ah = ahs_.find(qpn); ah != ahs_.end()) {
    send.datagram.ah = ah->second;
    send.datagram.qpn = Qpn{number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax)};
    send.datagram.q_key = QKey{number<std::uint32_t>(request, "q_key", 0, 0xFFFF'FFFF, kControlQKey)};
  }
  carried_out(device_.post_send(qpn, send), "post_send");
  return {};
}

ControlSession::Answer ControlSession::report(std::span<const transport::Completion> completions) const {
  Answer list = Answer::array();
  for (const transport::Completion& c : completions) {
    Answer item{{"wr_id", c.wr_id},
                {"status", std::string{to_string(c.status)}},
                {"opcode", std::string{to_string(c.opcode)}},
                {"qp", c.qpn.value()},
                {"byte_length", c.byte_length}};
    if (c.has_immediate) item["immediate"] = c.immediate;
    if (c.has_invalidated) item["invalidated"] = c.invalidated.value();
    if (c.has_network_header) item["source_qp"] = c.source_qp.value();
    list.push_back(std::move(item));
  }
  return {{"completions", std::move(list)}, {"lost", lost_completions_}};
}

ControlSession::Answer ControlSession::poll_completions(const Json& request, Time) {
  const auto most = number<std::size_t>(request, "max", 1, 4096, 256);
  if (request.contains("cq")) {
    std::vector<transport::Completion> completions(most);
    completions.resize(device_.poll_cq(object_of(cqs_, request, "cq"), completions));
    return report(completions);
  }
  const std::size_t count = std::min(most, completions_.size());
  Answer answer = report(std::span{completions_}.first(count));
  completions_.erase(completions_.begin(), completions_.begin() + static_cast<std::ptrdiff_t>(count));
  return answer;
}

ControlSession::Answer ControlSession::poll_events(const Json& request, Time) {
  const auto most = number<std::size_t>(request, "max", 1, 4096, 256);
  const std::size_t count = std::min(most, events_.size());
  Answer list = Answer::array();
  for (const transport::Event& event : std::span{events_}.first(count)) {
    Answer item{{"event", std::string{to_string(event.type)}}};
    if (qps_.contains(event.qpn)) item["qp"] = event.qpn.value();
    const auto cq = std::ranges::find(cqs_, event.cq, [](const auto& each) { return each.second; });
    if (cq != cqs_.end()) item["cq"] = cq->first;
    const auto srq = std::ranges::find(srqs_, event.srq, [](const auto& each) { return each.second; });
    if (srq != srqs_.end()) item["srq"] = srq->first;
    list.push_back(std::move(item));
  }
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(count));
  return {{"events", std::move(list)}, {"lost", lost_events_}};
}

ControlSession::Answer ControlSession::sink(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  const Memory& memory = memory_of(request);
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  ControlSinks::Slots slots;
  slots.bytes = memory.bytes.subspan(offset);
  slots.area = {memory.info.address + offset, 0, memory.info.l_key};
  slots.datagrams = qps_.at(qpn).type == QpType::ud;
  slots.slot_bytes = number<std::uint32_t>(request, "slot_bytes", 1, UINT32_MAX);
  slots.index = number<std::uint32_t>(request, "index", 0, 0xFFFF, 0);
  slots.seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  const auto count = number<std::uint64_t>(request, "slots", 1, kMaxSlots);
  if (count > slots.bytes.size() / slots.slot_bytes) throw Refusal("the slots do not fit the memory");
  if (qps_.at(qpn).shares_receives) throw Refusal("this queue pair has the receives of an SRQ");
  if (qps_.at(qpn).reports_elsewhere) throw Refusal("the receives of this queue pair complete on a CQ of yours");
  if (sinks_.contains(qpn)) throw Refusal("this queue pair has a sink");
  carried_out(sinks_.add(qpn, slots, count), "sink");
  return {};
}

ControlSession::Answer ControlSession::sink_status(const Json& request, Time) {
  const ControlSinks::Counts* counts = sinks_.counts(qp_of(request));
  if (counts == nullptr) throw Refusal("this queue pair has no sink");
  return {{"received", counts->received}, {"wrong", counts->wrong}};
}

ControlSession::Answer ControlSession::counters(const Json& request, Time) {
  const transport::Counters values =
      request.contains("qp") ? carried_out(device_.counters(qp_of(request)), "counters") : device_.counters();
  Answer list;
  for (const transport::CounterName& name : transport::counter_names())
    list[std::string{name.name}] = values.*name.member;
  // This one belongs to the port, so it does not exist for a single queue pair.
  if (!request.contains("qp")) list["pfc_sent"] = endpoint_.port().pfc_sent();
  return {{"counters", std::move(list)}};
}

void ControlSession::take(const transport::Completion& completion) {
  if (completion.wr_id > kMaxRequest) {
    sinks_.take(completion);
  } else if (completions_.size() < kMaxCompletions) {
    completions_.push_back(completion);
  } else {
    ++lost_completions_;
  }
}

bool ControlSession::poll() {
  if (!is_open_) return false;
  std::array<transport::Completion, 64> completions;
  std::size_t count = 0;
  if (!sinks_.is_full()) count = device_.poll_cq(cq_, completions);
  for (std::size_t i = 0; i < count; ++i) take(completions[i]);
  const bool is_more = sinks_.compare();
  return count != 0 || is_more;
}

}  // namespace roce::live
