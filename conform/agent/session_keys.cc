// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on protection domains, regions, windows and completion queues.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "conform/agent/agent_names.h"
#include "conform/agent/agent_session.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/memory_requests.h"

namespace roce::conform {

namespace {

using live::number;
using live::Refusal;

constexpr std::uint64_t kLargestCq = 65536;
constexpr std::string_view kInUse = "destroy what uses it before it";

/// Finds the object that a member of a request names.
template <typename Map>
[[nodiscard]] auto find_object(Map& objects, const nlohmann::json& request, const char* name) {
  const auto found = objects.find(number<ObjectNumber>(request, name, 0, UINT32_MAX));
  if (found == objects.end()) throw Refusal(fmt::format("\"{}\" was not made by this connection", name));
  return found;
}

}  // namespace

ibv_pd& AgentSession::pd_of(const Json& request) const {
  return request.contains("pd") ? *find_object(objects_.pds, request, "pd")->second : *objects_.pd;
}

ibv_cq& AgentSession::cq_of(const Json& request, const char* name) const {
  return request.contains(name) ? *find_object(objects_.cqs, request, name)->second : *objects_.cq;
}

AgentWindow& AgentSession::window_of(const Json& request) {
  return find_object(objects_.windows, request, "window")->second;
}

AgentSession::Answer AgentSession::create_pd(const Json&) {
  const ObjectNumber id = next_number();
  Pd pd{ibv_alloc_pd(objects_.context.get())};
  if (!pd) refuse("create_pd", "ibv_alloc_pd", errno);
  objects_.pds.emplace(id, std::move(pd));
  return {{"pd", id}};
}

AgentSession::Answer AgentSession::destroy_pd(const Json& request) {
  const auto found = find_object(objects_.pds, request, "pd");
  check("destroy_pd", "ibv_dealloc_pd", ibv_dealloc_pd(found->second.get()), kInUse);
  (void)found->second.release();
  objects_.pds.erase(found);
  return {};
}

AgentSession::Answer AgentSession::create_region(const Json& request) {
  if (live::flag(request, "invalidatable")) {
    throw Refusal("verbs have no region that a SEND can invalidate; bind a window of type 2 instead");
  }
  const std::span<std::byte> range = live::range_of(memory_of(request).pages.bytes(), request);
  if (range.empty()) throw Refusal("\"length\" is 0, needs 1 or more");
  const ObjectNumber id = next_number();
  const unsigned access = access_of(request);
  AgentRegion region{.mr = register_bytes(pd_of(request), range, access, "create_region")};
  if ((access & IBV_ACCESS_ZERO_BASED) == 0) region.address = reinterpret_cast<std::uintptr_t>(range.data());
  Answer answer{{"region", id},
                {"address", region.address},
                {"length", range.size()},
                {"r_key", region.mr->rkey},
                {"l_key", region.mr->lkey}};
  objects_.regions.emplace(id, std::move(region));
  return answer;
}

AgentSession::Answer AgentSession::destroy_region(const Json& request) {
  const auto found = find_object(objects_.regions, request, "region");
  check("destroy_region", "ibv_dereg_mr", ibv_dereg_mr(found->second.mr.get()),
        "unbind or destroy its windows before it");
  (void)found->second.mr.release();
  objects_.regions.erase(found);
  return {};
}

AgentSession::Answer AgentSession::create_window(const Json& request) {
  const auto type = number<int>(request, "type", 1, 2);
  need(type == 1 ? "windows_1" : "windows_2");
  const ObjectNumber id = next_number();
  AgentWindow window{.mw = nullptr, .type = type == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2};
  window.mw.reset(ibv_alloc_mw(&pd_of(request), window.type));
  if (!window.mw) refuse("create_window", "ibv_alloc_mw", errno);
  const std::uint32_t key = window.mw->rkey;
  objects_.windows.emplace(id, std::move(window));
  return {{"window", id}, {"r_key", key}};
}

AgentSession::Answer AgentSession::window_status(const Json& request) {
  return {{"r_key", window_of(request).mw->rkey}};
}

AgentSession::Answer AgentSession::destroy_window(const Json& request) {
  const auto found = find_object(objects_.windows, request, "window");
  check("destroy_window", "ibv_dealloc_mw", ibv_dealloc_mw(found->second.mw.get()));
  (void)found->second.mw.release();
  objects_.windows.erase(found);
  return {};
}

AgentSession::Answer AgentSession::create_cq(const Json& request) {
  const auto size = number<int>(request, "size", 1, kLargestCq);
  const ObjectNumber id = next_number();
  Cq cq{ibv_create_cq(objects_.context.get(), size, nullptr, objects_.wakes.get(), 0)};
  if (!cq) {
    refuse("create_cq", "ibv_create_cq", errno,
           fmt::format("the device takes sizes up to {}", device_.attributes().max_cqe));
  }
  objects_.cqs.emplace(id, std::move(cq));
  return {{"cq", id}};
}

AgentSession::Answer AgentSession::arm_cq(const Json& request) {
  const auto found = find_object(objects_.cqs, request, "cq");
  const int solicited_only = live::flag(request, "solicited") ? 1 : 0;
  check("arm_cq", "ibv_req_notify_cq", ibv_req_notify_cq(found->second.get(), solicited_only));
  return {};
}

AgentSession::Answer AgentSession::destroy_cq(const Json& request) {
  const auto found = find_object(objects_.cqs, request, "cq");
  take_wakes();
  check("destroy_cq", "ibv_destroy_cq", ibv_destroy_cq(found->second.get()), kInUse);
  (void)found->second.release();
  objects_.cqs.erase(found);
  return {};
}

}  // namespace roce::conform
