// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "roce/live/result.h"
#include "roce/wire/types.h"

namespace roce::live {

/// Makes the kernel a member of a multicast group on an interface, so that it informs routers and switches (IGMP, MLD).
/// It does not receive anything.
class HostMembership {
 public:
  /// Joins `group`, an IPv6 or IPv4-mapped address. Failure: not a group, or `interface` has no such addresses.
  [[nodiscard]] static Result<HostMembership> join(const std::string& interface, const Gid& group);
  /// Ends the membership.
  ~HostMembership();
  HostMembership(HostMembership&& other) noexcept;
  HostMembership& operator=(HostMembership&& other) noexcept;
  HostMembership(const HostMembership&) = delete;
  HostMembership& operator=(const HostMembership&) = delete;

 private:
  explicit HostMembership(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace roce::live
