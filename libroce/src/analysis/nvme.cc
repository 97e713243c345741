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
  // A capsule that a snap length has cut cannot be judged.
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

NvmeSurvey::End NvmeSurvey::end_of(const Observation& seen, const Gid& address, std::uint32_t number) {
  return {seen.point, seen.domain, address, number};
}

void NvmeSurvey::observe(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis) {
  Time& latest = latest_.try_emplace(seen.point, seen.time).first->second;
  latest = std::max(latest, seen.time);
  if (seen.cm.attribute != MadAttribute{}) return on_management(packet, seen);
  if (analysis.stream == kNoStream) return;
  if (analysis.absorbed != kNoStream) absorb(analysis.absorbed, analysis.stream);
  if (analysis.role != PacketRole::request && analysis.role != PacketRole::response) return;
  NvmeQueueFollower* const queue = follower_of(packet, seen, analysis);
  if (queue == nullptr) return;
  const bool was_known = queue->summary().host_qp.has_value();
  if (queue->observe(packet, seen, analysis)) note_command(queue->summary(), seen.time);
  if (!was_known) note_host_qp(index_of(analysis.stream));
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
    case MadAttribute::cm_rej:
    case MadAttribute::cm_drep:
      end(by_comm_id_, end_of(seen, seen.destination, seen.cm.remote_id));
      // A REJ of a REQ has no identifier of its sender.
      if (seen.cm.local_id != 0) end(by_comm_id_, end_of(seen, seen.source, seen.cm.local_id));
      return;
    case MadAttribute::cm_dreq:
      // It names the receiver's QP.
      return end(by_qp_, end_of(seen, seen.destination, seen.cm.local_qpn.value()));
    default:
      return;
  }
}

void NvmeSurvey::on_request(const Packet& packet, const Observation& seen) {
  const std::optional<CmReq> request = packet.get<CmReq>();
  if (!request) return;
  const End by_id = end_of(seen, seen.source, seen.cm.local_id);
  const End by_qp = end_of(seen, seen.source, seen.cm.local_qpn.value());
  const auto known = by_comm_id_.find(by_id);
  // A REQ that is sent again.
  if (known != by_comm_id_.end() && known->second->host_qp == seen.cm.local_qpn) return;
  // Its sender uses the identifier and the QPN for nothing else any more.
  end(by_comm_id_, by_id);
  end(by_qp_, by_qp);
  for (const std::uint32_t index : queues_at(seen.point, seen.source, seen.cm.local_qpn)) {
    // Nor do its streams go on.
    std::uint32_t& known_as = index_of(queues_[index]->summary().stream);
    if (known_as == index) known_as = kUndecided;
    by_host_qp_.erase({seen.point, seen.source, seen.cm.local_qpn, index});
  }
  if (std::ranges::find(options_.ports, request->service_id.port()) == options_.ports.end()) return;
  const std::optional<NvmeQueueRequest> queue = NvmeQueueRequest::read(*request);
  if (!queue || request->service_id.port_space() != PortSpace::tcp) return;
  if (by_comm_id_.size() >= options_.most_queues) {
    ++room_->uncounted;
    return;
  }
  const auto made = std::make_shared<Connection>(Connection{.host = seen.source,
                                                            .target = seen.destination,
                                                            .host_qp = seen.cm.local_qpn,
                                                            .domain = seen.domain,
                                                            .host_id = seen.cm.local_id,
                                                            .request = *queue});
  by_comm_id_[by_id] = made;
  by_qp_[by_qp] = made;
}

void NvmeSurvey::on_reply(const Observation& seen) {
  const End by_qp = end_of(seen, seen.source, seen.cm.local_qpn.value());
  const auto found = by_comm_id_.find(end_of(seen, seen.destination, seen.cm.remote_id));
  const bool is_known = found != by_comm_id_.end() && found->second->target == seen.source;
  if (is_known && found->second->target_qp) return;
  const std::shared_ptr<Connection> connection = is_known ? found->second : nullptr;
  // The QPN may be that of a connection before.
  end(by_qp_, by_qp);
  if (!is_known) return;
  connection->target_qp = seen.cm.local_qpn;
  by_qp_[by_qp] = connection;
}

// Both tables hold the ends of the same connections: each is removed from them as a whole.
void NvmeSurvey::end(const Connections& connections, const End& one) {
  const auto found = connections.find(one);
  if (found == connections.end()) return;
  const Connection old = *found->second;
  const std::uint16_t point = std::get<0>(one);
  by_comm_id_.erase({point, old.domain, old.host, old.host_id});
  by_qp_.erase({point, old.domain, old.host, old.host_qp.value()});
  if (old.target_qp) by_qp_.erase({point, old.domain, old.target, old.target_qp->value()});
  for (const std::uint32_t index : queues_at(point, old.host, old.host_qp)) queues_[index]->close();
}

std::vector<std::uint32_t> NvmeSurvey::queues_at(std::uint16_t point, const Gid& host, Qpn qp) const {
  std::vector<std::uint32_t> all;
  const auto behind = by_host_qp_.upper_bound({point, host, qp, kUndecided});
  for (auto each = by_host_qp_.lower_bound({point, host, qp, 0}); each != behind; ++each) {
    all.push_back(std::get<3>(*each));
  }
  return all;
}

void NvmeSurvey::note_host_qp(std::uint32_t index) {
  const NvmeQueue& queue = queues_[index]->summary();
  if (queue.host_qp) by_host_qp_.emplace(queue.point, queue.host, *queue.host_qp, index);
}

NvmeQueueFollower* NvmeSurvey::follower_of(const Packet& packet, const Observation& seen,
                                           const PacketAnalysis& analysis) {
  const std::uint32_t index = index_of(analysis.stream);
  if (index == kOther) return nullptr;
  return index == kUndecided ? begin(packet, seen, analysis) : queues_[index].get();
}

NvmeQueueFollower* NvmeSurvey::begin(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis) {
  const auto found = by_qp_.find(end_of(seen, seen.destination, seen.dest_qp.value()));
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
    note_host_qp(index_of(analysis.stream));
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
  note_host_qp(kept);
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
