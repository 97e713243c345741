// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on memory.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "live/carried_out.h"
#include "roce/json_input/json_input.h"
#include "roce/live/control_names.h"
#include "roce/live/control_session.h"
#include "roce/live/pattern.h"

namespace roce::live {

namespace {

using transport::Access;

constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxInline = 1 << 20;  // bytes of memory read by one request
/// Work done before frames and other clients have their turn: parts of memory compared, and bytes converted to text.
constexpr std::size_t kParts = 1024;
constexpr std::size_t kHexSlice = 64 << 10;

}  // namespace

ControlSession::Memory& ControlSession::memory_of(const Json& request) {
  const auto found = memories_.find(number<std::uint32_t>(request, "memory", 0, 0xFFFF'FFFF));
  if (found == memories_.end()) throw Refusal("\"memory\" was not made by this connection");
  return *found->second;
}

std::span<std::byte> ControlSession::range_of(const Memory& memory, const Json& request, std::uint64_t longest) {
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  const std::uint64_t left = memory.bytes.size() - offset;
  const auto length = number<std::uint64_t>(request, "length", 0, std::min(left, longest), std::min(left, longest));
  return memory.bytes.subspan(offset, length);
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
  const std::span<std::byte> range = range_of(memory_of(request), request, kMaxMemory);
  if (request.contains("byte")) {
    const auto byte = static_cast<std::byte>(number<std::uint8_t>(request, "byte", 0, UINT8_MAX));
    work_ = [range, byte, done = std::size_t{0}]() mutable -> std::optional<Answer> {
      const std::size_t size = std::min(kPatternSlice, range.size() - done);
      std::ranges::fill(range.subspan(done, size), byte);
      done += size;
      if (done < range.size()) return std::nullopt;
      return Answer{};
    };
    return {};
  }
  const auto seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  work_ = [range, seed, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    const std::size_t size = std::min(kPatternSlice, range.size() - done);
    fill_pattern(range.subspan(done, size), seed_at(seed, done));
    done += size;
    if (done < range.size()) return std::nullopt;
    return Answer{};
  };
  return {};
}

ControlSession::Answer ControlSession::check_memory(const Json& request, Time) {
  const Memory& memory = memory_of(request);
  std::vector<Patterned> parts;
  const auto add = [&](const Json& part) {
    parts.push_back({.bytes = range_of(memory, part, kMaxMemory),
                     .seed = number<std::uint64_t>(part, "seed", 0, UINT64_MAX),
                     .offset = number<std::uint64_t>(part, "offset", 0, UINT64_MAX, 0)});
  };
  if (!request.contains("parts")) {
    add(request);
  } else {
    for (const Json& part : list(request, "parts")) {
      if (!part.is_object()) {
        throw Refusal(fmt::format("\"parts\" has {}, needs objects", json_input::shown_value(part)));
      }
      add(part);
    }
  }
  work_ = [parts = std::move(parts), at = std::size_t{0}, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    std::size_t left = kPatternSlice;
    for (std::size_t count = 0; at < parts.size() && left != 0 && count < kParts; ++count) {
      const Patterned& part = parts[at];
      const std::size_t size = std::min(left, part.bytes.size() - done);
      if (const auto wrong = find_wrong_byte(part.bytes.subspan(done, size), seed_at(part.seed, done))) {
        return Answer{{"equal", false}, {"wrong_at", part.offset + done + *wrong}};
      }
      done += size;
      // A slice ends at the boundary of a word of the pattern.
      left = whole_words(left - size);
      if (done < part.bytes.size()) continue;
      ++at;
      done = 0;
    }
    if (at < parts.size()) return std::nullopt;
    return Answer{{"equal", true}};
  };
  return {};
}

ControlSession::Answer ControlSession::read_memory(const Json& request, Time) {
  const std::span<const std::byte> range = range_of(memory_of(request), request, kMaxInline);
  work_ = [range, done = std::size_t{0}, digits = std::string{}]() mutable -> std::optional<Answer> {
    const std::span<const std::byte> part = range.subspan(done, std::min(kHexSlice, range.size() - done));
    digits += to_hex(part);
    done += part.size();
    if (done < range.size()) return std::nullopt;
    return Answer{{"data", std::move(digits)}};
  };
  return {};
}

ControlSession::Answer ControlSession::write_memory(const Json& request, Time) {
  const std::vector<std::byte> data = from_hex(text(request, "data"));
  Memory& memory = memory_of(request);
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  if (data.size() > memory.bytes.size() - offset) throw Refusal("\"data\" goes beyond the memory's end");
  std::ranges::copy(data, memory.bytes.subspan(offset).begin());
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
  const std::span<std::byte> range = range_of(memory_of(request), request, kMaxMemory);
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
