// SPDX-License-Identifier: BSD-2-Clause
#include "gen/pingpong/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roce/transport/network_header.h"

namespace roce::gen {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;

constexpr std::size_t kSrqPairs = 16;
constexpr std::size_t kSrqMessages = 256;
constexpr std::uint32_t kReceives = 64;
constexpr QKey kQKey{0x11111111};
constexpr std::byte kFill{0x7B};
/// With -c the client's buffer has zeros at the start of each page, and the server looks for them.
constexpr std::size_t kPage = 4096;
/// Bit of a work request's number: set for a SEND of the pair in the low bits, clear for a receive into the slot.
constexpr std::uint64_t kSend = std::uint64_t{1} << 32;
/// Timeout, retry and RNR values of the programs.
constexpr std::uint8_t kTimeout = 14;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kMinRnrTimer = 12;

[[nodiscard]] QpType qp_type(PingpongKind kind) {
  switch (kind) {
    case PingpongKind::uc:
      return QpType::uc;
    case PingpongKind::ud:
      return QpType::ud;
    case PingpongKind::rc:
    case PingpongKind::srq:
      break;
  }
  return QpType::rc;
}

}  // namespace

PingpongSession::PingpongSession(live::Endpoint& endpoint, const PingpongOptions& options, Role role)
    : endpoint_(endpoint), device_(endpoint.device()), options_(options), role_(role) {}

Outcome<std::unique_ptr<PingpongSession>> PingpongSession::make(live::Endpoint& endpoint,
                                                                const PingpongOptions& options, Role role) {
  if (options.path_mtu > endpoint.max_path_mtu()) {
    return cannot(
        fmt::format("a path MTU of {} does not fit the interface, which takes {} at most; use -m {}, or raise "
                    "the interface's MTU",
                    options.path_mtu, endpoint.max_path_mtu(), endpoint.max_path_mtu()));
  }
  if (options.kind == PingpongKind::ud && options.size > endpoint.max_path_mtu()) {
    return cannot(fmt::format("a datagram of {} bytes does not fit the path MTU of {}; use a smaller -s", options.size,
                              endpoint.max_path_mtu()));
  }
  std::unique_ptr<PingpongSession> session{new PingpongSession{endpoint, options, role}};
  if (Outcome<void> made = session->make_objects(); !made) return tl::unexpected(made.error());
  return session;
}

PingpongSession::~PingpongSession() {
  // Each object is destroyed when nothing refers to it any more; a call for one that was never made fails harmlessly.
  for (const Pair& pair : pairs_) {
    (void)device_.destroy_qp(pair.qpn);
    (void)device_.destroy_ah(pair.ah);
  }
  (void)device_.destroy_srq(srq_);
  (void)device_.deregister_memory(mr_);
  (void)device_.destroy_cq(cq_);
  (void)device_.destroy_pd(pd_);
}

std::uint32_t PingpongSession::network_header() const {
  return options_.kind == PingpongKind::ud ? std::uint32_t{transport::kNetworkHeaderArea} : 0;
}

Outcome<void> PingpongSession::make_objects() {
  slots_ = kReceives;
  slot_bytes_ = network_header() + std::size_t{options_.size};
  memory_.resize(slot_bytes_ * (slots_ + 1));
  const std::byte fill = options_.kind == PingpongKind::srq ? std::byte{0} : kFill;
  const auto own = std::span{memory_}.subspan(slot_offset(slots_) + network_header(), options_.size);
  std::fill(own.begin(), own.end(), fill);
  for (std::size_t i = 0; i < own.size(); i += kPage) own[i] = std::byte{0};

  Outcome<transport::Pd> pd = expect(device_.create_pd(), "make a protection domain");
  if (!pd) return tl::unexpected(pd.error());
  pd_ = *pd;
  Outcome<transport::Cq> cq = expect(device_.create_cq(4 * kReceives), "make a completion queue");
  if (!cq) return tl::unexpected(cq.error());
  cq_ = *cq;
  Outcome<transport::Mr> mr = expect(device_.register_memory(pd_, {.memory = memory_}), "register memory");
  if (!mr) return tl::unexpected(mr.error());
  mr_ = *mr;
  region_ = *device_.query_mr(mr_);
  const std::size_t pairs = options_.kind == PingpongKind::srq ? kSrqPairs : 1;
  if (options_.kind == PingpongKind::srq) {
    Outcome<transport::Srq> srq = expect(device_.create_srq(pd_, kReceives, 1), "make a shared receive queue");
    if (!srq) return tl::unexpected(srq.error());
    srq_ = *srq;
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    if (Outcome<void> made = make_pair(); !made) return made;
  }
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    if (Outcome<void> posted = post_receive(slot); !posted) return posted;
  }
  return {};
}

