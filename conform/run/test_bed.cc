// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/test_bed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conform/language/functions.h"
#include "conform/run/attributes.h"
#include "conform/target/device_frame.h"
#include "roce/wire/aeth.h"
#include "roce/wire/opcode.h"
#include "roce/wire/reth.h"

namespace roce::conform {

namespace {

/// The two halves of `a.E`; the first is empty without a dot.
std::pair<std::string, std::string> split(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {"", std::string{name}};
  return {std::string{name.substr(0, dot)}, std::string{name.substr(dot + 1)}};
}

std::optional<Value> find_of_qp(const PeerQp& qp, std::string_view member) {
  if (member == "E") return Value::psn(qp.expected.value());
  if (member == "S") return Value::psn(qp.next.value());
  if (member == "M") return Value::psn(qp.msn.value());
  if (member == "qpn") return Value::number(qp.qpn.value());
  if (member == "peer") return Value::number(qp.setup.peer.value());
  if (member == "mtu") return Value::number(qp.setup.path_mtu);
  if (member == "q_key") return Value::number(qp.setup.q_key.value());
  return std::nullopt;
}

std::optional<Value> find_of_region(const Region& region, std::string_view member) {
  if (member == "va") return Value::number(region.address);
  if (member == "end") return Value::number(region.address + region.length);
  if (member == "length") return Value::number(region.length);
  if (member == "r_key") return Value::number(region.r_key);
  if (member == "l_key") return Value::number(region.l_key);
  return std::nullopt;
}

/// Checks that a UD QP has only attributes that mean something for it.
CaseResult<void> check_datagram_qp(const ObjectSpec& object) {
  constexpr std::array<std::string_view, 9> known{"type",        "version",  "state",          "q_key", "sq_psn",
                                                  "in_other_pd", "receives", "receive_length", "srq"};
  for (const Setting& setting : object.attributes) {
    if (std::ranges::find(known, setting.name) != known.end()) continue;
    return tl::unexpected(CaseError{setting.place, fmt::format("{}: a UD QP is not connected, and has only {}",
                                                               setting.name, fmt::join(known, ", "))});
  }
  return {};
}

std::optional<Value> find_of_device(const Target& target, std::string_view name) {
  const auto takes = [&](Operation operation) { return Value::number(target.carries_out(operation) ? 1 : 0); };
  if (name == "executable") {
    return Value::word(target.carries_out(Operation::write) ? "WRITE_ONLY" : "SEND_ONLY");
  }
  if (name == "speed") return Value::number(target.speed());
  if (name == "takes_sends") return takes(Operation::send);
  if (name == "takes_writes") return takes(Operation::write);
  if (name == "takes_reads") return takes(Operation::read_request);
  return std::nullopt;
}

/// Throws DeviceLacks for what a device without an agent may not be told.
void check_without_agent(const ObjectSpec& object) {
  const bool is_qp = object.kind == ObjectSpec::Kind::qp;
  if (!is_qp && object.kind != ObjectSpec::Kind::mr) throw DeviceLacks("an agent, which makes objects");
  // A server has posted hundreds of receives, which are as long as its messages.
  constexpr std::array<std::string_view, 5> of_qp{"type", "path_mtu", "receives", "receive_length", "version"};
  for (const Setting& setting : object.attributes) {
    if (is_qp ? std::ranges::find(of_qp, setting.name) != of_qp.end() : setting.name == "length") continue;
    throw DeviceLacks(fmt::format("an agent, which sets {} of a {}", setting.name, is_qp ? "QP" : "region"));
  }
}

}  // namespace

void PeerQp::learn(const Packet& packet) {
  const Bth bth = packet.bth();
  const OpcodeInfo& info = packet.info();
  // A CNP has a PSN of its own, which is always 0.
  if (info.service == Service::cnp) return;
  if (!info.is_response()) {
    std::uint32_t psns = 1;
    if (info.operation == Operation::read_request) {
      const std::uint32_t length = packet.get<Reth>().value_or(Reth{}).dma_length;
      psns = static_cast<std::uint32_t>(packets_for(length, setup.path_mtu));
    }
    // A request that is sent again does not move the next PSN.
    const Psn behind = bth.psn + psns;
    if (behind.newer_than(next)) next = behind;
    return;
  }
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  if (aeth) msn = aeth->msn;
  const bool is_nak = aeth && aeth->syndrome.kind() != AethKind::ack;
  const Psn behind = is_nak ? bth.psn : bth.psn + 1;
  if (behind.newer_than(expected)) expected = behind;
}

void TestBed::hear(const Packet& packet) {
  const CommId before = talk_.remote;
  talk_.learn(packet);
  // A message that comes again may be older than what the QP has received since.
  if (talk_.remote == before) return;
  const auto starts = [&](Qpn qpn, Psn psn) {
    for (auto& [name, qp] : qps_) {
      if (qp.qpn == qpn) qp.expected = psn;
    }
  };
  if (const auto req = packet.get<CmReq>()) {
    starts(req->local_qpn, req->starting_psn);
  } else if (const auto rep = packet.get<CmRep>()) {
    starts(rep->local_qpn, rep->starting_psn);
  }
}

TestBed::TestBed(Target& target, const Instance& instance, std::uint64_t seed)
    : target_(target), instance_(instance), random_(seed) {}

CaseResult<void> TestBed::set_up(const Scope& scope) {
  const Case& one = *instance_.of;
  const auto is_given = [&](std::string_view name) {
    return std::ranges::find(one.setup, name, &ObjectSpec::name) != one.setup.end();
  };
  std::vector<ObjectSpec> objects;
  if (!is_given("R"))
    objects.push_back({.place = one.place, .name = "R", .kind = ObjectSpec::Kind::mr, .attributes = {}});
  objects.push_back({.place = one.place,
                     .name = "probe",
                     .kind = ObjectSpec::Kind::mr,
                     .attributes = {{one.place, "length", Expression::literal("64")}}});
  if (!is_given(kDefaultQp)) {
    objects.push_back({.place = one.place, .name = kDefaultQp, .kind = ObjectSpec::Kind::qp, .attributes = {}});
  }
  objects.insert(objects.end(), one.setup.begin(), one.setup.end());
  if (std::ranges::find(one.needs, "cm") != one.needs.end()) {
    if (CaseResult<void> added = add_gsi(scope); !added) return added;
  }
  for (const ObjectSpec& object : objects) {
    if (CaseResult<void> added = add_object(object, scope); !added) return added;
  }
  shadow_.assign(target_.memory_size(), kUntouched);
  return {};
}

CaseResult<void> TestBed::make_again(const std::string& name, const Place& place, const Scope& scope) {
  const auto object = std::ranges::find(instance_.of->setup, name, &ObjectSpec::name);
  const bool is_known = object != instance_.of->setup.end() &&
                        (object->kind == ObjectSpec::Kind::qp || object->kind == ObjectSpec::Kind::mr);
  if (!is_known) return tl::unexpected(CaseError{place, fmt::format("setup has no QP and no region {}", name)});
  if (CaseResult<void> added = add_object(*object, scope); !added) return added;
  shadow_.resize(target_.memory_size(), kUntouched);
  return {};
}

CaseResult<void> TestBed::add_object(const ObjectSpec& object, const Scope& scope) {
  if (!target_.has("agent")) check_without_agent(object);
  switch (object.kind) {
    case ObjectSpec::Kind::qp:
      return add_qp(object, scope);
    case ObjectSpec::Kind::mr:
      return add_region(object, scope);
    case ObjectSpec::Kind::mw:
      return add_window(object, scope);
    case ObjectSpec::Kind::srq:
      return add_srq(object, scope);
    case ObjectSpec::Kind::listener:
      return add_listener(object, scope);
  }
  return {};
}

CaseResult<void> TestBed::add_gsi(const Scope& scope) {
  QpAttributesRead subject;
  const auto qp = std::ranges::find(instance_.of->setup, kDefaultQp, &ObjectSpec::name);
  if (qp != instance_.of->setup.end()) {
    if (CaseResult<void> read = read_attributes(subject, qp->attributes, scope); !read) return read;
  }
  const RoceVersion version =
      subject.setup.version == RoceVersion::none ? target_.port().version : subject.setup.version;
  cm_ = target_.cm(version);
  if (cm_ == nullptr) {
    throw DeviceLacks(
        fmt::format("a communication manager that the tester can ask, over packets of {}", to_string(version)));
  }
  PeerQp& gsi = qps_[kGsiQp];
  gsi.setup.type = transport::QpType::ud;
  gsi.setup.path_mtu = target_.port_mtu();
  gsi.setup.peer = kQp1;
  gsi.setup.q_key = kQp1QKey;
  gsi.port = *target_.port_of(version);
  gsi.qpn = kQp1;
  const std::uint64_t identity = target_.identity();
  talk_.local = CommId{static_cast<std::uint32_t>((random_() ^ identity) | 1U)};
  talk_.request_transaction = random_();
  // That of another node each time, since QPNs of the tester come again.
  talk_.ca_guid = (random_() ^ identity) | 1U;
  return {};
}

ServiceId TestBed::default_service(transport::QpType type) {
  constexpr std::uint16_t port = 7174;
  return {type == transport::QpType::ud ? PortSpace::udp : PortSpace::tcp, port};
}

CaseResult<void> TestBed::add_listener(const ObjectSpec& object, const Scope& scope) {
  const auto wrong = [&](std::string_view why) {
    return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, why)});
  };
  const CaseResult<ListenerRead> read = read_listener(object.attributes, scope);
  if (!read) return tl::unexpected(read.error());
  if (!qps_.contains(kGsiQp)) return wrong("a case with a listener needs cm");
  CmListener listener{.terms = read->terms, .ends = {}, .answers = read->answers};
  listener.ends.reserve(read->qps.size());
  for (const std::string& name : read->qps) {
    const PeerQp* qp = find_qp(name);
    if (qp == nullptr) return wrong(fmt::format("no QP {} is set up before it", name));
    listener.ends.push_back(cm_end(*qp));
  }
  if (listener.ends.empty()) return wrong("expected the names of QPs");
  if (listener.terms.service == ServiceId{}) listener.terms.service = default_service(listener.ends[0].setup.type);
  talk_.service = listener.terms.service;
  if (const TargetResult<void> done = cm_->listen(listener); !done) return wrong(done.error());
  return {};
}

