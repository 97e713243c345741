// SPDX-License-Identifier: BSD-2-Clause
#include "cm_attack.h"

#include <fmt/format.h>

#include <algorithm>

#include "progress.h"

namespace roce::attack {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kConversations = 48;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kFull = 20 * kBatch;
constexpr std::chrono::seconds kPatience{5};
constexpr ServiceId kRping{PortSpace::tcp, 7174};
constexpr ServiceId kUcmatose{PortSpace::tcp, 7471};
constexpr ServiceId kNobody{PortSpace::tcp, 9};

[[nodiscard]] std::string_view name_of(HeaderId id) {
  switch (id) {
    case HeaderId::cm_req:
      return "REQ";
    case HeaderId::cm_mra:
      return "MRA";
    case HeaderId::cm_rej:
      return "REJ";
    case HeaderId::cm_rep:
      return "REP";
    case HeaderId::cm_dreq:
      return "DREQ";
    case HeaderId::cm_drep:
      return "DREP";
    case HeaderId::cm_sidr_rep:
      return "SIDR_REP";
    case HeaderId::cm_apr:
      return "APR";
    default:
      return "other";
  }
}

}  // namespace

void CmWorkshop::fill(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(number());
}

void CmWorkshop::begin(Conversation& conversation) {
  conversation = {};
  conversation.local = CommId{static_cast<std::uint32_t>(number())};
  conversation.qpn = Qpn{static_cast<std::uint32_t>(number() | 2)};
  conversation.service = any_of({kRping, kUcmatose, kUcmatose});
}

CmReq CmWorkshop::req(const Conversation& conversation) {
  CmReq req;
  req.local_comm_id = conversation.local;
  req.service_id = conversation.service;
  req.local_ca_guid = 0x0200'00FF'FE00'0001;
  req.local_qpn = conversation.qpn;
  req.responder_resources = req.initiator_depth = 1;
  req.remote_cm_response_timeout = req.local_cm_response_timeout = 20;
  req.retry_count = req.rnr_retry_count = 7;
  req.path_mtu = PathMtu::mtu_1024;
  req.max_cm_retries = 15;
  req.primary_local_gid = route_.own;
  req.primary_remote_gid = route_.peer;
  req.primary_hop_limit = 64;
  req.primary_local_ack_timeout = 17;
  Cma cma;
  cma.ip_version = route_.peer.is_ipv4_mapped() ? 4 : 6;
  cma.source_port = static_cast<std::uint16_t>(number());
  cma.source_address = cma.ip_version == 4 ? Cma::from_ipv4(route_.own.ipv4()) : route_.own;
  cma.destination_address = cma.ip_version == 4 ? Cma::from_ipv4(route_.peer.ipv4()) : route_.peer;
  write(cma, req.private_data.data());
  return req;
}

CmMessage CmWorkshop::legal(const Conversation& conversation) {
  switch (conversation.state) {
    case Conversation::State::replied:
      return message(named<CmRtu>(conversation));
    case Conversation::State::established: {
      auto dreq = named<CmDreq>(conversation);
      dreq.remote_qpn = conversation.remote_qpn;
      return message(dreq);
    }
    default:
      return message(req(conversation));
  }
}

CmAttack::CmAttack(CmAttackOptions options)
    : options_(std::move(options)),
      wire_(options_.interface),
      shop_(options_.route, options_.seed),
      conversations_(kConversations) {
  for (Conversation& conversation : conversations_) shop_.begin(conversation);
}

std::vector<std::byte> CmAttack::frame_of(const CmMessage& message) {
  Draft draft{options_.route, Opcode::ud_send_only, Qpn{1}, psn_};
  ++psn_;
  draft.deth = Deth{.q_key = message.q_key, .source_qp = message.source_qp};
  draft.bth.p_key = message.p_key;
  draft.payload = message.mad;
  return draft.build();
}

CmReport CmAttack::run() {
  const Clock::time_point end = Clock::now() + options_.limit;
  try {
    probe();
    bool warm = false;
    Progress progress{options_.count};
    while (report_.messages < options_.count && Clock::now() < end) {
      batch();
      probe();
      if (!warm && report_.messages > options_.count / 4) {
        warm = true;
        Progress::tell("warm");
      }
      progress.reached(report_.messages);
    }
    Progress::tell("cool");
    open_many();
  } catch (const PeerLost& lost) {
    ++(lost.hang ? report_.hangs : report_.crashes);
    report_.findings.emplace_back(lost.what());
  }
  if (report_.messages < options_.count && report_.hangs == 0) {
    report_.findings.push_back(fmt::format("only {} messages went in {} s", report_.messages, options_.limit.count()));
  }
  return std::move(report_);
}

