// SPDX-License-Identifier: BSD-2-Clause
#include "port/group_membership.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "roce/transport/address.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/mld.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kRobustness = 2;
constexpr Duration kUnsolicitedInterval = 1s;
// Robustness times the default query interval of routers, plus the time of one answer.
constexpr Duration kOlderVersionPresent = 260s;
constexpr std::size_t kIgmpV3Query = 12;  // bytes, at least
constexpr std::size_t kMldV2Query = 28;
constexpr std::size_t kRecordsInReport = 60;   // fits any MTU
constexpr std::uint8_t kInternetControl = 48;  // DSCP CS6

constexpr Ipv4Address kAllHosts{{224, 0, 0, 1}};
constexpr Ipv4Address kAllRouters{{224, 0, 0, 2}};
constexpr Ipv4Address kAllIgmpV3Routers{{224, 0, 0, 22}};
constexpr Gid kAllNodes{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr Gid kAllMldRouters{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
constexpr Gid kAllMldV2Routers{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};

constexpr transport::GidPrefix kLinkLocal{{{0xFE, 0x80}}, 10};

/// True for a group that every host is in, or that never leaves the host: it is not reported.
bool is_never_reported(const Gid& group) {
  if (group.is_ipv4_mapped()) return group.ipv4() == kAllHosts;
  constexpr std::uint8_t kInterfaceLocal = 1;
  return group == kAllNodes || (group.octets[1] & 0xF) <= kInterfaceLocal;
}

/// Decodes a time of a newer query: from `limit` on mantissa and exponent (RFC 3376, 4.1.1; RFC 3810, 5.1.3).
std::uint64_t decoded_time(std::uint32_t code, unsigned mantissa_bits) {
  const std::uint32_t limit = 1U << (mantissa_bits + 3);
  if (code < limit) return code;
  const std::uint32_t mantissa = code & ((1U << mantissa_bits) - 1);
  const std::uint32_t exponent = code >> mantissa_bits & 7;
  return std::uint64_t{mantissa | 1U << mantissa_bits} << (exponent + 3);
}

/// A query of either protocol.
struct Query {
  Gid group{};  ///< zeros: all groups
  Duration max_response{};
  bool is_old = false;
};

std::optional<Query> read_igmp_query(const ReceivedMessage& received) {
  const auto igmp = parse<Igmp>(received.message);
  if (!igmp || igmp->type != IgmpType::query) return std::nullopt;
  const bool is_old = received.message.size() < kIgmpV3Query;
  // An IGMPv1 query does not have a time; it means 10 seconds.
  const std::uint64_t tenths = igmp->max_response == 0 ? 100
                               : is_old                ? igmp->max_response
                                                       : decoded_time(igmp->max_response, 4);
  const Gid group = igmp->group == Ipv4Address{} ? Gid{} : Gid::from_ipv4(igmp->group);
  return Query{group, tenths * 100ms, is_old};
}

std::optional<Query> read_mld_query(const ReceivedMessage& received) {
  const auto icmp = parse<Icmpv6>(received.message);
  if (!icmp || icmp->type != Icmpv6Type::listener_query) return std::nullopt;
  const auto mld = parse<Mld>(received.message.subspan(kSize<Icmpv6>));
  if (!mld || received.hop_limit != 1 || !kLinkLocal.contains(received.source)) return std::nullopt;
  const bool is_old = received.message.size() < kMldV2Query;
  return Query{mld->group, (is_old ? mld->max_response : decoded_time(mld->max_response, 12)) * 1ms, is_old};
}

std::uint32_t seed_of(const MacAddress& mac) {
  std::uint32_t seed = 1;
  for (const std::uint8_t octet : mac.octets) seed = seed * 31 + octet;
  return seed;
}

}  // namespace

GroupMembership::GroupMembership(const Sender& sender, const Gid& ip)
    : sender_(sender), ip_(ip), random_(seed_of(sender.mac)) {}

void GroupMembership::change(const Gid& group, bool is_leaving, Time now) {
  if (is_never_reported(group)) return;
  Member& member = members_[group];
  member = {.is_leaving = is_leaving, .changes_left = kRobustness, .change_at = now};
}

void GroupMembership::join(const Gid& group, Time now) {
  const auto known = members_.find(group);
  if (known == members_.end() || known->second.is_leaving) change(group, false, now);
}

void GroupMembership::leave(const Gid& group, Time now) {
  const auto known = members_.find(group);
  if (known != members_.end() && !known->second.is_leaving) change(group, true, now);
}

bool GroupMembership::receive(const ReceivedMessage& message, Time now) {
  const std::optional<Query> query =
      message.protocol == IpProtocol::igmp ? read_igmp_query(message) : read_mld_query(message);
  if (!query) return false;
  if (query->is_old) old_until_ = now + kOlderVersionPresent;
  std::uniform_int_distribution<Duration::rep> part(0, query->max_response.count());
  const Time answer_at = now + Duration{part(random_)};
  if (query->group == Gid{}) {
    general_answer_at_ = std::min(general_answer_at_, answer_at);
  } else if (const auto member = members_.find(query->group); member != members_.end()) {
    member->second.answer_at = std::min(member->second.answer_at, answer_at);
  }
  return true;
}

// NET-21 (groups are reported twice when they change, and when a router asks)
std::optional<GroupMembership::Record> GroupMembership::due_of(const Gid& group, Member& member, bool is_general,
                                                               Time now) const {
  if (member.change_at <= now) {
    --member.changes_left;
    member.change_at = member.changes_left != 0 ? now + kUnsolicitedInterval : kNever;
    return Record{group, member.is_leaving ? GroupRecordType::to_include : GroupRecordType::to_exclude};
  }
  if (member.is_leaving || (!is_general && member.answer_at > now)) return std::nullopt;
  member.answer_at = kNever;
  return Record{group, GroupRecordType::is_exclude};
}

std::vector<Frame> GroupMembership::due(Time now, bool may_use_link_local) {
  std::vector<Frame> frames;
  if (next_timeout() > now) return frames;
  const bool is_general = general_answer_at_ <= now;
  if (is_general) general_answer_at_ = kNever;
  std::vector<Record> records;
  for (auto& [group, member] : members_) {
    if (const std::optional<Record> record = due_of(group, member, is_general, now)) records.push_back(*record);
  }
  std::erase_if(members_, [](const auto& entry) { return entry.second.is_leaving && entry.second.changes_left == 0; });
  add_reports(records, now, may_use_link_local, frames);
  return frames;
}

Time GroupMembership::next_timeout() const {
  Time next = general_answer_at_;
  for (const auto& [group, member] : members_) next = std::min({next, member.change_at, member.answer_at});
  return next;
}

void GroupMembership::add_reports(const std::vector<Record>& records, Time now, bool may_use_link_local,
                                  std::vector<Frame>& frames) {
  const bool is_ipv4 = ip_.is_ipv4_mapped();
  if (now < old_until_) {
    for (const Record& record : records) {
      const bool leaves = record.type == GroupRecordType::to_include;
      if (is_ipv4) {
        const Igmp igmp{.type = leaves ? IgmpType::leave : IgmpType::report_v2, .group = record.group.ipv4()};
        frames.push_back(igmp_frame(leaves ? Gid::from_ipv4(kAllRouters) : record.group, joined(igmp)));
      } else {
        const Icmpv6 icmp{.type = leaves ? Icmpv6Type::listener_done : Icmpv6Type::listener_report};
        frames.push_back(mld_frame(leaves ? kAllMldRouters : record.group, joined(icmp, Mld{.group = record.group}),
                                   may_use_link_local));
      }
    }
    return;
  }
  for (std::size_t first = 0; first < records.size(); first += kRecordsInReport) {
    const std::size_t count = std::min(records.size() - first, kRecordsInReport);
    const auto record_count = static_cast<std::uint16_t>(count);
    std::vector<std::byte> message =
        is_ipv4 ? joined(IgmpReport{.record_count = record_count})
                : joined(Icmpv6{.type = Icmpv6Type::listener_report_v2}, MldReport{.record_count = record_count});
    for (const Record& record : std::span{records}.subspan(first, count)) {
      const std::vector<std::byte> bytes = is_ipv4
                                               ? joined(IgmpRecord{.type = record.type, .group = record.group.ipv4()})
                                               : joined(MldRecord{.type = record.type, .group = record.group});
      message.insert(message.end(), bytes.begin(), bytes.end());
    }
    frames.push_back(is_ipv4 ? igmp_frame(Gid::from_ipv4(kAllIgmpV3Routers), message)
                             : mld_frame(kAllMldV2Routers, message, may_use_link_local));
  }
}

Frame GroupMembership::igmp_frame(const Gid& to, std::vector<std::byte> message) const {
  return ipv4_frame(sender_, transport::multicast_mac(to),
                    {.dscp = kInternetControl,
                     .ttl = 1,
                     .protocol = IpProtocol::igmp,
                     .source = ip_.ipv4(),
                     .destination = to.ipv4()},
                    std::move(message), true);
}

Frame GroupMembership::mld_frame(const Gid& to, std::vector<std::byte> message, bool may_use_link_local) const {
  const Gid link_local = kLinkLocal.contains(ip_) ? ip_ : transport::link_local_gid(sender_.mac);
  const Gid source = may_use_link_local ? link_local : Gid{};
  return ipv6_frame(sender_, transport::multicast_mac(to), {.hop_limit = 1, .source = source, .destination = to},
                    std::move(message), true);
}

}  // namespace roce::port
