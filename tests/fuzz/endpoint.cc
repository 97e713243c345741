// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <vector>

#include "input.h"
#include "roce/transport/device.h"
#include "sim/random.h"

// The input is a program on two connected devices, by RC or XRC: requests; frames that arrive in order, out of order,
// twice, changed or made up; time that passes; QPs that change state; keys that are taken away. ICRCs are not checked,
// so that changed frames get in. Always required: nothing is written outside of the region, no request completes twice
// or out of order, frames are RoCE, no QP takes more memory, and everything comes to rest.

namespace {

using namespace roce;
using roce::test::Input;
using namespace roce::transport;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::size_t kGuard = 64;
constexpr std::uint32_t kRegion = 4096;
constexpr std::size_t kMaxFrames = 256;
constexpr std::uint32_t kQueue = 8;
constexpr std::uint64_t kAddress = 0x1'0000;
constexpr Access kAll = Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic |
                        Access::flush_global | Access::flush_persistent | Access::mw_bind;

MacAddress mac_of(std::uint8_t node) {
  return {{2, 0, 0, 0, 0, node}};
}
Gid gid_of(std::uint8_t node) {
  return Gid::from_ipv4({{10, 0, 0, node}});
}

Device make_device(std::uint8_t node, std::uint8_t profile) {
  DeviceConfig config;
  config.mac = mac_of(node);
  config.gids = {GidEntry{.gid = gid_of(node)}};
  config.check_icrc = false;
  constexpr std::array names{"rxe", "hardware_like", "strict"};
  config.profile = profile_of(names.at(profile % names.size()));
  config.limits = {.max_qp = 4, .max_cq = 4, .max_mr = 8, .max_events = 16};
  return *Device::make(std::move(config), sim::Random{node});
}

/// A device with one QP, and what is expected of its requests.
class Node {
 public:
  Node(std::uint8_t node, std::uint8_t profile, QpType type)
      : node_(node), type_(type), device_(make_device(node, profile)), memory_(kRegion + 2 * kGuard, std::byte{0x5A}) {
    pd_ = *device_.create_pd();
    cq_ = *device_.create_cq(8 * kQueue);
    mr_ = *device_.register_memory(pd_, {.memory = std::span{memory_}.subspan(kGuard, kRegion),
                                         .access = kAll,
                                         .address = kAddress,
                                         .invalidatable = true});
    mw_ = *device_.create_mw(pd_, MwType::type2);
    if (type == QpType::xrc_target) {
      xrcd_ = *device_.create_xrcd();
      for (SrqOfXrc& srq : srqs_) make_srq(srq);
    }
    qpn_ = *device_.create_qp({.type = type,
                               .pd = pd_,
                               .send_cq = cq_,
                               .receive_cq = cq_,
                               .xrcd = xrcd_,
                               .max_send = kQueue,
                               .max_receive = kQueue,
                               .max_inline = 32,
                               .signal_all = true});
  }
  void connect(Node& peer, std::uint32_t mtu, Time now) {
    peer_ = &peer;
    mtu_ = mtu;
    constexpr Psn near_the_end{0xFF'FFF8};
    const auto to_rts = [&](const QpChange& change) { static_cast<void>(device_.modify_qp(qpn_, change, now)); };
    to_rts({.state = QpState::init, .p_key_index = 0, .port = 1, .access = kAll});
    to_rts({.state = QpState::rtr,
            .access = Access::remote_write | Access::remote_read | Access::remote_atomic | Access::flush_global |
                      Access::flush_persistent,
            .address = AddressVector{.dgid = gid_of(peer.node_), .destination_mac = mac_of(peer.node_)},
            .path_mtu = mtu,
            .dest_qp = peer.qpn_,
            .rq_psn = near_the_end,
            .max_dest_rd_atomic = 2,
            .min_rnr_timer = 1});
    to_rts({.state = QpState::rts,
            .sq_psn = near_the_end,
            .max_rd_atomic = 2,
            .timeout = 8,
            .retry_count = 3,
            .rnr_retry = 3});
    if (memory_of_qp_ == 0) memory_of_qp_ = device_.memory_of(qpn_).value_or(0);
  }

  void post_send(Input& input) {
    const std::uint8_t kind = input.byte();
    const std::array sges{Sge{kAddress + input.word() % kRegion, input.word() % (kRegion / 2), key()}};
    SendRequest request{.wr_id = next_send_, .opcode = static_cast<WorkOpcode>(kind % 12), .sges = sges};
    request.fence = (kind & 0x80U) != 0;
    request.solicited = (kind & 0x40U) != 0;
    request.remote = {kAddress + input.word() % kRegion, RKey{peer_->key().value()}};
    std::array eight{sges[0]};
    if (request.opcode == WorkOpcode::compare_swap || request.opcode == WorkOpcode::fetch_add ||
        request.opcode == WorkOpcode::atomic_write) {
      eight[0].length = 8;
      request.sges = eight;
      request.remote.address &= ~std::uint64_t{7};
    }
    request.invalidate = request.opcode == WorkOpcode::local_invalidate ? RKey{key().value()} : request.remote.r_key;
    request.flush = {.length = sges[0].length, .whole_region = (kind & 0x20U) != 0};
    request.bind = {.mw = mw_, .mr = mr_, .address = kAddress, .length = sges[0].length, .access = Access::remote_read};
    if (type_ == QpType::xrc_initiator) request.xrc_srq = peer_->srq_number(input.byte());
    if (device_.post_send(qpn_, request)) ++next_send_;
  }
  void post_receive(Input& input) {
    const std::array sges{Sge{kAddress + input.word() % kRegion, input.word() % kRegion, key()}};
    if (type_ == QpType::xrc_target) {
      SrqOfXrc& srq = srqs_.at(input.byte() % srqs_.size());
      if (device_.post_srq_receive(srq.handle, {.wr_id = srq.first_id + srq.next, .sges = sges})) ++srq.next;
    } else if (device_.post_receive(qpn_, {.wr_id = kReceive + next_receive_, .sges = sges})) {
      ++next_receive_;
    }
  }
  void modify(Input& input, Time now) {
    constexpr std::array states{QpState::sqd, QpState::rts, QpState::err, QpState::reset};
    const QpState to = states.at(input.byte() % states.size());
    if (!device_.modify_qp(qpn_, {.state = to}, now) || to != QpState::reset) return;
    settle();
    done_sends_ = next_send_;
    done_receives_ = next_receive_;
    connect(*peer_, mtu_, now);
  }
  void change_keys(Input& input) {
    const std::uint8_t what = input.byte();
    if (type_ == QpType::xrc_target && (what & 2U) != 0) {
      SrqOfXrc& srq = srqs_.at((what >> 2U) % srqs_.size());
      check(device_.destroy_srq(srq.handle).has_value());
      make_srq(srq);
    } else if ((what & 1U) != 0) {
      static_cast<void>(device_.renew_key(mr_, what));
    } else if (device_.deregister_memory(mr_)) {
      mr_ = *device_.register_memory(pd_, {.memory = std::span{memory_}.subspan(kGuard, kRegion),
                                           .access = kAll,
                                           .address = kAddress,
                                           .invalidatable = true});
    }
  }
  void set_pace(Input& input, Time now) {
    const QpChange change{.state = QpState::rts, .rate_limit_bps = std::uint64_t{input.byte()} << 24U};
    static_cast<void>(device_.modify_qp(qpn_, change, now));
  }

  /// Takes the completions and checks everything else that has to hold.
  void settle() {
    std::array<Completion, 4> some{};
    while (const std::size_t count = device_.poll_cq(cq_, some)) {
      for (const Completion& completion : std::span{some}.first(count)) {
        // All are signaled, so each kind completes in order and without a gap.
        if (type_ == QpType::xrc_target) {
          take(completion);
        } else if (completion.wr_id >= kReceive) {
          check(completion.wr_id == kReceive + done_receives_++);
        } else {
          check(completion.wr_id == done_sends_++);
        }
      }
    }
    check(done_sends_ <= next_send_ && done_receives_ <= next_receive_);
    while (device_.poll_event()) {
    }
    const auto is_guard = [](std::byte byte) { return byte == std::byte{0x5A}; };
    check(std::all_of(memory_.begin(), memory_.begin() + kGuard, is_guard));
    check(std::all_of(memory_.end() - kGuard, memory_.end(), is_guard));
    // Less in RESET, which gives back what RTR took.
    check(device_.memory_of(qpn_).value_or(0) <= memory_of_qp_);
  }
  /// Passes the frames that are to be sent to `use`.
  template <typename Use>
  void transmit(Time now, Use use) {
    std::array<std::byte, 8192> buffer;
    std::array<TxUnit, 2> units{};
    while (const std::size_t count = device_.transmit(buffer, units, {.max_bytes = mtu_ + 96}, now)) {
      for (const TxUnit& unit : std::span{units}.first(count)) {
        check(parse_frame(unit.bytes, LinkType::ethernet).is_roce());
        use(unit.bytes);
      }
    }
    check(!device_.has_output());
  }
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Qpn qpn() const { return qpn_; }
  [[nodiscard]] bool in_error() const { return device_.query_qp(qpn_)->state == QpState::err; }
  /// Checks that in ERR nothing is left uncompleted.
  void check_flushed() { check(done_sends_ == next_send_ && done_receives_ == next_receive_); }

 private:
  static constexpr std::uint64_t kReceive = std::uint64_t{1} << 32U;

  /// An SRQ that requests may name. Its receives have the numbers from `first_id` on.
  struct SrqOfXrc {
    Srq handle{};
    XrcSrqn number{};
    std::uint64_t first_id = 0;
    std::uint64_t next = 0;
    std::uint64_t done = 0;  ///< all below have completed, or were lost with a QP that was reset
  };
  void make_srq(SrqOfXrc& srq) {
    srq.handle = *device_.create_xrc_srq({.pd = pd_, .xrcd = xrcd_, .cq = cq_, .capacity = kQueue / 2, .max_sge = 1});
    srq.number = *device_.xrc_srq_number(srq.handle);
    srq.first_id = kReceive * static_cast<std::uint64_t>(1 + (&srq - srqs_.data()));
  }
  /// Returns the number of an SRQ, or of none.
  [[nodiscard]] XrcSrqn srq_number(std::uint8_t choice) const {
    return choice % 8 == 7 ? XrcSrqn{choice} : srqs_.at(choice % srqs_.size()).number;
  }
  /// Takes the completion of a receive: each SRQ's come in order.
  void take(const Completion& completion) {
    SrqOfXrc& srq = srqs_.at(completion.wr_id / kReceive - 1);
    const std::uint64_t index = completion.wr_id - srq.first_id;
    check(index >= srq.done && index < srq.next);
    srq.done = index + 1;
  }
  [[nodiscard]] LKey key() const { return device_.query_mr(mr_)->l_key; }

  std::uint8_t node_;
  QpType type_;
  Device device_;
  std::vector<std::byte> memory_;
  Pd pd_{};
  Cq cq_{};
  Mr mr_{};
  Mw mw_{};
  Xrcd xrcd_{};
  std::array<SrqOfXrc, 2> srqs_{};
  Qpn qpn_{};
  Node* peer_ = nullptr;
  std::uint32_t mtu_ = 0;
  std::size_t memory_of_qp_ = 0;
  std::uint64_t next_send_ = 0;
  std::uint64_t next_receive_ = 0;
  std::uint64_t done_sends_ = 0;
  std::uint64_t done_receives_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  Input input{Bytes{reinterpret_cast<const std::byte*>(data), size}};
  const std::uint8_t shape = input.byte();
  const bool is_xrc = (shape & 0x40U) != 0;
  std::array<Node, 2> nodes{Node{1, shape, is_xrc ? QpType::xrc_initiator : QpType::rc},
                            Node{2, static_cast<std::uint8_t>(shape >> 2U), is_xrc ? QpType::xrc_target : QpType::rc}};
  Time now{};
  const std::uint32_t mtu = (shape & 0x80U) != 0 ? 256 : 1024;
  nodes[0].connect(nodes[1], mtu, now);
  nodes[1].connect(nodes[0], mtu, now);
  std::array<std::deque<std::vector<std::byte>>, 2> wires;
  const auto let_out = [&](std::size_t from) {
    nodes.at(from).transmit(now, [&](Bytes frame) {
      if (wires.at(from).size() < kMaxFrames) wires.at(from).emplace_back(frame.begin(), frame.end());
    });
  };
  while (!input.empty()) {
    const std::uint8_t step = input.byte();
    const std::size_t who = step & 1U;
    Node& node = nodes.at(who);
    std::deque<std::vector<std::byte>>& wire = wires.at(1 - who);
    switch (step >> 1U & 15U) {
      case 0:
      case 1:
        node.post_send(input);
        break;
      case 2:
        node.post_receive(input);
        break;
      case 3:
      case 4:
      case 5:
      case 6:
      case 7: {
        // A frame arrives: the next or a later one; it may also come again later, or be lost or changed.
        if (wire.empty()) break;
        const auto at = static_cast<std::ptrdiff_t>((step & 0x20U) != 0 ? input.byte() % wire.size() : 0);
        std::vector<std::byte> frame = wire[static_cast<std::size_t>(at)];
        if ((step & 0x40U) == 0) wire.erase(wire.begin() + at);
        const std::uint8_t kind = step >> 1U & 15U;
        if (kind == 6) break;
        if (kind == 7) frame[input.byte() % frame.size()] = static_cast<std::byte>(input.byte());
        node.device().receive(parse_frame(frame, LinkType::ethernet), now);
        break;
      }
      case 8: {
        // A packet from its BTH on, made up by the input.
        const Bytes made = input.take(input.byte());
        std::vector<std::byte> packet{made.begin(), made.end()};
        if (packet.size() >= 8) {
          store_big_endian<3>(packet.data() + 5, node.qpn().value());
          if ((step & 0x20U) == 0) store_big_endian<2>(packet.data() + 2, 0xFFFF);
        }
        NetMeta net;
        net.version = RoceVersion::v2_ipv4;
        net.source = gid_of(static_cast<std::uint8_t>(2 - who));
        net.destination = gid_of(static_cast<std::uint8_t>(1 + who));
        node.device().receive(parse_transport(packet, net), now);
        break;
      }
      case 9:
        now += Duration{std::int64_t{1} << (input.byte() % 32U)};
        for (Node& each : nodes) each.device().advance(now);
        break;
      case 10:
        node.modify(input, now);
        break;
      case 11:
        node.change_keys(input);
        break;
      case 12:
        node.set_pace(input, now);
        break;
      default:
        now = std::max(now, std::min(now + std::chrono::seconds{10}, node.device().next_timeout()));
        node.device().advance(now);
        break;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      let_out(i);
      nodes.at(i).settle();
    }
  }
  // Without a peer that answers, retries come to an end and all requests are flushed.
  for (std::size_t i = 0; i < 2; ++i) {
    static_cast<void>(nodes.at(i).device().modify_qp(nodes.at(i).qpn(), {.state = QpState::err}, now));
    nodes.at(i).settle();
    if (nodes.at(i).in_error()) nodes.at(i).check_flushed();
    check(nodes.at(i).device().destroy_qp(nodes.at(i).qpn()).has_value());
  }
  return 0;
}
