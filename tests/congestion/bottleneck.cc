// SPDX-License-Identifier: BSD-2-Clause
#include "congestion/bottleneck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "roce/wire/packet.h"
#include "sim/host.h"

namespace roce::sim {

namespace {

using transport::Access;
using transport::QpState;

constexpr double kDelay = 1000;    // ns, of each wire
constexpr double kWireExtra = 24;  // FCS, preamble and gap
constexpr std::uint32_t kMessage = 1U << 20U;
constexpr int kPosted = 8;
constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr Duration kSample = std::chrono::microseconds{50};

Gid gid_of(std::size_t number) {
  return Gid::from_ipv4(Ipv4Address{{192, 0, 2, static_cast<std::uint8_t>(number)}});
}
MacAddress mac_of(std::size_t number) {
  return MacAddress{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number)}};
}
/// Returns the first whole time that is not before `ns`.
Time time_of(double ns) {
  return Time{Duration{static_cast<std::int64_t>(std::ceil(ns))}};
}
double ns_of(Time time) {
  return time == kNever ? kForever : static_cast<double>(time.time_since_epoch().count());
}

void connect(transport::Device& device, Qpn qp, Qpn peer, const Gid& gid) {
  must(device.modify_qp(qp, {.state = QpState::init, .p_key_index = 0, .port = 1, .access = Access::remote_write},
                        Time{}));
  must(device.modify_qp(qp,
                        {.state = QpState::rtr,
                         .address = transport::AddressVector{.dgid = gid},
                         .path_mtu = 1024,
                         .dest_qp = peer,
                         .rq_psn = Psn{1},
                         .max_dest_rd_atomic = 1,
                         .min_rnr_timer = 12},
                        Time{}));
  must(device.modify_qp(
      qp, {.state = QpState::rts, .sq_psn = Psn{1}, .max_rd_atomic = 1, .timeout = 0, .retry_count = 7, .rnr_retry = 7},
      Time{}));
}

}  // namespace

Bottleneck::Bottleneck(const Options& options)
    : options_(options), random_(options.seed), memory_(kMessage), buffer_(16384) {
  transport::DeviceConfig config;
  config.mac = mac_of(0);
  config.gids = {{.gid = gid_of(0)}};
  config.cnp.interval = options.cnp_interval;
  config.check_icrc = false;
  receiver_ = std::make_unique<transport::Device>(must(transport::Device::make(config, Random{random_()})));
  pd_ = must(receiver_->create_pd());
  cq_ = must(receiver_->create_cq(16));
  const transport::Mr mr =
      must(receiver_->register_memory(pd_, {.memory = memory_, .access = Access::local_write | Access::remote_write}));
  region_ = must(receiver_->query_mr(mr));
  senders_.resize(options.senders);
  for (std::size_t i = 0; i < options.senders; ++i) make_sender(i);
  senders_.back().begins = static_cast<double>(options.last_joins.count());
  senders_.back().ends = static_cast<double>(options.last_leaves.count());
}

void Bottleneck::make_sender(std::size_t index) {
  Sender& sender = senders_[index];
  sender.ends = kForever;
  const std::size_t number = index + 1;
  transport::DeviceConfig config;
  config.mac = mac_of(number);
  config.gids = {{.gid = gid_of(number)}};
  config.line_rate_bps = static_cast<std::uint64_t>(options_.line_bps);
  sender.device =
      std::make_unique<transport::Device>(must(transport::Device::make(config, Random{random_()}, [this](Qpn /*qp*/) {
        return options_.make ? options_.make() : congestion::make_control(options_.control);
      })));
  transport::Device& device = *sender.device;
  const transport::Pd pd = must(device.create_pd());
  sender.cq = must(device.create_cq(64));
  sender.memory.resize(kMessage);
  const transport::Mr mr = must(device.register_memory(pd, {.memory = sender.memory}));
  sender.qpn = must(device.create_qp({.pd = pd, .send_cq = sender.cq, .receive_cq = sender.cq}));
  sender.peer = must(receiver_->create_qp({.pd = pd_, .send_cq = cq_, .receive_cq = cq_}));
  must(device.set_neighbour(gid_of(0), std::nullopt, mac_of(0)));
  must(receiver_->set_neighbour(gid_of(number), std::nullopt, mac_of(number)));
  connect(device, sender.qpn, sender.peer, gid_of(0));
  connect(*receiver_, sender.peer, sender.qpn, gid_of(number));
  const transport::MrInfo keys = must(device.query_mr(mr));
  const std::array sges{transport::Sge{keys.address, kMessage, keys.l_key}};
  for (int i = 0; i < kPosted; ++i) {
    must(device.post_send(sender.qpn, {.opcode = transport::WorkOpcode::write,
                                       .sges = sges,
                                       .remote = {.address = region_.address, .r_key = region_.r_key}}));
  }
  sender.sge = sges[0];
}