CaseResult<void> TestBed::add_window(const ObjectSpec& object, const Scope& scope) {
  const CaseResult<WindowSetup> setup = read_window(object.attributes, scope);
  if (!setup) return tl::unexpected(setup.error());
  const TargetResult<WindowNumber> window = target_.create_window(*setup);
  if (!window) return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, window.error())});
  windows_.emplace(object.name, *window);
  return {};
}

CaseResult<void> TestBed::add_region(const ObjectSpec& object, const Scope& scope) {
  const CaseResult<RegionSetup> setup = read_region(object.attributes, scope);
  if (!setup) return tl::unexpected(setup.error());
  const TargetResult<Region> region = target_.create_region(*setup);
  if (!region) return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, region.error())});
  regions_.insert_or_assign(object.name, *region);
  return {};
}

CaseResult<void> TestBed::add_qp(const ObjectSpec& object, const Scope& scope) {
  QpAttributesRead attributes;
  attributes.setup.access = all_rights();
  attributes.setup.rq_psn = draw_psn(random_());
  attributes.setup.sq_psn = draw_psn(random_());
  // One that is made again has the peer that it had.
  const PeerQp* const before = find_qp(object.name);
  attributes.setup.peer = before != nullptr
                              ? before->setup.peer
                              : Qpn{target_.first_peer().value() + static_cast<std::uint32_t>(qps_.size())};
  if (auto read = read_attributes(attributes, object.attributes, scope); !read) return read;
  if (!attributes.srq.empty()) {
    attributes.setup.srq = find_srq(attributes.srq);
    attributes.receives.count = 0;
    if (!attributes.setup.srq) {
      return tl::unexpected(
          CaseError{object.place, fmt::format("{}: no SRQ {} is set up before it", object.name, attributes.srq)});
    }
  }
  if (attributes.setup.type == transport::QpType::ud) {
    if (auto right = check_datagram_qp(object); !right) return right;
    // A datagram may be as long as the port allows.
    attributes.setup.path_mtu = target_.port_mtu();
  }
  if (attributes.setup.version == RoceVersion::none) attributes.setup.version = target_.port().version;
  const Port* port = target_.port_of(attributes.setup.version);
  if (port == nullptr) {
    throw DeviceLacks(
        fmt::format("an address for {}, its own or one of the tester", to_string(attributes.setup.version)));
  }
  const TargetResult<QpNumber> number = target_.create_qp(attributes.setup);
  if (!number) return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, number.error())});
  const QpSetup made = target_.made(*number, attributes.setup);
  PeerQp qp{.number = *number,
            .setup = made,
            .port = *port,
            .qpn = target_.qpn(*number),
            .expected = made.rq_psn,
            .next = made.sq_psn};
  if (attributes.setup.state == transport::QpState::reset) attributes.receives.count = 0;
  const auto post = [&](std::uint64_t wr_id, const transport::Sge& buffer) {
    return target_.post_receive(qp.number, wr_id, std::span{&buffer, 1});
  };
  if (auto posted = add_receives(object, attributes.receives, post); !posted) return posted;
  qps_.insert_or_assign(object.name, std::move(qp));
  return {};
}

