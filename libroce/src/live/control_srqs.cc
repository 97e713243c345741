// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on shared receive queues.
#include <nlohmann/json.hpp>

#include "live/carried_out.h"
#include "roce/live/control_session.h"

namespace roce::live {

ControlSession::Answer ControlSession::create_srq(const Json& request, Time) {
  constexpr std::uint32_t most = 4096;
  const auto capacity = number<std::uint32_t>(request, "max_receive", 1, most, 64);
  const auto pieces = number<std::uint8_t>(request, "max_pieces", 1, 16, 1);
  const auto pd = object_of<transport::Pd>(pds_, request, "pd", pd_);
  const transport::Srq srq = carried_out(device_.create_srq(pd, capacity, pieces), "create_srq");
  const std::uint32_t id = next_object_++;
  srqs_.emplace(id, srq);
  return {{"srq", id}};
}

ControlSession::Answer ControlSession::arm_srq(const Json& request, Time) {
  const auto limit = number<std::uint32_t>(request, "limit", 0, UINT32_MAX);
  carried_out(device_.arm_srq_limit(object_of(srqs_, request, "srq"), limit), "arm_srq");
  return {};
}

ControlSession::Answer ControlSession::destroy_srq(const Json& request, Time) {
  carried_out(device_.destroy_srq(object_of(srqs_, request, "srq")), "destroy_srq");
  srqs_.erase(number<std::uint32_t>(request, "srq", 0, UINT32_MAX));
  return {};
}

}  // namespace roce::live