double Bottleneck::transmission(std::size_t bytes) const {
  return (static_cast<double>(bytes) + kWireExtra) * 8e9 / options_.line_bps;
}

double Bottleneck::next_of(const Sender& sender) const {
  const double free = std::max({sender.wire_free, sender.begins, now_});
  const double output = sender.has_output && free < sender.ends ? free : kForever;
  return std::min(output, ns_of(sender.device->next_timeout()));
}

void Bottleneck::serve(Sender& sender, std::size_t index, double now) {
  const Time time = time_of(now);
  transport::Device& device = *sender.device;
  if (device.next_timeout() <= time) device.advance(time);
  sender.has_output = true;
  if (sender.wire_free > now || now < sender.begins || now >= sender.ends) return;
  std::array<transport::TxUnit, 1> unit{};
  if (device.transmit(buffer_, unit, {}, time) == 0) {
    sender.has_output = false;
    return;
  }
  // A wire that has been free for less than a nanosecond was never idle: devices see whole ones.
  const double begins = now - sender.wire_free < 1 ? sender.wire_free : now;
  sender.wire_free = begins + transmission(unit[0].bytes.size());
  const auto place = std::ranges::upper_bound(coming_, sender.wire_free + kDelay, {}, &Moving::at);
  coming_.insert(place, {sender.wire_free + kDelay, index, Frame(unit[0].bytes.begin(), unit[0].bytes.end())});
}

bool Bottleneck::is_marked(std::size_t waiting) {
  const auto queue = static_cast<double>(waiting);
  if (queue <= options_.kmin) return false;
  if (queue > options_.kmax) return true;
  return happens(options_.pmax * (queue - options_.kmin) / (options_.kmax - options_.kmin));
}

bool Bottleneck::happens(double chance) {
  constexpr double whole = 9007199254740992.0;  // 2^53
  return static_cast<double>(random_() >> 11U) / whole < chance;
}

/// Begins to send the first frame of the queue, and marks it by what waits behind it.
void Bottleneck::begin(double now) {
  std::size_t waiting = 0;
  const auto enough = static_cast<std::size_t>(options_.kmax);
  for (std::size_t i = 1; i < queue_.size() && waiting <= enough; ++i) waiting += queue_[i].frame.size();
  if (is_marked(waiting) && mark_congestion(queue_.front().frame)) ++marks_;
  ++packets_;
  port_free_ = now + transmission(queue_.front().frame.size());
}

void Bottleneck::leave(double now) {
  Moving frame = std::move(queue_.front());
  queue_.pop_front();
  queue_bytes_ -= frame.frame.size();
  frame.at = now + kDelay;
  arriving_.push_back(std::move(frame));
  if (!queue_.empty()) begin(now);
}

void Bottleneck::receive(double now) {
  const Time time = time_of(now);
  if (!arriving_.empty() && arriving_.front().at <= now) {
    const Moving frame = std::move(arriving_.front());
    arriving_.pop_front();
    receiver_->receive(parse_frame(frame.frame, LinkType::ethernet), time);
  }
  if (receiver_->next_timeout() <= time) receiver_->advance(time);
  std::array<transport::TxUnit, 4> units{};
  while (const std::size_t count = receiver_->transmit(buffer_, units, {}, time)) {
    for (const transport::TxUnit& unit : std::span{units}.first(count)) {
      const Packet packet = parse_frame(unit.bytes, LinkType::ethernet);
      if (options_.cnp_loss > 0 && packet.bth().opcode == Opcode::cnp && happens(options_.cnp_loss)) continue;
      const auto to = std::ranges::find(senders_, Qpn{unit.flow}, &Sender::peer);
      back_.push_back({now + 2 * kDelay, static_cast<std::size_t>(to - senders_.begin()),
                       Frame(unit.bytes.begin(), unit.bytes.end())});
    }
  }
}