CaseResult<void> TestBed::add_srq(const ObjectSpec& object, const Scope& scope) {
  const CaseResult<SrqAttributesRead> attributes = read_srq(object.attributes, scope);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto refused = [&](const std::string& why) {
    return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, why)});
  };
  const TargetResult<SrqNumber> srq = target_.create_srq();
  if (!srq) return refused(srq.error());
  const auto post = [&](std::uint64_t wr_id, const transport::Sge& buffer) {
    return target_.post_srq_receive(*srq, wr_id, buffer);
  };
  if (auto posted = add_receives(object, attributes->receives, post); !posted) return posted;
  if (attributes->limit != 0) {
    if (const TargetResult<void> armed = target_.arm_srq(*srq, attributes->limit); !armed)
      return refused(armed.error());
  }
  srqs_.emplace(object.name, *srq);
  return {};
}

CaseResult<void> TestBed::add_receives(
    const ObjectSpec& object, const ReceivesRead& receives,
    const std::function<TargetResult<void>(std::uint64_t wr_id, const transport::Sge& buffer)>& post) {
  const std::string prefix = object.name == kDefaultQp ? "" : object.name + ".";
  const auto length = static_cast<std::uint32_t>(receives.length);
  for (std::uint64_t i = 0; i < receives.count; ++i) {
    const TargetResult<Region> region =
        target_.create_region({.length = length, .access = transport::Access::local_write});
    const TargetResult<void> posted =
        region ? post(i, {region->address, length, LKey{region->l_key}}) : tl::unexpected(region.error());
    if (!posted) return tl::unexpected(CaseError{object.place, fmt::format("{}: {}", object.name, posted.error())});
    regions_.insert_or_assign(fmt::format("{}rx{}", prefix, i), *region);
  }
  return {};
}

