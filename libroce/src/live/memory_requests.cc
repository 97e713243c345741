// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/memory_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "roce/json_input/json_input.h"
#include "roce/live/control_request.h"
#include "roce/live/pattern.h"

namespace roce::live {

namespace {

using Json = nlohmann::json;
using Answer = nlohmann::ordered_json;

constexpr std::uint64_t kMaxRead = 1 << 20;
// Work done in one call: parts of memory compared, and bytes converted to text.
constexpr std::size_t kParts = 1024;
constexpr std::size_t kHexSlice = 64 << 10;

/// A part of memory, and what its bytes have to be.
struct Expected {
  std::span<const std::byte> bytes;
  std::uint64_t offset = 0;  // position of the part in the memory
  // A pattern's seed, a byte that all are, or the bytes themselves.
  std::variant<std::uint64_t, std::byte, std::vector<std::byte>> content;
};

/// Returns the position of the first wrong byte among `size` bytes of a part from `begin` on, counted from `begin`.
std::optional<std::size_t> find_wrong(const Expected& part, std::size_t begin, std::size_t size) {
  const std::span<const std::byte> bytes = part.bytes.subspan(begin, size);
  if (const auto* seed = std::get_if<std::uint64_t>(&part.content)) {
    return find_wrong_byte(bytes, seed_at(*seed, begin));
  }
  const auto* byte = std::get_if<std::byte>(&part.content);
  const auto found =
      byte != nullptr
          ? std::ranges::find_if(bytes, [byte](std::byte one) { return one != *byte; })
          : std::ranges::mismatch(bytes, std::span{std::get<std::vector<std::byte>>(part.content)}.subspan(begin, size))
                .in1;
  if (found == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - bytes.begin());
}

/// Compares the parts, a slice in each call.
class Comparison {
 public:
  explicit Comparison(std::vector<Expected> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::optional<Answer> operator()() {
    std::size_t left = kPatternSlice;
    for (std::size_t count = 0; at_ < parts_.size() && left != 0 && count < kParts; ++count) {
      const Expected& part = parts_[at_];
      const std::size_t size = std::min(left, part.bytes.size() - done_);
      if (const auto wrong = find_wrong(part, done_, size)) {
        return Answer{{"equal", false}, {"wrong_at", part.offset + done_ + *wrong}};
      }
      done_ += size;
      // A slice ends at the boundary of a word of the pattern.
      left = whole_words(left - size);
      if (done_ < part.bytes.size()) continue;
      ++at_;
      done_ = 0;
    }
    if (at_ < parts_.size()) return std::nullopt;
    return Answer{{"equal", true}};
  }

 private:
  std::vector<Expected> parts_;
  std::size_t at_ = 0;
  std::size_t done_ = 0;
};

/// Computes a digest, a slice in each call, and compares it.
class DigestComparison {
 public:
  DigestComparison(std::span<const std::byte> bytes, std::uint64_t expected) : bytes_(bytes), expected_(expected) {}

  [[nodiscard]] std::optional<Answer> operator()() {
    const std::span<const std::byte> slice = bytes_.first(std::min(bytes_.size(), kPatternSlice));
    digest_ = digest_of(slice, digest_);
    bytes_ = bytes_.subspan(slice.size());
    if (!bytes_.empty()) return std::nullopt;
    return Answer{{"equal", digest_ == expected_}};
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t expected_;
  std::uint64_t digest_ = 0;
};

std::byte byte_of(const Json& request) {
  return static_cast<std::byte>(number<std::uint8_t>(request, "byte", 0, UINT8_MAX));
}

std::vector<std::byte> data_of(std::span<const std::byte> room, const Json& request) {
  std::vector<std::byte> data = from_hex(text(request, "data"));
  if (data.size() > room.size()) throw Refusal("\"data\" goes beyond the memory's end");
  return data;
}

Expected part_of(std::span<std::byte> memory, const Json& request) {
  Expected part{.bytes = range_of(memory, request),
                .offset = number<std::uint64_t>(request, "offset", 0, UINT64_MAX, 0),
                .content = {}};
  if (request.contains("data")) {
    std::vector<std::byte> data = data_of(part.bytes, request);
    part.bytes = part.bytes.first(data.size());
    part.content = std::move(data);
  } else if (request.contains("byte")) {
    part.content = byte_of(request);
  } else {
    part.content = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  }
  return part;
}

/// Calls `fill` with each slice of a range and its position in it.
template <typename Fill>
MemoryWork fill_slices(std::span<std::byte> range, Fill fill) {
  return [range, fill, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    const std::size_t size = std::min(kPatternSlice, range.size() - done);
    fill(range.subspan(done, size), done);
    done += size;
    if (done < range.size()) return std::nullopt;
    return Answer{};
  };
}

}  // namespace

std::span<std::byte> range_of(std::span<std::byte> memory, const Json& request, std::uint64_t longest) {
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.size(), 0);
  const std::uint64_t most = std::min<std::uint64_t>(memory.size() - offset, longest);
  return memory.subspan(offset, number<std::uint64_t>(request, "length", 0, most, most));
}

MemoryWork fill_memory(std::span<std::byte> memory, const Json& request) {
  const std::span<std::byte> range = range_of(memory, request);
  if (request.contains("byte")) {
    const std::byte byte = byte_of(request);
    return fill_slices(range, [byte](std::span<std::byte> slice, std::size_t) { std::ranges::fill(slice, byte); });
  }
  const auto seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  return fill_slices(range,
                     [seed](std::span<std::byte> slice, std::size_t at) { fill_pattern(slice, seed_at(seed, at)); });
}

MemoryWork check_memory(std::span<std::byte> memory, const Json& request) {
  if (request.contains("digest")) {
    return DigestComparison{range_of(memory, request), number<std::uint64_t>(request, "digest", 0, UINT64_MAX)};
  }
  if (!request.contains("parts")) return Comparison{{part_of(memory, request)}};
  std::vector<Expected> parts;
  for (const Json& part : list(request, "parts")) {
    if (!part.is_object()) {
      throw Refusal(fmt::format("\"parts\" has {}, needs objects", json_input::shown_value(part)));
    }
    parts.push_back(part_of(memory, part));
  }
  return Comparison{std::move(parts)};
}

MemoryWork read_memory(std::span<std::byte> memory, const Json& request) {
  const std::span<const std::byte> range = range_of(memory, request, kMaxRead);
  return [range, done = std::size_t{0}, digits = std::string{}]() mutable -> std::optional<Answer> {
    const std::span<const std::byte> part = range.subspan(done, std::min(kHexSlice, range.size() - done));
    digits += to_hex(part);
    done += part.size();
    if (done < range.size()) return std::nullopt;
    return Answer{{"data", std::move(digits)}};
  };
}

void write_memory(std::span<std::byte> memory, const Json& request) {
  const std::span<std::byte> room = range_of(memory, request);
  std::ranges::copy(data_of(room, request), room.begin());
}

}  // namespace roce::live