Outcome<void> PingpongSession::make_pair() {
  transport::QpInit init;
  init.type = qp_type(options_.kind);
  init.pd = pd_;
  init.send_cq = init.receive_cq = cq_;
  if (options_.kind == PingpongKind::srq) init.srq = srq_;
  init.max_receive = kReceives;
  const Outcome<Qpn> qpn = expect(device_.create_qp(init), "make a queue pair");
  if (!qpn) return tl::unexpected(qpn.error());
  endpoint_.adopt(*qpn);
  Pair pair;
  pair.qpn = *qpn;
  pair.psn = endpoint_.random().psn();
  pairs_.push_back(pair);
  transport::QpChange change{.state = QpState::init, .p_key_index = 0, .port = 1};
  if (init.type == QpType::ud) {
    change.q_key = kQKey;
  } else {
    change.access = Access::none;
  }
  return expect(device_.modify_qp(*qpn, change, Time{}), "move a queue pair to INIT");
}

std::size_t PingpongSession::message_count(PingpongKind kind) {
  return kind == PingpongKind::srq ? kSrqMessages : 1;
}

std::vector<live::PingpongMessage> PingpongSession::local() const {
  std::vector<live::PingpongMessage> messages(message_count());
  for (std::size_t i = 0; i < pairs_.size(); ++i) messages[i] = {pairs_[i].qpn, pairs_[i].psn, endpoint_.gid()};
  return messages;
}

Outcome<void> PingpongSession::connect_pair(Pair& pair, Time now) {
  const transport::AddressVector address{.sgid_index = endpoint_.sgid_index(), .dgid = pair.remote.gid};
  transport::QpChange rtr{.state = QpState::rtr};
  transport::QpChange rts{.state = QpState::rts, .sq_psn = pair.psn};
  if (options_.kind != PingpongKind::ud) {
    rtr.address = address;
    rtr.path_mtu = options_.path_mtu;
    rtr.dest_qp = pair.remote.qpn;
    rtr.rq_psn = pair.remote.psn;
  }
  if (qp_type(options_.kind) == QpType::rc) {
    rtr.max_dest_rd_atomic = 1;
    rtr.min_rnr_timer = kMinRnrTimer;
    rts.max_rd_atomic = 1;
    rts.timeout = kTimeout;
    rts.retry_count = kRetries;
    rts.rnr_retry = kRetries;
  }
  if (Outcome<void> moved = expect(device_.modify_qp(pair.qpn, rtr, now), "move the queue pair to RTR"); !moved)
    return moved;
  if (Outcome<void> moved = expect(device_.modify_qp(pair.qpn, rts, now), "move the queue pair to RTS"); !moved)
    return moved;
  if (options_.kind != PingpongKind::ud) return {};
  const Outcome<transport::Ah> ah = expect(device_.create_ah(pd_, address), "make an address handle");
  if (!ah) return tl::unexpected(ah.error());
  pair.ah = *ah;
  return {};
}

Outcome<void> PingpongSession::connect(const std::vector<live::PingpongMessage>& remote, Time now) {
  last_progress_ = now;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    pairs_[i].remote = remote[i];
    if (pairs_[i].remote.gid == Gid{}) {
      return failed("the peer told no GID; give the pingpong program -g with the index of a RoCE v2 GID");
    }
    if (Outcome<void> connected = connect_pair(pairs_[i], now); !connected) return connected;
  }
  if (role_ == Role::client) {
    for (Pair& pair : pairs_) {
      pair.reply_slot = slots_;
      if (Outcome<void> posted = post_send(pair); !posted) return posted;
    }
  }
  return {};
}

Outcome<void> PingpongSession::post_receive(std::uint32_t slot) {
  const transport::Sge sge{region_.address + slot_offset(slot), static_cast<std::uint32_t>(slot_bytes_), region_.l_key};
  const transport::ReceiveRequest request{.wr_id = slot, .sges = {&sge, 1}};
  return expect(options_.kind == PingpongKind::srq ? device_.post_srq_receive(srq_, request)
                                                   : device_.post_receive(pairs_.front().qpn, request),
                "post a receive");
}