std::optional<SrqNumber> TestBed::find_srq(const std::string& name) const {
  const auto found = srqs_.find(name);
  if (found == srqs_.end()) return std::nullopt;
  return found->second;
}

PeerQp* TestBed::find_qp(const std::string& name) {
  const auto found = qps_.find(name);
  return found == qps_.end() ? nullptr : &found->second;
}

const PeerQp* TestBed::find_qp(const std::string& name) const {
  const auto found = qps_.find(name);
  return found == qps_.end() ? nullptr : &found->second;
}

PeerQp* TestBed::find_peer(Qpn peer) {
  for (auto& [name, qp] : qps_) {
    if (qp.setup.peer == peer) return &qp;
  }
  return nullptr;
}

const Region* TestBed::find_region(const std::string& name) const {
  const auto found = regions_.find(name);
  return found == regions_.end() ? nullptr : &found->second;
}

std::optional<WindowNumber> TestBed::find_window(const std::string& name) const {
  const auto found = windows_.find(name);
  if (found == windows_.end()) return std::nullopt;
  return found->second;
}

FrameDefaults TestBed::defaults_for(const PeerQp& qp) const {
  FrameDefaults defaults{.type = qp.setup.type,
                         .dest_qp = qp.qpn,
                         .psn = qp.expected,
                         .source_qp = qp.setup.peer,
                         .q_key = qp.setup.q_key,
                         .path_mtu = qp.setup.path_mtu,
                         .region = *find_region("R")};
  if (&qp == find_qp(kGsiQp)) {
    const PeerQp& subject = *find_qp(kDefaultQp);
    CmTalk talk = talk_;
    talk.type = subject.setup.type;
    talk.local_qpn = subject.setup.peer;
    talk.remote_qpn = subject.qpn;
    talk.starting_psn = subject.setup.sq_psn;
    talk.path_mtu = subject.setup.path_mtu;
    if (talk.service == ServiceId{}) talk.service = default_service(talk.type);
    defaults.cm = talk;
  }
  return defaults;
}

