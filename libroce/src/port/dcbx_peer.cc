// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/dcbx_peer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "roce/wire/ethernet.h"
#include "roce/wire/fields.h"
#include "roce/wire/frame_builder.h"

namespace roce::port {

namespace {

/// The TLVs with which each LLDPDU begins, once each, in this order (IEEE 802.1AB, 8.2).
constexpr std::array kMandatory{LldpType::chassis_id, LldpType::port_id, LldpType::time_to_live};
constexpr std::size_t kMaxId = 256;  ///< bytes of a chassis ID or port ID with its subtype
constexpr std::size_t kMaxPortName = 64;
constexpr std::size_t kLargestFrame = 1514;
constexpr std::uint8_t kChassisIsMac = 4;  // subtypes of IEEE 802.1AB, tables 8-2 and 8-3
constexpr std::uint8_t kPortIsInterface = 5;

/// Adds an organisation-specific TLV of IEEE 802.1 with one header in it, and room for `more` bytes behind it.
template <typename Header>
void add_tlv(FrameBuilder& frame, const Header& header, std::size_t more = 0) {
  const std::size_t length = kSize<LldpOrg> + kSize<Header> + more;
  frame.add(LldpTlv{LldpType::organization, static_cast<std::uint16_t>(length)})
      .add(dcbx_org(kHeader<Header>.id))
      .add(header);
}

/// Adds a TLV whose value is one byte and `rest`.
void add_tlv(FrameBuilder& frame, LldpType type, std::uint8_t subtype, Bytes rest) {
  const std::byte first{subtype};
  frame.add(LldpTlv{type, static_cast<std::uint16_t>(1 + rest.size())}).payload({&first, 1}).payload(rest);
}

/// Returns a recommendation as a configuration: their tables, behind the first byte, are alike.
[[nodiscard]] DcbxEts ets_of(const DcbxEtsRecommendation& advice, const DcbxEts& own) {
  std::array<std::byte, kSize<DcbxEts>> bytes{};
  write(advice, bytes.data());
  auto ets = roce::read<DcbxEts>(bytes.data());
  ets.willing = own.willing;
  ets.cbs = own.cbs;
  ets.reserved = 0;
  ets.max_tcs = own.max_tcs;
  return ets;
}

[[nodiscard]] std::string_view name_of(const LldpOrg& org) {
  const HeaderId id = dcbx_header_id(org);
  return id == HeaderId::none ? "of another organization" : header_info(id).title;
}

/// Returns what the other end enables, with this end's own properties.
[[nodiscard]] DcbxPfc with_priorities_of(const DcbxPfc& peer, const DcbxPfc& own) {
  DcbxPfc result = peer;
  result.willing = own.willing;
  result.mbc = own.mbc;
  result.reserved = 0;
  result.capability = own.capability;
  return result;
}

}  // namespace

transport::VerbResult<transport::TrafficClasses> traffic_classes_of(const DcbxEts& ets) {
  transport::TrafficClasses classes;
  for (unsigned i = 0; i < 8; ++i) {
    classes.class_of[i] = ets.traffic_class(i);
    if (ets.tsa(i) == DcbxTsa::ets) {
      classes.selection[i] = transport::TransmissionSelection::ets;
      classes.percent[i] = ets.bandwidth(i);
    } else if (ets.tsa(i) != DcbxTsa::strict_priority) {
      return tl::unexpected(transport::VerbError{.subject = "tsa",
                                                 .needs = "strict priority (0) or ETS (2)",
                                                 .found = static_cast<std::uint64_t>(ets.tsa(i))});
    }
  }
  if (const transport::VerbResult<void> checked = transport::check(classes); !checked) {
    return tl::unexpected(checked.error());
  }
  return classes;
}

DcbxEtsRecommendation recommendation_of(const DcbxEts& ets) {
  std::array<std::byte, kSize<DcbxEts>> bytes{};
  write(ets, bytes.data());
  auto advice = roce::read<DcbxEtsRecommendation>(bytes.data());
  advice.reserved = 0;
  return advice;
}

DcbxPeer::DcbxPeer(DcbxConfig config, const MacAddress& mac, std::string port_name)
    : config_(std::move(config)), mac_(mac), port_name_(std::move(port_name)), frame_(kLargestFrame) {
  port_name_.resize(std::min(port_name_.size(), kMaxPortName));
  config_.applications.resize(std::min(config_.applications.size(), kMaxApplications));
  operational_ = {.ets = config_.ets, .pfc = config_.pfc};
}

bool DcbxPeer::receive(Bytes frame, Time now) {
  if (frame.size() < kSize<Ethernet>) return false;
  const auto ethernet = roce::read<Ethernet>(frame.data());
  if (ethernet.ether_type != EtherType::lldp || ethernet.destination != kNearestBridge) return false;
  if (ethernet.source == mac_) return true;
  std::optional<Neighbour> neighbour = read(frame.subspan(kSize<Ethernet>), ethernet.source, now);
  if (!neighbour) return true;
  forget_silent(now);
  take(std::move(*neighbour), now);
  forget_silent(now);
  decide(now);
  return true;
}

void DcbxPeer::take(Neighbour neighbour, Time now) {
  const auto known = std::ranges::find(neighbours_, neighbour.id, &Neighbour::id);
  // Neighbours that speak LLDP without DCBX take no place from those that speak it.
  if (!neighbour.speaks_dcbx() && !neighbour.speaks_cee) {
    if (known != neighbours_.end()) neighbours_.erase(known);
    return;
  }
  if (known != neighbours_.end()) {
    // An end that has started again may have lost what it knew of this one.
    if (known->said != neighbour.said) send_soon(now, 1);
    *known = std::move(neighbour);
    return;
  }
  // A full table loses the one that would be forgotten first.
  if (neighbours_.size() == kMaxNeighbours) {
    neighbours_.erase(std::ranges::min_element(neighbours_, {}, &Neighbour::until));
  }
  neighbours_.push_back(std::move(neighbour));
  send_soon(now, kFastFrames);
}

std::optional<DcbxPeer::Neighbour> DcbxPeer::read(Bytes pdu, const MacAddress& from, Time now) {
  Neighbour neighbour;
  neighbour.mac = from;
  neighbour.said.assign(pdu.begin(), pdu.end());
  LldpWalker walker{pdu};
  LldpItem item;
  std::size_t count = 0;
  for (; walker.next(item) && item.header.type != LldpType::end; ++count) {
    if (!read_tlv(pdu, item, count, now, neighbour)) return std::nullopt;
  }
  // The End TLV may be missing (IEEE 802.1AB-2016, 8.2), but no TLV may be cut.
  const bool is_whole = walker.problem().reason == ParseReason::none || walker.offset() == pdu.size();
  if (count < kMandatory.size() || !is_whole) return std::nullopt;
  drop_doubles(neighbour);
  return neighbour;
}

bool DcbxPeer::read_tlv(Bytes pdu, const LldpItem& item, std::size_t count, Time now, Neighbour& neighbour) {
  const LldpType type = item.header.type;
  if (count >= kMandatory.size()) {
    if (type == LldpType::organization) read_organization(item.value, neighbour);
    return std::ranges::find(kMandatory, type) == kMandatory.end();
  }
  if (type != kMandatory[count]) return false;
  if (type == LldpType::time_to_live) {
    if (item.value.size() < 2) return false;
    neighbour.until = now + std::chrono::seconds{load_big_endian<2>(item.value.data())};
    return true;
  }
  if (item.value.size() < 2 || item.value.size() > kMaxId) return false;
  neighbour.id.insert(neighbour.id.end(), pdu.data() + item.offset, item.value.data() + item.value.size());
  return true;
}

void DcbxPeer::read_organization(Bytes value, Neighbour& neighbour) {
  const Result<LldpOrg> org = parse<LldpOrg>(value);
  if (!org) return;
  if (org->oui == kOuiCee) neighbour.speaks_cee = true;
  const Result<HeaderId> id = dcbx_header_id(value);
  if (!id) {
    neighbour.problem =
        "the other end sends a TLV (" + std::string{name_of(*org)} + ") of the wrong length, which does not hold";
    return;
  }
  const std::byte* const header = value.data() + kSize<LldpOrg>;
  switch (*id) {
    case HeaderId::dcbx_ets:
      ++neighbour.ets_tlvs;
      return;
    case HeaderId::dcbx_ets_recommendation:
      ++neighbour.recommendation_tlvs;
      neighbour.recommendation = roce::read<DcbxEtsRecommendation>(header);
      return;
    case HeaderId::dcbx_pfc:
      ++neighbour.pfc_tlvs;
      neighbour.pfc = roce::read<DcbxPfc>(header);
      return;
    case HeaderId::dcbx_app: {
      ++neighbour.application_tlvs;
      const Bytes entries = dcbx_app_entries(value);
      for (std::size_t at = 0; at < entries.size(); at += kSize<DcbxAppEntry>) {
        neighbour.applications.push_back(roce::read<DcbxAppEntry>(entries.data() + at));
      }
      return;
    }
    default:
      return;
  }
}

void DcbxPeer::drop_doubles(Neighbour& neighbour) {
  const auto are_several = [&neighbour](unsigned count, std::string_view name) {
    if (count < 2) return false;
    if (!neighbour.problem.empty()) neighbour.problem += "; ";
    neighbour.problem += "the other end sends " + std::to_string(count) + " " + std::string{name} +
                         " TLVs in one frame, so that none holds";
    return true;
  };
  if (are_several(neighbour.recommendation_tlvs, "ETS recommendation")) neighbour.recommendation.reset();
  if (are_several(neighbour.pfc_tlvs, "PFC")) neighbour.pfc.reset();
  if (are_several(neighbour.application_tlvs, "application priority")) neighbour.applications.clear();
}

const DcbxPeer::Neighbour* DcbxPeer::speaking_peer() const {
  const Neighbour* found = nullptr;
  for (const Neighbour& neighbour : neighbours_) {
    if (!neighbour.speaks_dcbx()) continue;
    if (found != nullptr) return nullptr;
    found = &neighbour;
  }
  return found;
}

void DcbxPeer::forget_silent(Time now) {
  std::erase_if(neighbours_, [now](const Neighbour& neighbour) { return neighbour.until <= now; });
}

void DcbxPeer::decide(Time now) {
  const std::string problem_before = std::exchange(problem_, {});
  DcbxOperational result{.ets = config_.ets, .pfc = config_.pfc};
  if (const Neighbour* const peer = speaking_peer()) {
    problem_ = peer->problem;
    decide_ets(*peer, result);
    decide_pfc(*peer, result);
    result.peer_applications = peer->applications;
  } else if (const auto count = std::ranges::count_if(neighbours_, &Neighbour::speaks_dcbx); count > 1) {
    // CC-13 (DCBX is for two ends of one wire)
    problem_ = std::to_string(count) + " others speak DCBX on this wire, so that none of them is heard; let only one";
  } else if (std::ranges::any_of(neighbours_, &Neighbour::speaks_cee)) {
    problem_ =
        "the other end speaks DCBX as it was before IEEE (CEE, OUI 00-1B-21), which this end does not; set it to IEEE";
  }
  const bool had_peer = std::exchange(had_peer_, has_peer());
  if (result != operational_ || had_peer_ != had_peer || problem_ != problem_before) ++changes_;
  if (result == operational_) return;
  operational_ = std::move(result);
  send_soon(now, 1);
}

// CC-11 (ETS is asymmetric: who is willing takes the other end's recommendation)
void DcbxPeer::decide_ets(const Neighbour& peer, DcbxOperational& result) {
  if (!config_.ets.willing || !peer.recommendation) return;
  const DcbxEts ets = ets_of(*peer.recommendation, config_.ets);
  if (const auto classes = traffic_classes_of(ets); !classes) {
    return add_problem("the other end recommends shares that this one cannot keep (" + expectation(classes.error()) +
                       "), so that it keeps its own");
  }
  result.ets = ets;
  result.ets_is_recommended = true;
}

// CC-12 (PFC is symmetric: who is willing takes what the other end is set to; if both are, the lower address yields)
void DcbxPeer::decide_pfc(const Neighbour& peer, DcbxOperational& result) {
  if (!peer.pfc) return;
  const bool yields = config_.pfc.willing && (!peer.pfc->willing || mac_ <= peer.mac);
  if (!yields) {
    if (config_.pfc.priorities() != peer.pfc->priorities() && !peer.pfc->willing) {
      add_problem(
          "the ends pause different priorities, and neither is willing to take the other's; set them alike, or one "
          "willing");
    }
    return;
  }
  const int count = std::popcount(peer.pfc->priorities());
  if (config_.pfc.capability != 0 && count > config_.pfc.capability) {
    add_problem("the other end pauses " + std::to_string(count) + " priorities, and this one can only " +
                std::to_string(config_.pfc.capability) + ", so that it keeps its own");
    return;
  }
  result.pfc = with_priorities_of(*peer.pfc, config_.pfc);
  result.pfc_is_of_peer = true;
}

void DcbxPeer::add_problem(std::string_view problem) {
  if (!problem_.empty()) problem_ += "; ";
  problem_ += problem;
}

void DcbxPeer::send_soon(Time now, std::uint32_t fast_frames) {
  fast_left_ = std::max(fast_left_, fast_frames);
  due_ = std::min(due_, now);
}

bool DcbxPeer::update(Time now) {
  const std::size_t known = neighbours_.size();
  forget_silent(now);
  if (neighbours_.size() != known) decide(now);
  while (credit_at_ <= now && credit_ < kMostAtOnce) {
    ++credit_;
    credit_at_ = credit_ < kMostAtOnce ? credit_at_ + kFastInterval : kNever;
  }
  if (due_ > now || credit_ == 0) return false;
  if (credit_ == kMostAtOnce) credit_at_ = now + kFastInterval;
  --credit_;
  if (fast_left_ > 0) --fast_left_;
  due_ = now + (fast_left_ > 0 ? kFastInterval : kInterval);
  write_frame(kTimeToLive, true);
  return true;
}

Time DcbxPeer::next_timeout() const {
  Time next = credit_ != 0 ? due_ : std::max(due_, credit_at_);
  for (const Neighbour& neighbour : neighbours_) next = std::min(next, neighbour.until);
  return next;
}

Bytes DcbxPeer::goodbye() {
  write_frame(std::chrono::seconds{0}, false);
  return frame();
}

void DcbxPeer::set_config(DcbxConfig config, Time now) {
  config_ = std::move(config);
  config_.applications.resize(std::min(config_.applications.size(), kMaxApplications));
  decide(now);
  send_soon(now, 1);
}

void DcbxPeer::write_frame(std::chrono::seconds time_to_live, bool with_dcbx) {
  const std::array<std::byte, 2> seconds{static_cast<std::byte>(time_to_live.count() >> 8U),
                                         static_cast<std::byte>(time_to_live.count())};
  constexpr std::size_t shortest = 60;
  std::ranges::fill(frame_, std::byte{0});
  FrameBuilder frame{frame_};
  frame.add(Ethernet{kNearestBridge, mac_, EtherType::lldp});
  add_tlv(frame, LldpType::chassis_id, kChassisIsMac, std::as_bytes(std::span{mac_.octets}));
  add_tlv(frame, LldpType::port_id, kPortIsInterface, std::as_bytes(std::span{port_name_}));
  frame.add(LldpTlv{LldpType::time_to_live, seconds.size()}).payload(seconds);
  if (with_dcbx) {
    add_tlv(frame, operational_.ets);
    if (config_.recommendation) add_tlv(frame, *config_.recommendation);
    add_tlv(frame, operational_.pfc);
    if (!config_.applications.empty()) {
      add_tlv(frame, DcbxApp{}, config_.applications.size() * kSize<DcbxAppEntry>);
      for (const DcbxAppEntry& entry : config_.applications) frame.add(entry);
    }
  }
  frame.add(LldpTlv{LldpType::end, 0});
  // Behind the End TLV everything is padding.
  frame_size_ = std::max(frame.finish().value_or(0), shortest);
}

}  // namespace roce::port
