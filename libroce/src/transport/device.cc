// SPDX-License-Identifier: BSD-2-Clause
// The device itself: construction, timers, neighbours, GID table and events.
#include "roce/transport/device.h"

#include <algorithm>
#include <bit>

#include "roce/wire/constants.h"
#include "transport/device_state.h"
#include "transport/flush.h"
#include "transport/owed_answers.h"
#include "transport/refusal.h"
#include "transport/scheduler.h"

namespace roce::transport {

namespace detail {
namespace {

constexpr std::uint32_t kMaxQps = 1U << 22;
constexpr std::uint32_t kMaxRegions = 1U << 20;
constexpr std::uint8_t kMaxShardBits = 8;
constexpr std::uint16_t kMaxVlan = 4094;
constexpr std::uint8_t kMaxPriority = 7;
constexpr std::uint8_t kMaxDscp = 63;
constexpr std::uint64_t kLeastLineRate = 1'000'000;

[[nodiscard]] VerbResult<void> check_gid(const GidEntry& entry) {
  if (entry.gid == Gid{}) return invalid("gids", "a GID that is not all zeros", 0);
  if (is_multicast(entry.gid)) return invalid("gids", "a unicast GID", 0);
  if (entry.vlan_id && *entry.vlan_id > kMaxVlan) return invalid("gids.vlan_id", "at most", *entry.vlan_id, kMaxVlan);
  if (entry.priority && *entry.priority > kMaxPriority) {
    return invalid("gids.priority", "at most", *entry.priority, kMaxPriority);
  }
  return {};
}

[[nodiscard]] VerbResult<void> check(const LossRecovery& recovery) {
  const auto most = [](const char* member, std::int64_t value, std::int64_t limit) -> VerbResult<void> {
    if (value >= 0 && value <= limit) return {};
    return invalid(member, "at most", static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(limit));
  };
  constexpr std::int64_t longest = LossRecovery::kLongestWait.count();
  return most("profile.recovery.held_requests", recovery.held_requests, LossRecovery::kMostHeld)
      .and_then(
          [&] { return most("profile.recovery.held_responses", recovery.held_responses, LossRecovery::kMostHeld); })
      .and_then([&] { return most("profile.recovery.nak_again_after", recovery.nak_again_after.count(), longest); })
      .and_then([&] { return most("profile.recovery.nak_delay", recovery.nak_delay.count(), longest); })
      .and_then([&] {
        return most("profile.recovery.restart_percent", recovery.restart_percent, LossRecovery::kMostPercent);
      });
}

[[nodiscard]] VerbResult<void> check(const DeviceConfig& config) {
  if (config.gids.empty()) return invalid("gids", "at least one entry", 0, 1);
  for (const GidEntry& entry : config.gids) {
    if (VerbResult<void> checked = check_gid(entry); !checked) return checked;
  }
  if (!is_path_mtu(config.port_mtu)) {
    return invalid("port_mtu", "256, 512, 1024, 2048 or 4096", config.port_mtu);
  }
  if (config.p_keys.empty()) return invalid("p_keys", "at least one entry", 0, 1);
  if (config.limits.max_qp == 0 || config.limits.max_qp > kMaxQps) {
    return invalid("limits.max_qp", "at least 1 and at most", config.limits.max_qp, kMaxQps);
  }
  if (config.limits.max_mr == 0 || config.limits.max_mr > kMaxRegions) {
    return invalid("limits.max_mr", "at least 1 and at most", config.limits.max_mr, kMaxRegions);
  }
  if (config.shard_bits > kMaxShardBits) return invalid("shard_bits", "at most", config.shard_bits, kMaxShardBits);
  if (config.shard >> config.shard_bits != 0)
    return invalid("shard", "shard_bits bits", config.shard, config.shard_bits);
  if (config.cnp.priority > kMaxPriority) return invalid("cnp.priority", "at most", config.cnp.priority, kMaxPriority);
  if (config.line_rate_bps < kLeastLineRate) {
    return invalid("line_rate_bps", "at least", config.line_rate_bps, kLeastLineRate);
  }
  if (VerbResult<void> checked = check(config.traffic_classes); !checked) return checked;
  if (VerbResult<void> checked = check(config.profile.recovery); !checked) return checked;
  if (config.cnp.dscp > kMaxDscp) return invalid("cnp.dscp", "at most", config.cnp.dscp, kMaxDscp);
  for (const std::optional<ReceiveThresholds>& thresholds : config.receive_thresholds) {
    if (thresholds && thresholds->enough <= thresholds->low) {
      return invalid("receive_thresholds.enough", "more than low,", thresholds->enough, thresholds->low);
    }
  }
  if (config.first_qpn < 2 || config.first_qpn > 0xFF'FFFE) {
    return invalid("first_qpn", "2 to 0xFFFFFE", config.first_qpn);
  }
  return {};
}

[[nodiscard]] std::uint16_t device_id(const RandomSource& random) {
  const auto id = static_cast<std::uint16_t>(random());
  return id == 0 ? std::uint16_t{1} : id;
}

void on_timer(DeviceState& device, Qp& qp, Time now) {
  on_requester_timer(device, qp, now);
  if (qp.resp.ack_due <= now) {
    // A request that waits with it goes first, for the same reason as in `serve`; answers keep their turn (CC-08).
    if (qp.resp.responses.empty()) qp.respond_next = false;
    release_ack(device, qp);
  }
  on_gap_timer(device, qp, now);
  if (qp.pacer != nullptr || qp.misbehaviour != nullptr) make_ready(device, qp);
  arm_timer(device, qp, now);
}

}  // namespace

DeviceState::DeviceState(DeviceConfig device_config, RandomSource random_source, CongestionFactory congestion_factory)
    : config(std::move(device_config)),
      random(std::move(random_source)),
      congestion(std::move(congestion_factory)),
      id(device_id(random)),
      memory(id, config.limits.max_mr, random),
      pds(id, config.limits.max_pd, "pd"),
      cqs(id, config.limits.max_cq, "cq"),
      srqs(id, config.limits.max_srq, "srq"),
      xrcds(id, config.limits.max_xrcd, "xrcd"),
      ahs(id, config.limits.max_ah, "ah"),
      qps(std::size_t{std::bit_ceil(config.limits.max_qp)} + 1),
      slot_mask(std::bit_ceil(config.limits.max_qp) - 1),
      next_qpn((config.first_qpn >> config.shard_bits << config.shard_bits) + config.shard),
      timers(slot_mask + 2),
      classes(config.traffic_classes),
      cnps(kCnpRing),
      events(config.limits.max_events) {
  if (next_qpn < config.first_qpn) next_qpn += 1U << config.shard_bits;
  waiting_for_neighbour.reserve(qps.size());
  for (std::size_t priority = 0; priority < receive_levels.size(); ++priority) {
    if (const std::optional<ReceiveThresholds>& thresholds = config.receive_thresholds[priority]) {
      receive_levels[priority].low = thresholds->low;
      receive_levels[priority].enough = thresholds->enough;
    }
  }
}

}  // namespace detail

using namespace detail;

Device::Device(std::unique_ptr<DeviceState> state) : state_(std::move(state)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

VerbResult<Device> Device::make(DeviceConfig config, RandomSource random, CongestionFactory congestion) {
  if (VerbResult<void> checked = check(config); !checked) return tl::unexpected(checked.error());
  if (!random) return invalid("random", "a source of random numbers", 0);
  return Device{std::make_unique<DeviceState>(std::move(config), std::move(random), std::move(congestion))};
}

const DeviceConfig& Device::config() const {
  return state_->config;
}

std::size_t Device::transmit(std::span<std::byte> buffer, std::span<TxUnit> units, const TxCaps& caps, Time now) {
  Emitter out{buffer, units, caps};
  const std::size_t count = serve_all(*state_, out, now);
  settle_overflows(*state_);
  return count;
}

bool Device::has_output() const {
  const DeviceState& device = *state_;
  const bool cnp_may_go = (device.paused >> device.config.cnp.priority & 1) == 0;
  return (!device.cnps.empty() && cnp_may_go) || (device.ready_classes & ~device.paused) != 0 ||
         has_left_answers(device);
}

Time Device::next_timeout() const {
  return state_->timers.earliest();
}

void Device::advance(Time now) {
  DeviceState& device = *state_;
  while (device.timers.earliest() <= now) {
    const std::uint32_t slot = device.timers.earliest_owner();
    device.timers.remove(slot);
    on_timer(device, *device.qps[slot], now);
  }
  settle_overflows(device);
}

VerbResult<void> Device::set_neighbour(const Gid& gid, std::optional<std::uint16_t> vlan_id, const MacAddress& mac) {
  DeviceState& device = *state_;
  const std::pair key{gid, vlan_id.value_or(DeviceState::kNoVlan)};
  if (!device.neighbours.contains(key) && device.neighbours.size() >= device.config.limits.max_neighbours) {
    return refuse(VerbErrorCode::no_resources, "neighbour", "at most max_neighbours", device.neighbours.size(),
                  device.config.limits.max_neighbours);
  }
  device.neighbours[key] = mac;
  for (const std::uint32_t slot : device.waiting_for_neighbour) {
    device.qps[slot]->waits_for_neighbour = false;
    make_ready(device, *device.qps[slot]);
  }
  // `clear` keeps the memory, which has room for every QP, so that `transmit` does not allocate.
  device.waiting_for_neighbour.clear();
  wake_left_answers(device);
  return {};
}

VerbResult<void> Device::set_paused(std::uint8_t priority, bool paused) {
  if (priority > kMaxPriority) return invalid("priority", "at most", priority, kMaxPriority);
  const auto bit = static_cast<std::uint8_t>(1U << priority);
  state_->paused = static_cast<std::uint8_t>(paused ? state_->paused | bit : state_->paused & ~bit);
  return {};
}

VerbResult<void> Device::set_traffic_classes(const TrafficClasses& classes) {
  if (VerbResult<void> checked = check(classes); !checked) return checked;
  state_->config.traffic_classes = classes;
  state_->classes = ClassScheduler{classes};
  return {};
}

std::uint8_t Device::low_priorities() const {
  unsigned bits = 0;
  for (std::size_t priority = 0; priority < state_->receive_levels.size(); ++priority) {
    if (state_->receive_levels[priority].low_queues != 0) bits |= 1U << priority;
  }
  return static_cast<std::uint8_t>(bits);
}

VerbResult<void> Device::set_gid(std::uint16_t index, const GidEntry& entry) {
  DeviceState& device = *state_;
  if (index > device.config.gids.size()) {
    return invalid("index", "an entry of the GID table, or the next one, at most", index, device.config.gids.size());
  }
  if (VerbResult<void> checked = check_gid(entry); !checked) return checked;
  if (index == device.config.gids.size()) {
    device.config.gids.push_back(entry);
    return {};
  }
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp != nullptr && qp->path.net.destination != Gid{} && qp->path.sgid_index == index) {
      return refuse(VerbErrorCode::in_use, "index", "no QP that sends from it", qp->qpn.value(), 0);
    }
  }
  device.config.gids[index] = entry;
  return {};
}

std::optional<Event> Device::poll_event() {
  if (state_->events.empty()) return std::nullopt;
  const Event event = state_->events.front();
  state_->events.pop();
  return event;
}

std::uint64_t Device::lost_events() const {
  return state_->lost_events;
}

}  // namespace roce::transport
