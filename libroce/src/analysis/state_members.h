// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analysis/aggregate_members.h"
#include "analysis/state_archive.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

/// Version of the types below. It is raised by any change of one of them, or of the meaning of a member.
inline constexpr std::uint32_t kStateVersion = 18;

template <>
inline constexpr std::size_t kMemberCount<Gid> = 1;
template <>
inline constexpr std::size_t kMemberCount<MacAddress> = 1;
template <>
inline constexpr std::size_t kMemberCount<PacketId> = 2;
template <>
inline constexpr std::size_t kMemberCount<CmRequest> = 7;
template <>
inline constexpr std::size_t kMemberCount<CmMessage> = 12;
template <>
inline constexpr std::size_t kMemberCount<FlowKey> = 5;
template <>
inline constexpr std::size_t kMemberCount<Flow> = 13;
template <>
inline constexpr std::size_t kMemberCount<LatestCnp> = 4;
template <>
inline constexpr std::size_t kMemberCount<Stream> = 12;
template <>
inline constexpr std::size_t kMemberCount<Channel> = 41;
template <>
inline constexpr std::size_t kMemberCount<Request> = 23;
template <>
inline constexpr std::size_t kMemberCount<Gap> = 9;
template <>
inline constexpr std::size_t kMemberCount<Response> = 8;
template <>
inline constexpr std::size_t kMemberCount<Read> = 12;
template <>
inline constexpr std::size_t kMemberCount<AnswerFollower> = 11;
template <>
inline constexpr std::size_t kMemberCount<Restart> = 20;
template <>
inline constexpr std::size_t kMemberCount<RequestOrder> = 7;
template <>
inline constexpr std::size_t kMemberCount<LatestAeth> = 7;
template <>
inline constexpr std::size_t kMemberCount<Credits> = 10;
template <>
inline constexpr std::size_t kMemberCount<PendingNak> = 10;
template <>
inline constexpr std::size_t kMemberCount<Corrupted> = 2;
template <>
inline constexpr std::size_t kMemberCount<Filled> = 5;
template <>
inline constexpr std::size_t kMemberCount<OpenMessage> = 6;
template <>
inline constexpr std::size_t kMemberCount<EndedMessage> = 2;
template <>
inline constexpr std::size_t kMemberCount<MessageEnds> = 5;
template <>
inline constexpr std::size_t kMemberCount<Attempts> = 9;
template <>
inline constexpr std::size_t kMemberCount<Doubt> = 13;
template <>
inline constexpr std::size_t kMemberCount<HeldLoss> = 10;
template <>
inline constexpr std::size_t kMemberCount<Message> = 17;
template <>
inline constexpr std::size_t kMemberCount<Reaction> = 3;
template <>
inline constexpr std::size_t kMemberCount<CongestionState> = 5;
template <>
inline constexpr std::size_t kMemberCount<RecentBytes::Window> = 2;
template <>
inline constexpr std::size_t kMemberCount<CongestionSummary> = 8;
template <>
inline constexpr std::size_t kMemberCount<CnpReaction> = 6;
template <>
inline constexpr std::size_t kMemberCount<StreamSummary> = 26;
template <>
inline constexpr std::size_t kMemberCount<UnansweredRequest> = 13;
template <>
inline constexpr std::size_t kMemberCount<DirectionSummary> = 22;
template <>
inline constexpr std::size_t kMemberCount<Quiet> = 3;
template <>
inline constexpr std::size_t kMemberCount<Stalls> = 2;
template <>
inline constexpr std::size_t kMemberCount<LargerRequests> = 5;
template <>
inline constexpr std::size_t kMemberCount<Evictions> = 2;

template <>
inline constexpr std::uint64_t kEnumEnd<Opcode> = 256;
template <>
inline constexpr std::uint64_t kEnumEnd<MadAttribute> = 0x1'0000;
template <>
inline constexpr std::uint64_t kEnumEnd<Operation> = static_cast<std::uint64_t>(Operation::cnp) + 1;
template <>
inline constexpr std::uint64_t kEnumEnd<Service> = 8;
template <>
inline constexpr std::uint64_t kEnumEnd<RoceVersion> = static_cast<std::uint64_t>(RoceVersion::v2_ipv6) + 1;
template <>
inline constexpr std::uint64_t kEnumEnd<AnswerFollower::State> =
    static_cast<std::uint64_t>(AnswerFollower::State::begun) + 1;
template <>
inline constexpr std::uint64_t kEnumEnd<Cause> = static_cast<std::uint64_t>(Cause::corrupted) + 1;
template <>
inline constexpr std::uint64_t kEnumEnd<VerdictKind> = static_cast<std::uint64_t>(VerdictKind::count);
template <>
inline constexpr std::uint64_t kEnumEnd<Rule> = static_cast<std::uint64_t>(Rule::count);
template <>
inline constexpr std::uint64_t kEnumEnd<Unanswered> = static_cast<std::uint64_t>(Unanswered::answers_lost) + 1;
template <>
inline constexpr std::uint64_t kEnumEnd<MessageType> = kMessageTypes;
template <>
inline constexpr std::uint64_t kEnumEnd<MessageEnd> = static_cast<std::uint64_t>(MessageEnd::incomplete) + 1;