void Bottleneck::take_back(double now) {
  const Moving frame = std::move(back_.front());
  back_.pop_front();
  Sender& sender = senders_[frame.sender];
  sender.device->receive(parse_frame(frame.frame, LinkType::ethernet), time_of(now));
  std::array<transport::Completion, kPosted> done{};
  const std::size_t count = sender.device->poll_cq(sender.cq, done);
  for (std::size_t i = 0; i < count; ++i) {
    if (done[i].status != transport::CompletionStatus::success) throw std::runtime_error("a WRITE failed");
    must(sender.device->post_send(sender.qpn, {.opcode = transport::WorkOpcode::write,
                                               .sges = {&sender.sge, 1},
                                               .remote = {.address = region_.address, .r_key = region_.r_key}}));
  }
  serve(sender, frame.sender, now);
}

void Bottleneck::run_until(Time until) {
  const double end = ns_of(until);
  for (;;) {
    const double port = queue_.empty() ? kForever : port_free_;
    const double arrival = arriving_.empty() ? kForever : arriving_.front().at;
    const double answer = std::min(arrival, ns_of(receiver_->next_timeout()));
    const double coming = coming_.empty() ? kForever : coming_.front().at;
    const double back = back_.empty() ? kForever : back_.front().at;
    std::size_t first = 0;
    double send = kForever;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      if (const double next = next_of(senders_[i]); next < send) {
        send = next;
        first = i;
      }
    }
    const double next = std::min({port, answer, coming, back, send});
    if (next > end) break;
    now_ = std::max(now_, next);
    if (next == coming) {
      queue_bytes_ += coming_.front().frame.size();
      queue_.push_back(std::move(coming_.front()));
      coming_.pop_front();
      if (queue_.size() == 1) begin(now_);
    } else if (next == port) {
      leave(now_);
    } else if (next == answer) {
      receive(now_);
    } else if (next == back) {
      take_back(now_);
    } else {
      serve(senders_[first], first, now_);
    }
  }
  now_ = end;
}

congestion::Reading Bottleneck::reading(std::size_t sender) const {
  return must(senders_[sender].device->congestion_reading(senders_[sender].qpn, time_of(now_))).value();
}

transport::Counters Bottleneck::counters(std::size_t sender) const {
  return must(senders_[sender].device->counters(senders_[sender].qpn));
}

Bottleneck::Figures Bottleneck::measure_until(Time until) {
  const double seconds = (ns_of(until) - now_) / 1e9;
  std::vector<transport::Counters> before;
  for (std::size_t i = 0; i < senders_.size(); ++i) before.push_back(counters(i));
  const std::uint64_t packets = packets_;
  const std::uint64_t marks = marks_;
  Figures figures;
  double samples = 0;
  for (Time time = time_of(now_) + kSample; time <= until; time += kSample) {
    run_until(time);
    ++samples;
    figures.queue_mean += static_cast<double>(queue_bytes_);
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      if (now_ < senders_[i].ends) figures.alpha += reading(i).alpha;
    }
  }
  const auto is_active = [this](const Sender& sender) { return now_ < sender.ends; };
  const auto flows = static_cast<double>(std::ranges::count_if(senders_, is_active));
  figures.queue_mean /= samples;
  figures.alpha /= samples * flows;
  figures.marked = static_cast<double>(marks_ - marks) / static_cast<double>(packets_ - packets);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    if (!is_active(senders_[i])) continue;
    const transport::Counters after = counters(i);
    const double rate = static_cast<double>(after.sent_bytes - before[i].sent_bytes) * 8 / seconds;
    sum += rate;
    squares += rate * rate;
    figures.cnps += static_cast<double>(after.cnps_handled - before[i].cnps_handled) / seconds / flows;
  }
  constexpr double counted = 1040.0 / 1106;
  figures.utilisation = sum / (options_.line_bps * counted);
  figures.jain = sum * sum / (flows * squares);
  return figures;
}

}  // namespace roce::sim
