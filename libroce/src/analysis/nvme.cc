// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/nvme.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/nvme_queue.h"

namespace roce::analysis {

namespace {

/// In the place of an index: not known yet, and known to carry something else.
constexpr std::uint32_t kUndecided = 0xFFFF'FFFF;
constexpr std::uint32_t kOther = 0xFFFF'FFFE;

bool is_command(const Packet& packet, const Observation& seen) {
  if (seen.payload_length < NvmeCommand::kBytes) return false;
  const std::optional<NvmeCommand> command = NvmeCommand::read(packet.payload());
  // What a snap length has cut cannot be judged.
  return !command || command->has_sgl;
}

}  // namespace

std::string_view to_string(NvmeEnd end) {
  static constexpr std::array<std::string_view, 4> kNames{"answered", "missed", "unanswered", "open"};
  return kNames[static_cast<std::size_t>(end)];
}

std::string_view to_string(NvmeDelay delay) {
  static constexpr std::array<std::string_view, kNvmeDelays> kNames{"target", "host", "transfer", "loss", "receiver"};
  return kNames[static_cast<std::size_t>(delay)];
}

NvmeSurvey::NvmeSurvey(NvmeSurveyOptions options) : options_(std::move(options)), room_(std::make_unique<NvmeRoom>()) {
  room_->left = 2 * options_.most_commands;
}

NvmeSurvey::~NvmeSurvey() = default;

void NvmeSurvey::observe(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis) {
  Time& latest = latest_.try_emplace(seen.point, seen.time).first->second;
  latest = std::max(latest, seen.time);
  if (seen.cm.attribute != MadAttribute{}) return on_management(packet, seen);
  if (analysis.stream == kNoStream) return;
  if (analysis.absorbed != kNoStream) absorb(analysis.absorbed, analysis.stream);
  if (analysis.role != PacketRole::request && analysis.role != PacketRole::response) return;
  NvmeQueueFollower* const queue = follower_of(packet, seen, analysis);
  if (queue != nullptr && queue->observe(packet, seen, analysis)) note_command(queue->summary(), seen.time);
}

void NvmeSurvey::observe(const Verdict& verdict) {
  const std::uint32_t index = verdict.stream < by_stream_.size() ? by_stream_[verdict.stream] : kUndecided;
  if (index < kOther) queues_[index]->observe(verdict);
}

void NvmeSurvey::on_management(const Packet& packet, const Observation& seen) {
  switch (seen.cm.attribute) {
    case MadAttribute::cm_req:
      return on_request(packet, seen);
    case MadAttribute::cm_rep:
      return on_reply(seen);
    case MadAttribute::cm_dreq: {
      // It names the receiver's QP.
      const auto found = by_qp_.find(End{seen.point, seen.domain, seen.destination, seen.cm.local_qpn.value()});
      if (found == by_qp_.end()) return;
      const Connection& ended = *found->second;
      for (const auto& queue : queues_) {
        const NvmeQueue& known = queue->summary();
        if (known.point == seen.point && known.host == ended.host && known.host_qp == ended.host_qp) queue->close();
      }
      return;
    }
    default:
      return;
  }
}

void NvmeSurvey::on_request(const Packet& packet, const Observation& seen) {
  const std::optional<CmReq> request = packet.get<CmReq>();
  if (!request || std::ranges::find(options_.ports, request->service_id.port()) == options_.ports.end()) return;
  const std::optional<NvmeQueueRequest> queue = NvmeQueueRequest::read(*request);
  if (!queue || request->service_id.port_space() != PortSpace::tcp) return;
  const End by_id{seen.point, seen.domain, seen.source, seen.cm.local_id};
  const auto known = by_comm_id_.find(by_id);
  // A REQ that is sent again.
  if (known != by_comm_id_.end() && known->second->host_qp == seen.cm.local_qpn) return;
  if (by_comm_id_.size() >= options_.most_queues && known == by_comm_id_.end()) {
    ++room_->uncounted;
    return;
  }
  const auto made = std::make_shared<Connection>(Connection{.host = seen.source,
                                                            .target = seen.destination,
                                                            .host_qp = seen.cm.local_qpn,
                                                            .host_id = seen.cm.local_id,
                                                            .request = *queue});
  by_comm_id_[by_id] = made;
  by_qp_[End{seen.point, seen.domain, seen.source, seen.cm.local_qpn.value()}] = made;
}

void NvmeSurvey::on_reply(const Observation& seen) {
  const auto found = by_comm_id_.find(End{seen.point, seen.domain, seen.destination, seen.cm.remote_id});
  if (found == by_comm_id_.end() || found->second->target != seen.source || found->second->target_qp) return;
  found->second->target_qp = seen.cm.local_qpn;
  by_qp_[End{seen.point, seen.domain, seen.source, seen.cm.local_qpn.value()}] = found->second;
}

NvmeQueueFollower* NvmeSurvey::follower_of(const Packet& packet, const Observation& seen,
                                           const PacketAnalysis& analysis) {
  const std::uint32_t index = index_of(analysis.stream);
  if (index == kOther) return nullptr;
  return index == kUndecided ? begin(packet, seen, analysis) : queues_[index].get();
}

NvmeQueueFollower* NvmeSurvey::begin(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis) {
  const auto found = by_qp_.find(End{seen.point, seen.domain, seen.destination, seen.dest_qp.value()});
  if (found != by_qp_.end()) {
    const Connection& connection = *found->second;
    NvmeQueueFollower* const made =
        add(seen, analysis, seen.destination == connection.target && connection.target_qp == seen.dest_qp);
    if (made == nullptr) return nullptr;
    NvmeQueue& queue = made->summary();
    queue.host_qp = connection.host_qp;
    queue.target_qp = connection.target_qp;
    queue.queue_id = connection.request.queue_id;
    queue.size = connection.request.queue_size;
    queue.is_admin = connection.request.queue_id == 0;
    return made;
  }
  const auto is_target = [&](const Gid& address) {
    return std::ranges::find(options_.targets, address) != options_.targets.end();
  };
  const bool is_to_target = is_target(seen.destination);
  if (!is_to_target && !is_target(seen.source)) {
    // Its set-up comes before it, if the capture has that.
    if (seen.info().operation == Operation::send) index_of(analysis.stream) = kOther;
    return nullptr;
  }
  if (seen.info().operation != Operation::send || seen.info().service != Service::rc ||
      analysis.role != PacketRole::request ||
      (seen.info().position != Position::first && seen.info().position != Position::only)) {
    return nullptr;
  }
  const bool is_response = seen.payload_length == NvmeCompletion::kBytes && seen.info().position == Position::only;
  const bool is_capsule = is_to_target ? is_command(packet, seen) : is_response;
  if (!is_capsule) {
    index_of(analysis.stream) = kOther;
    return nullptr;
  }
  return add(seen, analysis, is_to_target);
}

NvmeQueueFollower* NvmeSurvey::add(const Observation& seen, const PacketAnalysis& analysis, bool is_to_target) {
  if (queues_.size() == options_.most_queues) {
    ++room_->uncounted;
    return nullptr;
  }
  NvmeQueue queue;
  queue.stream = analysis.stream;
  queue.host_direction = is_to_target ? analysis.direction : static_cast<std::uint8_t>(1 - analysis.direction);
  queue.point = seen.point;
  queue.host = is_to_target ? seen.source : seen.destination;
  queue.target = is_to_target ? seen.destination : seen.source;
  const auto index = static_cast<std::uint32_t>(queues_.size());
  index_of(analysis.stream) = index;
  queues_.push_back(std::make_unique<NvmeQueueFollower>(index, queue, *room_));
  return queues_.back().get();
}

void NvmeSurvey::absorb(std::uint32_t from, std::uint32_t into) {
  const std::uint32_t moved = std::exchange(index_of(from), kUndecided);
  if (moved >= kOther) return;
  std::uint32_t& kept = index_of(into);
  NvmeQueueFollower& queue = *queues_[moved];
  if (kept >= kOther) {
    queue.move_to(into);
    kept = moved;
    return;
  }
  NvmeQueueFollower& other = *queues_[kept];
  if (queue.summary().commands > other.summary().commands) {
    queue.move_to(into);
    queue.take(other);
    kept = moved;
  } else {
    other.take(queue);
  }
}

void NvmeSurvey::note_command(const NvmeQueue& queue, Time time) {
  if (!queue.controller_id) return;
  const ControllerKey key{queue.point, queue.host, queue.target, *queue.controller_id};
  const auto [found, is_new] = controllers_.try_emplace(key, Controller{.last = time});
  if (is_new) return;
  Controller& controller = found->second;
  controller.longest = std::max(controller.longest, time - controller.last);
  controller.last = time;
}

std::uint32_t& NvmeSurvey::index_of(std::uint32_t stream) {
  if (stream >= by_stream_.size()) by_stream_.resize(stream + std::size_t{1}, kUndecided);
  return by_stream_[stream];
}

void NvmeSurvey::finish() {
  for (const auto& queue : queues_) {
    const NvmeQueue& known = queue->summary();
    const Time latest = latest_.at(known.point);
    queue->finish(latest);
    if (known.is_admin && !known.is_closed) note_command(known, latest);
  }
}

void NvmeSurvey::drain(std::vector<NvmeExchange>& into) {
  into.insert(into.end(), room_->done.begin(), room_->done.end());
  room_->done.clear();
}

std::vector<NvmeQueue> NvmeSurvey::queues() const {
  std::vector<NvmeQueue> all;
  all.reserve(queues_.size());
  for (const auto& queue : queues_) {
    all.push_back(queue->result());
    NvmeQueue& known = all.back();
    if (!known.is_admin || !known.controller_id) continue;
    const auto found = controllers_.find({known.point, known.host, known.target, *known.controller_id});
    if (found != controllers_.end()) known.longest_silence = found->second.longest;
  }
  return all;
}

std::uint32_t NvmeSurvey::stream_of(std::uint32_t queue) const {
  return queues_[queue]->summary().stream;
}

bool NvmeSurvey::is_admin(std::uint32_t queue) const {
  return queues_[queue]->summary().is_admin;
}

std::uint64_t NvmeSurvey::uncounted() const {
  return room_->uncounted;
}

}  // namespace roce::analysis