void CmAttack::batch() {
  std::uint64_t weights = 0;
  for (const CmKind& kind : cm_kinds()) weights += kind.weight;
  for (std::size_t i = 0; i < kBatch; ++i) {
    Conversation& conversation = conversations_[shop_.below(conversations_.size())];
    answers_ = 0;
    std::string_view name;
    CmMessage message;
    if (shop_.below(4) == 0) {
      message = shop_.legal(conversation);
      ++report_.legal_messages;
      if (conversation.state == Conversation::State::none) conversation.state = Conversation::State::asked;
      if (conversation.state == Conversation::State::established) {
        ++report_.established;
        shop_.begin(conversation);
      }
      if (conversation.state == Conversation::State::replied) conversation.state = Conversation::State::established;
    } else {
      std::uint64_t place = shop_.below(weights);
      const CmKind* chosen = cm_kinds().data();
      while (place >= chosen->weight) place -= (chosen++)->weight;
      message = chosen->make(shop_, conversation);
      name = chosen->name;
      ++report_.messages;
    }
    const std::vector<std::vector<std::byte>> frames{frame_of(message)};
    wire_.send(frames, [this](const Packet& packet) { hear(packet); });
    // Waits for the answer, if there is one; a later answer counts for the next message.
    wire_.receive(std::chrono::milliseconds{1}, [this](const Packet& packet) { hear(packet); });
    if (!name.empty()) {
      CmReport::Tally& tally = report_.kinds[name];
      ++tally.messages;
      tally.answers += answers_;
    }
  }
}

/// Asks for many connections at once and never completes them.
void CmAttack::open_many() {
  while (report_.half_open < options_.half_open) {
    std::vector<std::vector<std::byte>> frames;
    for (std::size_t i = 0; i < kBatch; ++i) {
      Conversation conversation;
      shop_.begin(conversation);
      frames.push_back(frame_of(shop_.legal(conversation)));
    }
    report_.half_open += frames.size();
    wire_.send(frames, [this](const Packet& packet) { hear(packet); });
    probe();
    // By now there are as many as the peer accepts.
    if (report_.half_open == kFull) Progress::tell("full");
  }
}

/// Sends a REQ for a service that nobody offers, until the peer rejects it.
void CmAttack::probe() {
  const Clock::time_point begun = Clock::now();
  Conversation conversation;
  shop_.begin(conversation);
  conversation.service = kNobody;
  probing_ = conversation.local;
  probe_answered_ = false;
  ++report_.probes;
  const std::vector<std::vector<std::byte>> frames{frame_of(shop_.legal(conversation))};
  while (!probe_answered_) {
    if (Clock::now() > begun + kPatience) throw PeerLost("a clean REQ got no answer in 5 s", true);
    wire_.send(frames, [this](const Packet& packet) { hear(packet); });
    ++report_.legal_messages;
    for (unsigned i = 0; i < 500 && !probe_answered_; ++i) {
      wire_.receive(std::chrono::milliseconds{1}, [this](const Packet& packet) { hear(packet); });
    }
  }
  report_.slowest_probe =
      std::max(report_.slowest_probe, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun));
}

void CmAttack::hear(const Packet& packet) {
  if (!packet.is_roce() || !packet.has_icrc() || packet.bth().dest_qp != Qpn{1}) return;
  const Bytes payload = packet.payload();
  if (payload.size() < kMadSize) return;
  const HeaderId id = cm_header_id(read<Mad>(payload.data()));
  ++report_.heard[name_of(id)];
  ++answers_;
  // All messages from a peer to us begin with its ID and ours.
  const auto names = read<CmRtu>(payload.data() + kSize<Mad>);
  if (id == HeaderId::cm_rej && names.remote_comm_id == probing_) probe_answered_ = true;
  const auto found = std::ranges::find(conversations_, names.remote_comm_id, &Conversation::local);
  if (found == conversations_.end()) return;
  if (id == HeaderId::cm_rep && found->state == Conversation::State::asked) {
    const auto reply = read<CmRep>(payload.data() + kSize<Mad>);
    found->remote = reply.local_comm_id;
    found->remote_qpn = reply.local_qpn;
    found->state = Conversation::State::replied;
  } else if (id == HeaderId::cm_rej || id == HeaderId::cm_dreq) {
    shop_.begin(*found);
  }
}

}  // namespace roce::attack
