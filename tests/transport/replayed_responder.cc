// SPDX-License-Identifier: BSD-2-Clause
#include "replayed_responder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "roce/wire/aeth.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/deth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ieth.h"
#include "roce/wire/reth.h"
#include "sim/host.h"

namespace roce::test {

using sim::must;
using transport::Access;
using transport::Device;
using transport::QpChange;
using transport::QpState;
using transport::QpType;

namespace {

constexpr Access kRemote = Access::remote_write | Access::remote_read | Access::remote_atomic;
/// The READ and atomic resources that the programs request.
constexpr std::uint8_t kRdAtomic = 16;
constexpr std::uint32_t kAtomicSize = 8;

Device make_device(const CapturedConnection& connection, const ResponderTruth& truth,
                   const transport::Profile& profile) {
  transport::DeviceConfig config;
  config.mac = connection.responder_mac;
  config.gids = {transport::GidEntry{.gid = connection.responder}};
  config.profile = profile;
  // If the device's only QPN is one too high, the requests name a QPN that nobody has.
  config.first_qpn = connection.responder_qpn.value() + (truth.qp_exists ? 0 : 1);
  return must(Device::make(config, [n = std::uint64_t{0}]() mutable { return ++n; }));
}

QpType type_of(Service service) {
  if (service == Service::uc) return QpType::uc;
  return service == Service::ud ? QpType::ud : QpType::rc;
}

/// The memory that a request accesses: first address, bytes, key. A request without a key does not access any.
struct Reach {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  RKey key{};
};

std::optional<Reach> reach_of(const Packet& request) {
  if (const auto reth = request.get<Reth>()) return Reach{reth->virtual_address, reth->dma_length, reth->r_key};
  if (const auto atomic = request.get<AtomicEth>()) return Reach{atomic->virtual_address, kAtomicSize, atomic->r_key};
  return std::nullopt;
}

bool needs_receive(const OpcodeInfo& info) {
  const bool starts = info.position == Position::first || info.position == Position::only;
  if (info.operation == Operation::send) return starts;
  return info.operation == Operation::write && info.immediate;
}

template <HeaderType H>
void replace_key(std::vector<std::byte>& frame, const Packet& packet, RKey key) {
  const std::optional<Layer> layer = packet.find(kHeader<H>.id);
  if (!layer) return;
  H header = *packet.get<H>();
  header.r_key = key;
  write(header, frame.data() + layer->offset);
}

void seal(std::vector<std::byte>& frame) {
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const std::uint32_t from = packet.network_offset();
  const std::uint32_t icrc = compute_icrc(Bytes{frame}.subspan(from, packet.icrc_offset() - from),
                                          packet.network_header(), packet.bth_offset() - from);
  for (unsigned i = 0; i < 4; ++i) frame[packet.icrc_offset() + i] = static_cast<std::byte>(icrc >> 8 * i);
}

}  // namespace

ReplayedResponder::ReplayedResponder(const CapturedConnection& connection, const ResponderTruth& truth,
                                     const transport::Profile& profile)
    : captured_(connection), truth_(truth), device_(make_device(connection, truth, profile)), transmit_buffer_(9216) {
  pd_ = must(device_.create_pd());
  cq_ = must(device_.create_cq(64));
  for (const NumberedAnswer& answer : captured_.answers) {
    const AethSyndrome syndrome{answer.answer.syndrome.value_or(0)};
    if (syndrome.kind() == AethKind::rnr_nak) ++rnr_left_[answer.answer.psn.value()];
  }
  find_regions();
  register_regions();
  connect();
}

void ReplayedResponder::find_regions() {
  std::set<std::uint32_t> refused;
  for (const NumberedAnswer& answer : captured_.answers) {
    if (answer.answer.syndrome == AethSyndrome::nak(NakCode::remote_access_error).value()) {
      refused.insert(answer.answer.psn.value());
    }
  }
  for (const CapturedFrame& frame : captured_.requests) {
    const Packet request = frame.packet();
    if (check_icrc(request).status != IcrcStatus::good) continue;
    if (const auto ieth = request.get<Ieth>()) invalidated_keys_.insert(ieth->r_key);
    const auto reach = reach_of(request);
    if (!reach || reach->length == 0 || refused.contains(request.bth().psn.value())) continue;
    const auto [at, is_new] = regions_.try_emplace(reach->key);
    Region& region = at->second;
    region.begin = is_new ? reach->address : std::min(region.begin, reach->address);
    region.end = std::max(region.end, reach->address + reach->length);
  }
}

void ReplayedResponder::register_regions() {
  for (auto& [key, region] : regions_) {
    region.memory.resize(region.end - region.begin);
    const transport::MrInit init{.memory = region.memory,
                                 .access = Access::local_write | kRemote,
                                 .address = region.begin,
                                 .invalidatable = invalidated_keys_.contains(key)};
    region.r_key = must(device_.query_mr(must(device_.register_memory(pd_, init)))).r_key;
  }
  receive_memory_.resize(truth_.receive_length);
  const transport::MrInit init{.memory = receive_memory_, .access = Access::local_write, .address = 0};
  receive_key_ = must(device_.query_mr(must(device_.register_memory(pd_, init)))).l_key;
}

void ReplayedResponder::connect() {
  const QpType type = type_of(captured_.service);
  qpn_ = must(device_.create_qp({.type = type, .pd = pd_, .send_cq = cq_, .receive_cq = cq_}));
  if (truth_.qp_exists && qpn_ != captured_.responder_qpn) throw std::runtime_error("the device gave another QPN");
  QpChange init{.state = QpState::init, .p_key_index = 0, .port = 1};
  QpChange ready{.state = QpState::rtr};
  if (type == QpType::ud) {
    init.q_key = captured_.requests.front().packet().get<Deth>()->q_key;
  } else {
    init.access = kRemote;
    ready.address = {.dgid = captured_.requester, .destination_mac = captured_.requester_mac};
    ready.path_mtu = truth_.mtu;
    ready.dest_qp = captured_.requester_qpn;
    ready.rq_psn = captured_.first_psn;
  }
  if (type == QpType::rc) {
    ready.max_dest_rd_atomic = kRdAtomic;
    ready.min_rnr_timer = truth_.min_rnr_timer;
  }
  must(device_.modify_qp(qpn_, init, Time{}));
  must(device_.modify_qp(qpn_, ready, Time{}));
}

RKey ReplayedResponder::own_key(RKey captured) const {
  const auto found = regions_.find(captured);
  constexpr RKey nobodys{0xFFFF'FF00};
  return found == regions_.end() ? nobodys : found->second.r_key;
}

std::vector<std::byte> ReplayedResponder::with_own_keys(const CapturedFrame& request) const {
  std::vector<std::byte> frame = request.bytes;
  const Packet packet = request.packet();
  if (check_icrc(packet).status != IcrcStatus::good) return frame;
  if (const auto reth = packet.get<Reth>()) replace_key<Reth>(frame, packet, own_key(reth->r_key));
  if (const auto atomic = packet.get<AtomicEth>()) replace_key<AtomicEth>(frame, packet, own_key(atomic->r_key));
  if (const auto ieth = packet.get<Ieth>()) replace_key<Ieth>(frame, packet, own_key(ieth->r_key));
  seal(frame);
  return frame;
}

void ReplayedResponder::provide_receive(const Packet& request) {
  const transport::QpAttributes attributes = must(device_.query_qp(qpn_));
  if (!needs_receive(request.info()) || check_icrc(request).status != IcrcStatus::good) return;
  if (captured_.service == Service::rc) {
    if (request.bth().psn != attributes.rq_psn) return;
    int& rnr_left = rnr_left_[request.bth().psn.value()];
    if (rnr_left > 0) {
      --rnr_left;
      return;
    }
  }
  if (attributes.receives_outstanding != 0) return;
  const bool bad = truth_.later_receives_have_bad_key && receives_posted_ > 0;
  const std::array sges{transport::Sge{0, truth_.receive_length, bad ? LKey{0xFFFF'FF00} : receive_key_}};
  must(device_.post_receive(qpn_, {.wr_id = ++receives_posted_, .sges = sges}));
}

/// The contents of the real responder's memory become known when an atomic returns them.
void ReplayedResponder::provide_atomic_operand(const Packet& request) {
  const auto atomic = request.get<AtomicEth>();
  if (!atomic || request.bth().psn != must(device_.query_qp(qpn_)).rq_psn) return;
  const auto found = regions_.find(atomic->r_key);
  if (found == regions_.end() || !operands_.insert(atomic->virtual_address).second) return;
  const auto answer = std::ranges::find_if(captured_.answers, [&](const NumberedAnswer& candidate) {
    return candidate.answer.original && candidate.answer.psn == request.bth().psn;
  });
  if (answer == captured_.answers.end()) return;
  const std::uint64_t value = *answer->answer.original;
  std::memcpy(found->second.memory.data() + (atomic->virtual_address - found->second.begin), &value, sizeof value);
}

void ReplayedResponder::feed(const CapturedFrame& request) {
  const Packet captured = request.packet();
  provide_receive(captured);
  provide_atomic_operand(captured);
  const std::vector<std::byte> frame = with_own_keys(request);
  device_.receive(parse_frame(frame, LinkType::ethernet), request.time);
  device_.advance(request.time);
  collect(request.number, request.time);
}

void ReplayedResponder::collect(std::uint64_t number, Time now) {
  std::array<transport::TxUnit, 1> units{};
  while (device_.transmit(transmit_buffer_, units, transport::TxCaps{}, now) != 0) {
    const Packet packet = parse_frame(units[0].bytes, LinkType::ethernet);
    if (check_icrc(packet).status != IcrcStatus::good) throw std::runtime_error("an answer has a wrong ICRC");
    if (packet.bth().dest_qp != captured_.requester_qpn || packet.net().destination != captured_.requester) {
      throw std::runtime_error("an answer goes elsewhere");
    }
    answers_.push_back({number, answer_of(packet)});
  }
  std::array<transport::Completion, 8> completions{};
  for (std::size_t n = 0; (n = device_.poll_cq(cq_, completions)) != 0;) {
    for (const transport::Completion& completion : std::span{completions}.first(n)) {
      if (completion.status == transport::CompletionStatus::flushed) continue;
      Receipt receipt{.status = completion.status};
      if (completion.status == transport::CompletionStatus::success) {
        receipt.by_write = completion.opcode == transport::CompletionOpcode::receive_write_with_immediate;
        receipt.length = completion.byte_length;
        if (completion.has_immediate) receipt.immediate = completion.immediate;
      }
      receipts_.push_back({number, receipt});
    }
  }
}

transport::Counters ReplayedResponder::counters() const {
  return must(device_.counters(qpn_));
}

}  // namespace roce::test