Outcome<void> PingpongSession::post_send(Pair& pair) {
  const transport::Sge sge{region_.address + slot_offset(pair.reply_slot) + network_header(), options_.size,
                           region_.l_key};
  transport::SendRequest request{.wr_id = kSend | static_cast<std::uint64_t>(&pair - pairs_.data()), .sges = {&sge, 1}};
  if (options_.kind == PingpongKind::ud) request.datagram = {pair.ah, pair.remote.qpn, kQKey};
  pair.send_pending = true;
  pair.receive_pending = true;
  ++posted_;
  return expect(device_.post_send(pair.qpn, request), "post a SEND");
}

Outcome<void> PingpongSession::check_data(std::uint32_t slot, std::uint32_t length) const {
  if (!options_.compare) return {};
  if (length != options_.size) {
    return failed(fmt::format("a message of {} bytes came, {} were expected; use the same -s on both sides", length,
                              options_.size));
  }
  const auto data = std::span{memory_}.subspan(slot_offset(slot) + network_header(), length);
  const bool srq = options_.kind == PingpongKind::srq;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool may_be_zero = srq || i % kPage == 0;
    if ((data[i] == kFill && !srq) || (data[i] == std::byte{0} && may_be_zero)) continue;
    return failed(fmt::format("wrong data in message {}: byte {} is 0x{:02x}", received_ + 1, i,
                              std::to_integer<unsigned>(data[i])));
  }
  return {};
}

Outcome<void> PingpongSession::take(const transport::Completion& completion) {
  const bool is_send = (completion.wr_id & kSend) != 0;
  if (completion.status != transport::CompletionStatus::success) {
    // All messages have come and were sent: only the acknowledgement of the last one is missing.
    const bool last = received_ >= options_.iterations && posted_ >= options_.iterations;
    if (last && (completion.status == transport::CompletionStatus::retry_exceeded ||
                 completion.status == transport::CompletionStatus::flushed)) {
      last_ack_missing_ = true;
      sent_ = std::max(sent_, options_.iterations);
      return {};
    }
    return failed(fmt::format("{} {} of {} ended with: {}", is_send ? "SEND" : "receive",
                              is_send ? sent_ + 1 : received_ + 1, options_.iterations, to_string(completion.status)));
  }
  const auto found = is_send ? pairs_.begin() + static_cast<std::ptrdiff_t>(completion.wr_id & ~kSend)
                             : std::find_if(pairs_.begin(), pairs_.end(),
                                            [&](const Pair& pair) { return pair.qpn == completion.qpn; });
  Pair& pair = *found;
  if (is_send) {
    ++sent_;
    pair.send_pending = false;
    if (role_ == Role::server) {
      if (Outcome<void> posted = post_receive(pair.reply_slot); !posted) return posted;
    }
  } else {
    const auto slot = static_cast<std::uint32_t>(completion.wr_id);
    if (Outcome<void> checked = check_data(slot, completion.byte_length - network_header()); !checked) return checked;
    ++received_;
    pair.receive_pending = false;
    if (role_ == Role::server) {
      // The message is sent back from its slot, which is posted again once the SEND has completed.
      pair.reply_slot = slot;
    } else {
      const auto data = std::span{memory_}.subspan(slot_offset(slot), slot_bytes_);
      // So that old data cannot pass for new.
      std::fill(data.begin(), data.end(), std::byte{0xEE});
      if (Outcome<void> posted = post_receive(slot); !posted) return posted;
    }
  }
  if (!pair.send_pending && !pair.receive_pending && sent_ < options_.iterations) return post_send(pair);
  return {};
}

Outcome<bool> PingpongSession::poll(Time now) {
  std::array<transport::Completion, 32> completions;
  const std::size_t count = device_.poll_cq(cq_, completions);
  for (std::size_t i = 0; i < count; ++i) {
    if (Outcome<void> taken = take(completions[i]); !taken) return tl::unexpected(taken.error());
  }
  if (count != 0) last_progress_ = now;
  return count != 0;
}

bool PingpongSession::finished() const {
  return sent_ >= options_.iterations && received_ >= options_.iterations;
}

transport::Counters PingpongSession::counters() const {
  transport::Counters sum;
  for (const Pair& pair : pairs_) {
    const transport::VerbResult<transport::Counters> counters = device_.counters(pair.qpn);
    if (!counters) continue;
    for (const transport::CounterName& name : transport::counter_names()) sum.*name.member += (*counters).*name.member;
  }
  return sum;
}

}  // namespace roce::gen
