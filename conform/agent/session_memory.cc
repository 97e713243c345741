// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on memory.
#include <fmt/format.h>
#include <sys/resource.h>

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

[[nodiscard]] std::string locked_memory_advice() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format("the limit of locked memory is {} bytes: raise it (ulimit -l), or run roce-agent as root",
                     limit.rlim_cur);
}

}  // namespace

AgentMemory& AgentSession::memory_of(const Json& request) {
  const auto found = objects_.memories.find(number<ObjectNumber>(request, "memory", 0, UINT32_MAX));
  if (found == objects_.memories.end()) throw Refusal("\"memory\" was not made by this connection");
  return found->second;
}

Mr AgentSession::register_bytes(ibv_pd& pd, std::span<std::byte> bytes, unsigned access, std::string_view operation) {
  // A region that counts from 0 is one whose first byte has the address 0 on the wire.
  const bool is_zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  const std::uint64_t address = is_zero_based ? 0 : reinterpret_cast<std::uintptr_t>(bytes.data());
  const unsigned rights = access & ~static_cast<unsigned>(IBV_ACCESS_ZERO_BASED);
  Mr mr{ibv_reg_mr_iova(&pd, bytes.data(), bytes.size(), address, rights)};
  if (!mr) {
    const int error = errno;
    refuse(operation, "ibv_reg_mr", error, error == ENOMEM ? locked_memory_advice() : std::string{});
  }
  return mr;
}

AgentSession::Answer AgentSession::create_memory(const Json& request) {
  const auto length = number<std::uint64_t>(request, "length", 1, live::kMaxMemory);
  const unsigned access = access_of(request) | IBV_ACCESS_LOCAL_WRITE;
  if (live::flag(request, "invalidatable")) {
    throw Refusal("verbs have no memory that a SEND can invalidate; bind a window of type 2 instead");
  }
  const ObjectNumber id = next_number();
  live::Result<GuardedPages> pages = GuardedPages::make(limits_.memory, length);
  if (!pages) throw Refusal("create_memory: " + pages.error().message);
  AgentMemory memory{.pages = std::move(*pages), .mr = nullptr};
  memory.mr = register_bytes(*objects_.pd, memory.pages.bytes(), access, "create_memory");
  if ((access & IBV_ACCESS_ZERO_BASED) == 0) {
    memory.address = reinterpret_cast<std::uintptr_t>(memory.pages.bytes().data());
  }
  Answer answer{{"memory", id}, {"address", memory.address}, {"r_key", memory.mr->rkey}, {"length", length}};
  objects_.memories.emplace(id, std::move(memory));
  return answer;
}

AgentSession::Answer AgentSession::fill_memory(const Json& request) {
  work_ = live::fill_memory(memory_of(request).pages.bytes(), request);
  return {};
}

AgentSession::Answer AgentSession::check_memory(const Json& request) {
  work_ = live::check_memory(memory_of(request).pages.bytes(), request);
  return {};
}

AgentSession::Answer AgentSession::read_memory(const Json& request) {
  work_ = live::read_memory(memory_of(request).pages.bytes(), request);
  return {};
}

AgentSession::Answer AgentSession::write_memory(const Json& request) {
  live::write_memory(memory_of(request).pages.bytes(), request);
  return {};
}

}  // namespace roce::conform