SendOrder TestBed::order_for(const PeerQp& qp) const {
  const Region& region = *find_region("R");
  SendOrder order{.data = {.address = region.address, .length = 0, .l_key = LKey{region.l_key}}};
  order.request.remote = {.address = region.address, .r_key = RKey{region.r_key}};
  order.request.datagram = {.qpn = qp.setup.peer, .q_key = qp.setup.q_key};
  return order;
}

std::optional<Value> TestBed::find(std::string_view name) const {
  if (std::optional<Value> value = find_of_device(target_, name)) return value;
  const auto [object, member] = split(name);
  const std::size_t last_dot = name.rfind('.');
  if (last_dot != std::string_view::npos) {
    if (const Region* region = find_region(std::string{name.substr(0, last_dot)})) {
      return find_of_region(*region, name.substr(last_dot + 1));
    }
  }
  if (const auto window = find_window(object); window && member == "r_key") {
    return Value::number(target_.window_key(*window));
  }
  if (object == "cm") {
    const PeerQp* const gsi = find_qp(kGsiQp);
    return talk_.find(member, gsi != nullptr ? gsi->port : target_.port());
  }
  const PeerQp* qp = find_qp(object.empty() ? kDefaultQp : object);
  return qp != nullptr ? find_of_qp(*qp, member) : std::nullopt;
}

bool TestBed::is_as_before(std::uint64_t address) const {
  const std::uint64_t offset = address - target_.memory_address();
  return offset < shadow_.size() && target_.read_memory(offset, 1).front() == shadow_[offset];
}

std::optional<std::vector<std::byte>> TestBed::accept_memory(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t offset = address - target_.memory_address();
  if (offset > shadow_.size() || length > shadow_.size() - offset) return std::nullopt;
  std::vector<std::byte> bytes = target_.read_memory(offset, length);
  std::ranges::copy(bytes, shadow_.begin() + static_cast<std::ptrdiff_t>(offset));
  return bytes;
}

std::optional<std::string> TestBed::find_change() const {
  const std::optional<std::size_t> offset = target_.find_difference(shadow_);
  if (!offset) return std::nullopt;
  const std::uint64_t address = target_.memory_address() + *offset;
  std::string place = "outside of all regions";
  for (const auto& [name, region] : regions_) {
    if (address - region.address < region.length) place = fmt::format("${}.va + {}", name, address - region.address);
  }
  return fmt::format("memory changed at {:#x} ({}): {:#04x} was {:#04x}", address, place,
                     std::to_integer<unsigned>(target_.read_memory(*offset, 1).front()),
                     std::to_integer<unsigned>(shadow_.at(*offset)));
}

}  // namespace roce::conform
