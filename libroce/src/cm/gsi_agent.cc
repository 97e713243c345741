// SPDX-License-Identifier: BSD-2-Clause
#include "roce/cm/gsi_agent.h"

#include <algorithm>
#include <array>

#include "cm/faults.h"
#include "roce/transport/network_header.h"

namespace roce::cm {

namespace {

constexpr Qpn kQp1{1};
/// The Q_Key of QP1 (IBTA vol. 1, 3.5.3).
constexpr QKey kQKey{0x80010000};
constexpr std::uint32_t kReceives = 256;
constexpr std::uint32_t kSends = 64;
constexpr std::uint32_t kSlotBytes = transport::kNetworkHeaderArea + kMadSize;

}  // namespace

std::uint64_t guid_of(const MacAddress& mac) {
  const Gid gid = transport::link_local_gid(mac);
  std::uint64_t guid = 0;
  for (std::size_t i = 8; i < gid.octets.size(); ++i) guid = guid << 8 | gid.octets[i];
  return guid;
}

GsiAgent::GsiAgent(transport::Device& device, ConnectionManager manager, transport::GidType mode)
    : device_(device),
      manager_(std::move(manager)),
      mode_(mode),
      memory_(std::size_t{kReceives + kSends} * kSlotBytes),
      ahs_(kSends) {}

VerbResult<std::unique_ptr<GsiAgent>> GsiAgent::make(transport::Device& device, const Config& config,
                                                     RandomSource random, Time now, transport::GidType mode) {
  VerbResult<ConnectionManager> manager = ConnectionManager::make(config, std::move(random));
  if (!manager) return tl::unexpected(manager.error());
  std::unique_ptr<GsiAgent> agent{new GsiAgent{device, std::move(*manager), mode}};
  if (const VerbResult<void> made = agent->make_objects(now); !made) return tl::unexpected(made.error());
  return agent;
}

GsiAgent::~GsiAgent() {
  // Each object goes after those that refer to it. An object that was not made is refused, which does no harm.
  if (region_.length != 0) (void)device_.destroy_qp(kQp1);
  for (const transport::Ah ah : ahs_) (void)device_.destroy_ah(ah);
  (void)device_.deregister_memory(mr_);
  (void)device_.destroy_cq(cq_);
  (void)device_.destroy_pd(pd_);
}

VerbResult<void> GsiAgent::make_objects(Time now) {
  const VerbResult<transport::Pd> pd = device_.create_pd();
  if (!pd) return tl::unexpected(pd.error());
  pd_ = *pd;
  const VerbResult<transport::Cq> cq = device_.create_cq(kReceives + kSends);
  if (!cq) return tl::unexpected(cq.error());
  cq_ = *cq;
  const VerbResult<transport::Mr> mr = device_.register_memory(pd_, {.memory = memory_});
  if (!mr) return tl::unexpected(mr.error());
  mr_ = *mr;
  transport::QpInit init;
  init.type = transport::QpType::gsi;
  init.pd = pd_;
  init.send_cq = init.receive_cq = cq_;
  init.max_send = kSends;
  init.max_receive = kReceives;
  if (const VerbResult<Qpn> qpn = device_.create_qp(init); !qpn) return tl::unexpected(qpn.error());
  region_ = *device_.query_mr(mr_);
  transport::QpChange to_init{.state = transport::QpState::init};
  to_init.p_key_index = std::uint16_t{0};
  to_init.q_key = kQKey;
  const std::array changes{to_init, transport::QpChange{.state = transport::QpState::rtr},
                           transport::QpChange{.state = transport::QpState::rts, .sq_psn = Psn{0}}};
  for (const transport::QpChange& change : changes) {
    if (const VerbResult<void> moved = device_.modify_qp(kQp1, change, now); !moved) return moved;
  }
  for (std::uint64_t slot = 0; slot < kReceives; ++slot) {
    if (const VerbResult<void> posted = post_receive(slot); !posted) return posted;
  }
  for (std::uint64_t slot = kReceives + kSends; slot-- > kReceives;) free_.push_back(slot);
  return {};
}

transport::Sge GsiAgent::slot_sge(std::uint64_t slot, std::uint32_t bytes) const {
  return {region_.address + slot * kSlotBytes, bytes, region_.l_key};
}

std::span<std::byte> GsiAgent::slot_bytes(std::uint64_t slot) {
  return std::span{memory_}.subspan(slot * kSlotBytes, kSlotBytes);
}

VerbResult<void> GsiAgent::post_receive(std::uint64_t slot) {
  const transport::Sge sge = slot_sge(slot, kSlotBytes);
  return device_.post_receive(kQp1, {.wr_id = slot, .sges = {&sge, 1}});
}

std::optional<std::uint16_t> GsiAgent::sgid_index_of(const Gid& local) const {
  const std::vector<transport::GidEntry>& gids = device_.config().gids;
  const auto has_gid = [&](const transport::GidEntry& entry) { return entry.gid == local; };
  auto found = std::ranges::find_if(gids, [&](const auto& entry) { return has_gid(entry) && entry.type == mode_; });
  if (found == gids.end()) found = std::ranges::find_if(gids, has_gid);
  if (found == gids.end()) return {};
  return static_cast<std::uint16_t>(found - gids.begin());
}

void GsiAgent::take(std::uint64_t slot, std::uint32_t length, Time now) {
  const std::span<const std::byte> bytes = slot_bytes(slot).first(std::min(length, kSlotBytes));
  const auto addresses = transport::addresses_in(bytes);
  if (!addresses || bytes.size() < kSlotBytes) {
    ++counters_.unreadable;
    return;
  }
  const Peer from{.local = addresses->destination, .remote = addresses->source};
  manager_.receive(bytes.subspan(transport::kNetworkHeaderArea), from, now);
}

void GsiAgent::send(const OutMessage& message, std::uint64_t slot) {
  const auto sgid_index = sgid_index_of(message.to.local);
  const auto ah = sgid_index ? device_.create_ah(pd_, {.sgid_index = *sgid_index, .dgid = message.to.remote})
                             : VerbResult<transport::Ah>{tl::unexpected(transport::VerbError{})};
  if (!ah) {
    ++counters_.unsendable;
    free_.push_back(slot);
    return;
  }
  ahs_[slot - kReceives] = *ah;
  std::ranges::copy(message.mad, slot_bytes(slot).begin());
  const transport::Sge sge = slot_sge(slot, kMadSize);
  transport::SendRequest request{.wr_id = slot, .sges = {&sge, 1}};
  request.datagram = {.ah = *ah, .qpn = kQp1, .q_key = kQKey};
  // The queue cannot be full: it has a place for each slot.
  (void)device_.post_send(kQp1, request);
}

bool GsiAgent::step(Time now) {
  bool moved = false;
  std::array<transport::Completion, 32> completions;
  for (std::size_t count = completions.size(); count == completions.size();) {
    count = device_.poll_cq(cq_, completions);
    for (const transport::Completion& completion : std::span{completions}.first(count)) {
      moved = true;
      const std::uint64_t slot = completion.wr_id;
      if (slot >= kReceives) {
        (void)device_.destroy_ah(ahs_[slot - kReceives]);
        free_.push_back(slot);
        continue;
      }
      if (completion.status == transport::CompletionStatus::success) take(slot, completion.byte_length, now);
      if (fault(Fault::gsi_short_lost) && completion.byte_length < kSlotBytes) continue;
      (void)post_receive(slot);
    }
  }
  manager_.advance(now);
  while (!free_.empty()) {
    const std::optional<OutMessage> message = manager_.poll_message();
    if (!message) break;
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    send(*message, slot);
    moved = true;
  }
  return moved;
}

}  // namespace roce::cm
