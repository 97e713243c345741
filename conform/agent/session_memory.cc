// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on memory.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "conform/agent/agent_names.h"
#include "conform/agent/agent_session.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/pattern.h"

namespace roce::conform {

namespace {

using live::number;
using live::Refusal;

constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxRead = 1 << 20;  // bytes of memory read by one request
/// Work done before other clients have their turn: parts of memory compared, and bytes converted to text.
constexpr std::size_t kParts = 1024;
constexpr std::size_t kHexSlice = 64 << 10;

/// A part of memory and the pattern that it should have.
struct Patterned {
  std::span<const std::byte> bytes;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // in the memory
};

/// Compares a slice of the parts from `at` on; true in `equal` once all are compared.
class Comparison {
 public:
  explicit Comparison(std::vector<Patterned> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::optional<nlohmann::ordered_json> operator()() {
    std::size_t left = live::kPatternSlice;
    for (std::size_t count = 0; at_ < parts_.size() && left != 0 && count < kParts; ++count) {
      const Patterned& part = parts_[at_];
      const std::size_t size = std::min(left, part.bytes.size() - done_);
      const auto wrong = live::find_wrong_byte(part.bytes.subspan(done_, size), live::seed_at(part.seed, done_));
      if (wrong) return nlohmann::ordered_json{{"equal", false}, {"wrong_at", part.offset + done_ + *wrong}};
      done_ += size;
      // A slice ends at the boundary of a word of the pattern.
      left = live::whole_words(left - size);
      if (done_ < part.bytes.size()) continue;
      ++at_;
      done_ = 0;
    }
    if (at_ < parts_.size()) return std::nullopt;
    return nlohmann::ordered_json{{"equal", true}};
  }

 private:
  std::vector<Patterned> parts_;
  std::size_t at_ = 0;
  std::size_t done_ = 0;
};

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

std::span<std::byte> AgentSession::range_of(const AgentMemory& memory, const Json& request, std::uint64_t longest) {
  const std::span<std::byte> bytes = memory.pages.bytes();
  const auto offset = number<std::uint64_t>(request, "offset", 0, bytes.size(), 0);
  const std::uint64_t most = std::min<std::uint64_t>(bytes.size() - offset, longest);
  return bytes.subspan(offset, number<std::uint64_t>(request, "length", 0, most, most));
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
  const auto length = number<std::uint64_t>(request, "length", 1, kMaxMemory);
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
  const std::span<std::byte> range = range_of(memory_of(request), request, kMaxMemory);
  if (request.contains("byte")) {
    const auto byte = static_cast<std::byte>(number<std::uint8_t>(request, "byte", 0, UINT8_MAX));
    work_ = [range, byte, done = std::size_t{0}]() mutable -> std::optional<Answer> {
      const std::size_t size = std::min(live::kPatternSlice, range.size() - done);
      std::ranges::fill(range.subspan(done, size), byte);
      done += size;
      if (done < range.size()) return std::nullopt;
      return Answer{};
    };
    return {};
  }
  const auto seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  work_ = [range, seed, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    const std::size_t size = std::min(live::kPatternSlice, range.size() - done);
    live::fill_pattern(range.subspan(done, size), live::seed_at(seed, done));
    done += size;
    if (done < range.size()) return std::nullopt;
    return Answer{};
  };
  return {};
}

AgentSession::Answer AgentSession::check_memory(const Json& request) {
  const AgentMemory& memory = memory_of(request);
  std::vector<Patterned> parts;
  const auto add = [&](const Json& part) {
    parts.push_back({.bytes = range_of(memory, part, kMaxMemory),
                     .seed = number<std::uint64_t>(part, "seed", 0, UINT64_MAX),
                     .offset = number<std::uint64_t>(part, "offset", 0, UINT64_MAX, 0)});
  };
  if (!request.contains("parts")) {
    add(request);
  } else {
    for (const Json& part : live::list(request, "parts")) {
      if (!part.is_object()) {
        throw Refusal(fmt::format("\"parts\" has {}, needs objects", json_input::shown_value(part)));
      }
      add(part);
    }
  }
  work_ = Comparison{std::move(parts)};
  return {};
}

AgentSession::Answer AgentSession::read_memory(const Json& request) {
  const std::span<const std::byte> range = range_of(memory_of(request), request, kMaxRead);
  work_ = [range, done = std::size_t{0}, digits = std::string{}]() mutable -> std::optional<Answer> {
    const std::span<const std::byte> part = range.subspan(done, std::min(kHexSlice, range.size() - done));
    digits += live::to_hex(part);
    done += part.size();
    if (done < range.size()) return std::nullopt;
    return Answer{{"data", std::move(digits)}};
  };
  return {};
}

AgentSession::Answer AgentSession::write_memory(const Json& request) {
  const std::vector<std::byte> data = live::from_hex(live::text(request, "data"));
  const std::span<std::byte> bytes = memory_of(request).pages.bytes();
  const auto offset = number<std::uint64_t>(request, "offset", 0, bytes.size(), 0);
  if (data.size() > bytes.size() - offset) throw Refusal("\"data\" goes beyond the memory's end");
  std::ranges::copy(data, bytes.subspan(offset).begin());
  return {};
}

}  // namespace roce::conform