/// Saves only the classes that are not 0, each with how many were skipped before it. An empty one is only a count of 0.
template <>
struct StateAccess<Histogram> {
  static void transfer(StateWriter& archive, const Histogram& value) {
    const Histogram::Counted& counted = *value.counted_;
    archive(counted.count);
    if (counted.count == 0) return;
    archive(counted.sum_ns);
    archive(counted.min);
    archive(counted.max);
    archive.number(counted.classes.size() -
                   static_cast<std::size_t>(std::count(counted.classes.begin(), counted.classes.end(), 0U)));
    std::size_t after = 0;
    for (std::size_t i = 0; i < counted.classes.size(); ++i) {
      if (counted.classes[i] == 0) continue;
      archive.number(counted.first_class + i - after);
      archive(counted.classes[i]);
      after = counted.first_class + i + 1;
    }
  }
  static void transfer(StateReader& archive, Histogram& value) {
    value = {};
    const auto count = archive.read<std::uint64_t>();
    if (count == 0) return;
    Histogram::Counted& counted = value.counted_.make();
    counted.count = count;
    archive(counted.sum_ns);
    archive(counted.min);
    archive(counted.max);
    std::size_t at = 0;
    for (std::size_t left = archive.count(Histogram::kClasses); left != 0; --left) {
      at += static_cast<std::size_t>(archive.number(Histogram::kClasses - 1));
      if (at >= Histogram::kClasses) return archive.refuse();
      archive(counted.at(at++));
    }
  }
};

template <typename E>
struct StateAccess<Tally<E>> {
  static void transfer(StateWriter& archive, const Tally<E>& value) {
    archive.number(value.entries().size());
    for (const auto& [what, count] : value.entries()) {
      archive(what);
      archive(count);
    }
  }
  static void transfer(StateReader& archive, Tally<E>& value) {
    value = {};
    for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
      const auto what = archive.template read<E>();
      value.add(what, archive.template read<std::uint64_t>());
    }
  }
};

template <>
struct StateAccess<RecentBytes> {
  template <typename Archive, typename Value>
  static void transfer(Archive& archive, Value& value) {
    archive(value.bytes_);
    archive(value.newest_);
  }
};

/// The most PSNs that anything in a PSN space can have: the functions that walk through them rely on it.
inline constexpr std::uint32_t kMostPsns = 1U << 24U;

[[nodiscard]] inline bool is_possible(const Request& request) {
  return request.span != 0 && request.span <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const Gap& gap) {
  return gap.count != 0 && gap.count <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const Read& read) {
  return read.span != 0 && read.span <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const Filled& filled) {
  return filled.count <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const CmMessage& message) {
  return message.times != 0;
}
/// The longest wait that an RNR NAK can ask for is 655.36 ms.
[[nodiscard]] inline bool is_possible(const PendingNak& nak) {
  return nak.wait >= Duration{} && nak.wait < std::chrono::seconds{1};
}
[[nodiscard]] inline bool is_possible(const CnpReaction& reaction) {
  const Duration most{kFarthest / 2};
  return reaction.time_before >= Duration{} && reaction.time_before < most && reaction.time_after >= Duration{} &&
         reaction.time_after < most;
}
[[nodiscard]] inline bool is_possible(const CongestionSummary& congestion) {
  return congestion.direction < 2;
}
[[nodiscard]] inline bool is_possible(const UnansweredRequest& request) {
  return request.direction < 2 && request.ack_timeout < 32;
}
/// Its length fits in a Duration.
[[nodiscard]] inline bool is_possible(const Quiet& quiet) {
  return quiet.begin > Time{Duration{-kFarthest}};
}
[[nodiscard]] inline bool is_possible(const Attempts& attempts) {
  return attempts.shortest == Duration::max() || attempts.shortest < Duration{kFarthest / 2};
}
[[nodiscard]] inline bool is_possible(const Doubt& doubt) {
  return doubt.psn_count != 0 && doubt.psn_count <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const HeldLoss& held) {
  return held.count != 0 && held.count <= kMostPsns;
}
[[nodiscard]] inline bool is_possible(const Message& message) {
  return message.direction < 2;
}

[[nodiscard]] inline bool is_possible(const MessageEnds& ends) {
  std::uint32_t awaited = 0;
  for (std::size_t i = 0; i < ends.ended.size(); ++i) awaited += ends.ended[i].is_awaited() ? 1 : 0;
  return awaited == ends.awaited;
}

/// True if a ring is ordered by PSN, as the searches in it require.
template <typename Ring, typename T>
[[nodiscard]] bool is_in_order(const Ring& ring, LongPsn T::*psn) {
  for (std::size_t i = 1; i < ring.size(); ++i) {
    if (ring[i].*psn < ring[i - 1].*psn) return false;
  }
  return true;
}

[[nodiscard]] inline bool is_possible(const Channel& channel) {
  return channel.settled <= channel.requests.size() && is_in_order(channel.requests, &Request::psn) &&
         is_in_order(channel.gaps, &Gap::first) && is_in_order(channel.reads, &Read::psn) &&
         is_in_order(channel.response_gaps, &Gap::first);
}

}  // namespace roce::analysis
