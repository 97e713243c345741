// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on memory.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "live/carried_out.h"
#include "roce/json_input/json_input.h"
#include "roce/live/control_names.h"
#include "roce/live/control_session.h"
#include "roce/live/memory_requests.h"

namespace roce::live {

namespace {

using transport::Access;

}  // namespace

ControlSession::Memory& ControlSession::memory_of(const Json& request) {
  const auto found = memories_.find(number<std::uint32_t>(request, "memory", 0, 0xFFFF'FFFF));
  if (found == memories_.end()) throw Refusal("\"memory\" was not made by this connection");
  return *found->second;
}

Access ControlSession::rights_of(const Json& request) {
  Access rights = Access::none;
  for (const Json& name : list(request, "access")) {
    if (!name.is_string())
      throw Refusal(fmt::format("\"access\" has {}, needs names of rights", json_input::shown_value(name)));
    rights = rights | access_of(name.get<std::string>());
  }
  return rights;
}

ControlSession::Answer ControlSession::create_memory(const Json& request, Time) {
  const auto length = number<std::uint64_t>(request, "length", 1, kMaxMemory);
  const Access access = Access::local_write | rights_of(request);
  const bool invalidatable = flag(request, "invalidatable");
  Result<PeerMemory> pages = PeerMemory::make(terms_.budget, length);
  if (!pages) throw Refusal("create_memory: " + pages.error().message);
  const std::span<std::byte> bytes = pages->bytes();
  auto memory = std::make_unique<Memory>(Memory{.pages = std::move(*pages), .bytes = bytes});
  memory->mr = carried_out(
      device_.register_memory(pd_, {.memory = memory->bytes, .access = access, .invalidatable = invalidatable}),
      "create_memory");
  memory->info = *device_.query_mr(memory->mr);
  const std::uint32_t id = next_object_++;
  Answer answer{
      {"memory", id}, {"address", memory->info.address}, {"r_key", memory->info.r_key.value()}, {"length", length}};
  memories_.emplace(id, std::move(memory));
  return answer;
}

ControlSession::Answer ControlSession::fill_memory(const Json& request, Time) {
  work_ = live::fill_memory(memory_of(request).bytes, request);
  return {};
}

ControlSession::Answer ControlSession::check_memory(const Json& request, Time) {
  work_ = live::check_memory(memory_of(request).bytes, request);
  return {};
}

ControlSession::Answer ControlSession::read_memory(const Json& request, Time) {
  work_ = live::read_memory(memory_of(request).bytes, request);
  return {};
}

ControlSession::Answer ControlSession::write_memory(const Json& request, Time) {
  live::write_memory(memory_of(request).bytes, request);
  return {};
}

ControlSession::Answer ControlSession::create_pd(const Json&, Time) {
  const std::uint32_t id = next_object_++;
  pds_.emplace(id, carried_out(device_.create_pd(), "create_pd"));
  return {{"pd", id}};
}

ControlSession::Answer ControlSession::destroy_pd(const Json& request, Time) {
  carried_out(device_.destroy_pd(object_of(pds_, request, "pd")), "destroy_pd");
  pds_.erase(number<std::uint32_t>(request, "pd", 0, UINT32_MAX));
  return {};
}

ControlSession::Answer ControlSession::create_region(const Json& request, Time) {
  const std::span<std::byte> range = range_of(memory_of(request).bytes, request);
  const transport::Mr mr =
      carried_out(device_.register_memory(
                      object_of<transport::Pd>(pds_, request, "pd", pd_),
                      {.memory = range, .access = rights_of(request), .invalidatable = flag(request, "invalidatable")}),
                  "create_region");
  const transport::MrInfo info = *device_.query_mr(mr);
  const std::uint32_t id = next_object_++;
  regions_.emplace(id, mr);
  return {{"region", id},
          {"address", info.address},
          {"length", info.length},
          {"r_key", info.r_key.value()},
          {"l_key", info.l_key.value()}};
}

ControlSession::Answer ControlSession::destroy_region(const Json& request, Time) {
  carried_out(device_.deregister_memory(object_of(regions_, request, "region")), "destroy_region");
  regions_.erase(number<std::uint32_t>(request, "region", 0, UINT32_MAX));
  return {};
}

ControlSession::Answer ControlSession::create_window(const Json& request, Time) {
  const auto type = number<int>(request, "type", 1, 2);
  const transport::Mw window =
      carried_out(device_.create_mw(object_of<transport::Pd>(pds_, request, "pd", pd_),
                                    type == 1 ? transport::MwType::type1 : transport::MwType::type2),
                  "create_window");
  const std::uint32_t id = next_object_++;
  windows_.emplace(id, window);
  return {{"window", id}, {"r_key", device_.query_mw(window)->value()}};
}

ControlSession::Answer ControlSession::window_status(const Json& request, Time) {
  const RKey key = carried_out(device_.query_mw(object_of(windows_, request, "window")), "window_status");
  return {{"r_key", key.value()}};
}

ControlSession::Answer ControlSession::destroy_window(const Json& request, Time) {
  carried_out(device_.destroy_mw(object_of(windows_, request, "window")), "destroy_window");
  windows_.erase(number<std::uint32_t>(request, "window", 0, UINT32_MAX));
  return {};
}

}  // namespace roce::live
