// SPDX-License-Identifier: BSD-2-Clause
// Membership in multicast groups, as on the hosts' side of IGMP and MLD: what is reported, and when.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "port/address_frames.h"
#include "roce/wire/igmp.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// The groups of one host, all of the family of its address. Changes are reported twice (RFC 3376 and 3810: robustness
/// 2); queries are answered after a random part of the time that they allow. After a query of the older version
/// (IGMPv2, MLDv1), reports use that version for as long as RFC 3376 and 3810 require.
class GroupMembership {
 public:
  GroupMembership(const Sender& sender, const Gid& ip);

  void join(const Gid& group, Time now);
  void leave(const Gid& group, Time now);
  /// Takes an IGMP or MLD query; false if the message is not a valid query.
  bool receive(const ReceivedMessage& message, Time now);

  /// Returns the reports that have to go out now. `may_use_link_local`: MLD reports come from the link-local address of
  /// the MAC address, as routers require; else from no address, as long as it is not sure that ours is unique.
  [[nodiscard]] std::vector<Frame> due(Time now, bool may_use_link_local);
  [[nodiscard]] Time next_timeout() const;

 private:
  struct Member {
    bool is_leaving = false;
    unsigned changes_left = 0;  ///< reports of the change that are still to be sent
    Time change_at = kNever;
    Time answer_at = kNever;  ///< when to answer a query
  };
  struct Record {
    Gid group{};
    GroupRecordType type{};
  };

  void change(const Gid& group, bool is_leaving, Time now);
  [[nodiscard]] std::optional<Record> due_of(const Gid& group, Member& member, bool is_general, Time now) const;
  void add_reports(const std::vector<Record>& records, Time now, bool may_use_link_local, std::vector<Frame>& frames);
  [[nodiscard]] Frame igmp_frame(const Gid& to, std::vector<std::byte> message) const;
  [[nodiscard]] Frame mld_frame(const Gid& to, std::vector<std::byte> message, bool may_use_link_local) const;

  Sender sender_;
  Gid ip_;
  std::minstd_rand random_;  ///< is used only to spread the answers of many hosts
  std::map<Gid, Member> members_;
  Time general_answer_at_ = kNever;
  Time old_until_ = Time::min();  ///< until then a router of the older version counts as present
};

}  // namespace roce::port
