// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/memory_target.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "conform/target/qp_path.h"
#include "roce/congestion/choice.h"
#include "roce/port/address_text.h"
#include "roce/transport/loss_recovery_text.h"
#include "roce/wire/packet.h"

namespace roce::conform {

namespace {

using transport::QpChange;
using transport::QpState;
using transport::QpType;
using transport::VerbResult;

constexpr MacAddress kDeviceMac{{0x02, 0, 0, 0, 0, 0x02}};
constexpr MacAddress kTesterMac{{0x02, 0, 0, 0, 0, 0x01}};
constexpr std::uint64_t kFirstAddress = 0x10'0000'0000;
constexpr std::size_t kMemory = 1U << 20U;
// Regions begin and end inside a page, so that a byte too many is not stopped by the end of a page.
constexpr std::size_t kBetweenRegions = 0x900;
// Frames that the device sends before anything else happens to it.
constexpr std::size_t kAtOnce = 64;

constexpr std::uint8_t kTester = 1;
constexpr std::uint8_t kDevice = 2;

Gid gid_of(RoceVersion version, std::uint8_t host) {
  if (version == RoceVersion::v2_ipv4) return Gid::from_ipv4({{10, 0, 0, host}});
  // RoCE v1 has the addresses of IPv6, so that nothing but the encapsulation tells the two apart.
  return Gid{{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host}};
}

Port port_with(RoceVersion version) {
  return {.version = version,
          .device_mac = kDeviceMac,
          .tester_mac = kTesterMac,
          .device_gid = gid_of(version, kDevice),
          .tester_gid = gid_of(version, kTester)};
}

constexpr std::array kVersions{RoceVersion::v2_ipv4, RoceVersion::v2_ipv6, RoceVersion::v1};

transport::DeviceConfig config_of(const transport::Profile& profile) {
  transport::DeviceConfig config;
  config.mac = kDeviceMac;
  config.gids.clear();
  for (const RoceVersion version : kVersions) {
    const auto type = version == RoceVersion::v1 ? transport::GidType::roce_v1 : transport::GidType::roce_v2;
    config.gids.push_back({.gid = gid_of(version, kDevice), .type = type});
  }
  config.profile = profile;
  config.limits = {.max_qp = 64, .max_cq = 256, .max_mr = 256, .max_srq = 16, .max_pd = 16, .max_ah = 128};
  return config;
}

/// Returns the value of a verb that only fails if the tester is wrong.
template <typename T>
T must(VerbResult<T> result) {
  if (!result) throw std::logic_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <typename T>
TargetResult<T> said(VerbResult<T> result) {
  if (!result) return tl::unexpected(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
  return {};
}

transport::Device make_device(const transport::Profile& profile, std::uint64_t seed) {
  // SplitMix64.
  const auto random = [state = seed]() mutable {
    std::uint64_t mixed = state += 0x9E37'79B9'7F4A'7C15U;
    mixed = (mixed ^ mixed >> 30U) * 0xBF58'476D'1CE4'E5B9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94D0'49BB'1331'11EBU;
    return mixed ^ mixed >> 31U;
  };
  return must(transport::Device::make(config_of(profile), random));
}

}  // namespace

TargetResult<transport::Profile> endpoint_profile(std::string_view name, std::string_view recovery) {
  transport::Profile profile = transport::profile_of(name);
  const auto parts = transport::parse_loss_recovery(recovery);
  if (!parts) return tl::unexpected(parts.error());
  profile.recovery = *parts;
  return profile;
}

MemoryTarget::MemoryTarget(const transport::Profile& profile, std::uint64_t seed)
    : ports_{port_with(kVersions[0]), port_with(kVersions[1]), port_with(kVersions[2])},
      device_(make_device(profile, seed)),
      memory_(kMemory, kUntouched),
      pd_(must(device_.create_pd())),
      other_pd_(must(device_.create_pd())),
      buffer_(device_.config().port_mtu + 256),
      seed_(seed) {
  for (const RoceVersion version : kVersions) {
    must(device_.set_neighbour(gid_of(version, kTester), std::nullopt, kTesterMac));
  }
}

const Port* MemoryTarget::port_of(RoceVersion version) const {
  const auto found = std::ranges::find(ports_, version, &Port::version);
  return found == ports_.end() ? nullptr : &*found;
}

TargetResult<QpNumber> MemoryTarget::create_qp(const QpSetup& setup) {
  const transport::Pd pd = setup.in_other_pd ? other_pd_ : pd_;
  Qp qp{.send_cq = must(device_.create_cq(setup.send_cq_size.value_or(kCqSize))),
        .receive_cq = must(device_.create_cq(setup.receive_cq_size.value_or(kCqSize)))};
  if (setup.type == QpType::ud) qp.tester = must(device_.create_ah(pd, tester_of(setup.version)));
  transport::QpInit init{.type = setup.type, .pd = pd, .send_cq = qp.send_cq, .receive_cq = qp.receive_cq};
  init.max_receive_sge = static_cast<std::uint8_t>(setup.pieces);
  if (setup.srq) init.srq = srqs_.at(*setup.srq);
  const VerbResult<Qpn> made = device_.create_qp(init);
  if (!made) return tl::unexpected(to_string(made.error()));
  qp.qpn = *made;
  qps_.push_back(qp);
  const QpNumber number = qps_.size() - 1;
  if (const TargetResult<void> up = bring_up(number, setup); !up) return tl::unexpected(up.error());
  return number;
}

transport::AddressVector MemoryTarget::tester_of(RoceVersion version) const {
  const auto found = std::ranges::find(ports_, version, &Port::version);
  const std::size_t index = found == ports_.end() ? 0 : static_cast<std::size_t>(found - ports_.begin());
  return {.sgid_index = static_cast<std::uint16_t>(index), .dgid = ports_.at(index).tester_gid};
}

TargetResult<void> MemoryTarget::bring_up(QpNumber qp, const QpSetup& setup) {
  for (const QpChange& change : path_of(setup, tester_of(setup.version))) {
    if (TargetResult<void> done = modify(qp, change); !done) return done;
  }
  if (setup.congestion.empty()) return {};
  const tl::expected<congestion::Choice, std::string> choice = congestion::parse_choice(setup.congestion);
  if (!choice) return tl::unexpected(choice.error());
  return said(device_.set_congestion_control(qpn(qp), congestion::make_control(*choice), now_));
}

TargetResult<Region> MemoryTarget::create_region(const RegionSetup& setup) {
  if (used_memory_ + kBetweenRegions + setup.length + kBetweenRegions > memory_.size()) {
    return tl::unexpected(std::string{"the regions of the case take more than 1 MiB"});
  }
  const std::size_t offset = used_memory_ + kBetweenRegions;
  used_memory_ = offset + setup.length;
  const std::span<std::byte> bytes = std::span{memory_}.subspan(offset, setup.length);
  const auto region =
      device_.register_memory(setup.in_other_pd ? other_pd_ : pd_,
                              {.memory = bytes, .access = setup.access, .address = kFirstAddress + offset});
  if (!region) return tl::unexpected(to_string(region.error()));
  regions_.push_back(*region);
  const transport::MrInfo info = must(device_.query_mr(*region));
  return Region{.number = regions_.size() - 1,
                .address = info.address,
                .length = info.length,
                .r_key = info.r_key.value(),
                .l_key = info.l_key.value()};
}

TargetResult<void> MemoryTarget::deregister(RegionNumber region) {
  return said(device_.deregister_memory(regions_.at(region)));
}

TargetResult<WindowNumber> MemoryTarget::create_window(const WindowSetup& setup) {
  const auto window = device_.create_mw(setup.in_other_pd ? other_pd_ : pd_, setup.type);
  if (!window) return tl::unexpected(to_string(window.error()));
  windows_.push_back(*window);
  return windows_.size() - 1;
}

std::uint32_t MemoryTarget::window_key(WindowNumber window) {
  const auto key = device_.query_mw(windows_.at(window));
  return key ? key->value() : 0;
}

TargetResult<void> MemoryTarget::destroy_window(WindowNumber window) {
  return said(device_.destroy_mw(windows_.at(window)));
}

TargetResult<SrqNumber> MemoryTarget::create_srq() {
  const auto srq = device_.create_srq(pd_, kSrqReceives, 1);
  if (!srq) return tl::unexpected(to_string(srq.error()));
  srqs_.push_back(*srq);
  return srqs_.size() - 1;
}

TargetResult<void> MemoryTarget::arm_srq(SrqNumber srq, std::uint32_t limit) {
  return said(device_.arm_srq_limit(srqs_.at(srq), limit));
}

TargetResult<void> MemoryTarget::post_srq_receive(SrqNumber srq, std::uint64_t wr_id, const transport::Sge& buffer) {
  const std::array<transport::Sge, 1> sges{buffer};
  return said(device_.post_srq_receive(srqs_.at(srq), {.wr_id = wr_id, .sges = sges}));
}

TargetResult<void> MemoryTarget::post_bind(QpNumber qp, const BindOrder& order) {
  return said(device_.post_send(qpn(qp), {.wr_id = order.wr_id,
                                          .opcode = transport::WorkOpcode::bind_mw,
                                          .bind = {.mw = windows_.at(order.window),
                                                   .mr = regions_.at(order.region),
                                                   .address = order.address,
                                                   .length = order.length,
                                                   .access = order.access,
                                                   .variant = order.variant}}));
}

TargetResult<void> MemoryTarget::modify(QpNumber qp, const QpChange& change) {
  return said(device_.modify_qp(qpn(qp), change, now_));
}

QpState MemoryTarget::state(QpNumber qp) {
  return must(device_.query_qp(qpn(qp))).state;
}

TargetResult<void> MemoryTarget::post_send(QpNumber qp, const SendOrder& order) {
  transport::SendRequest request = order.request;
  const std::array<transport::Sge, 1> sges{order.data};
  if (order.data.length != 0) request.sges = sges;
  request.datagram.ah = qps_.at(qp).tester;
  return said(device_.post_send(qpn(qp), request));
}

TargetResult<void> MemoryTarget::destroy_qp(QpNumber qp) {
  return said(device_.destroy_qp(qpn(qp)));
}

TargetResult<void> MemoryTarget::attach(QpNumber qp, const std::string& group) {
  const std::optional<Gid> gid = port::parse_ip(group);
  return gid ? said(device_.attach_multicast(qpn(qp), *gid)) : tl::unexpected(group + " is no IP address");
}

TargetResult<void> MemoryTarget::detach(QpNumber qp, const std::string& group) {
  const std::optional<Gid> gid = port::parse_ip(group);
  return gid ? said(device_.detach_multicast(qpn(qp), *gid)) : tl::unexpected(group + " is no IP address");
}

TargetResult<void> MemoryTarget::arm_cq(QpNumber qp, const CqArming& arming) {
  const Qp& queues = qps_.at(qp);
  return said(device_.request_notify(arming.is_receive ? queues.receive_cq : queues.send_cq, arming.solicited_only));
}

TargetResult<void> MemoryTarget::post_receive(QpNumber qp, std::uint64_t wr_id,
                                              std::span<const transport::Sge> buffers) {
  return said(device_.post_receive(qpn(qp), {.wr_id = wr_id, .sges = buffers}));
}

std::optional<transport::Completion> MemoryTarget::poll(QpNumber qp, bool is_receive) {
  std::array<transport::Completion, 1> completion{};
  const Qp& queues = qps_.at(qp);
  if (device_.poll_cq(is_receive ? queues.receive_cq : queues.send_cq, completion) == 0) return std::nullopt;
  return completion[0];
}

std::optional<transport::EventType> MemoryTarget::poll_event() {
  const std::optional<transport::Event> event = own_port_ ? own_port_->poll_event(now_) : device_.poll_event();
  if (!event) return std::nullopt;
  return event->type;
}

std::map<std::string, std::uint64_t> MemoryTarget::counters() {
  const transport::Counters values = device_.counters();
  std::map<std::string, std::uint64_t> counters;
  for (const transport::CounterName& known : transport::counter_names()) {
    counters.emplace(known.name, values.*known.member);
  }
  return counters;
}

std::uint64_t MemoryTarget::memory_address() const {
  return kFirstAddress;
}

std::size_t MemoryTarget::memory_size() const {
  return std::min(used_memory_ + kBetweenRegions, memory_.size());
}

std::vector<std::byte> MemoryTarget::read_memory(std::size_t offset, std::size_t length) {
  const auto bytes = std::span{memory_}.subspan(offset, length);
  return {bytes.begin(), bytes.end()};
}

std::optional<std::size_t> MemoryTarget::find_difference(std::span<const std::byte> expected) {
  // Equal bytes are the rule, and memcmp tells them some thirty times as fast as a loop.
  if (std::memcmp(memory_.data(), expected.data(), std::min(memory_.size(), expected.size())) == 0) return std::nullopt;
  const auto found = std::ranges::mismatch(memory_, expected).in1;
  return static_cast<std::size_t>(found - memory_.begin());
}

CmService* MemoryTarget::cm(RoceVersion version) {
  const Port* port = port_of(version);
  if (!cm_ && port != nullptr)
    cm_ = std::make_unique<MemoryCm>(device_, *port, tester_of(version).sgid_index, now_, seed_);
  return cm_.get();
}

void MemoryTarget::collect() {
  if (cm_) cm_->step();
  if (own_port_) return own_port_->collect(sent_, now_);
  std::array<transport::TxUnit, 1> units{};
  for (std::size_t i = 0; i < kAtOnce && device_.transmit(buffer_, units, {.max_bytes = buffer_.size()}, now_) != 0;
       ++i) {
    sent_.push_back({now_, {units[0].bytes.begin(), units[0].bytes.end()}});
  }
}

void MemoryTarget::send(std::span<const std::byte> frame) {
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  if (!own_port_ && packet.find(HeaderId::mac_control)) own_port_ = std::make_unique<MemoryPort>(device_);
  if (own_port_) {
    own_port_->receive(frame, now_);
  } else {
    device_.receive(packet, now_);
  }
  collect();
}

Time MemoryTarget::next_timeout() const {
  const Time next = own_port_ ? own_port_->next_timeout() : device_.next_timeout();
  return std::min(next, cm_ ? cm_->next_timeout() : kNever);
}

std::optional<SeenFrame> MemoryTarget::receive(Time until) {
  for (;;) {
    collect();
    if (!sent_.empty()) {
      SeenFrame frame = std::move(sent_.front());
      sent_.pop_front();
      return frame;
    }
    const Time next = next_timeout();
    if (next > until) {
      now_ = std::max(now_, until);
      return std::nullopt;
    }
    now_ = std::max(now_, next);
    device_.advance(now_);
  }
}

}  // namespace roce::conform
