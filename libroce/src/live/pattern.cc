// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace roce::live {

namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

using Word = std::array<std::byte, sizeof(std::uint64_t)>;

/// Returns a number with the bytes of a word, least significant byte first, or the reverse of that.
constexpr std::uint64_t little_endian(std::uint64_t value) {
  return std::endian::native == std::endian::big ? __builtin_bswap64(value) : value;
}

/// The words of a pattern in turn. Each follows from the one before by an addition, so that a pattern costs hardly more
/// than writing to the memory.
class Words {
 public:
  explicit Words(std::uint64_t seed) : last_(seed * kFactor) {}

  [[nodiscard]] Word next() {
    last_ += kFactor;
    return std::bit_cast<Word>(little_endian(last_));
  }

 private:
  std::uint64_t last_;
};

}  // namespace

void fill_pattern(std::span<std::byte> memory, std::uint64_t seed) {
  Words words{seed};
  const std::size_t whole = memory.size() - memory.size() % sizeof(Word);
  for (std::size_t at = 0; at < whole; at += sizeof(Word)) {
    const Word word = words.next();
    std::memcpy(memory.data() + at, word.data(), sizeof(Word));
  }
  const std::span<std::byte> rest = memory.subspan(whole);
  const Word last = words.next();
  std::copy_n(last.begin(), rest.size(), rest.begin());
}

std::optional<std::size_t> find_wrong_byte(std::span<const std::byte> memory, std::uint64_t seed) {
  Words words{seed};
  for (std::size_t at = 0; at < memory.size(); at += sizeof(Word)) {
    const Word word = words.next();
    const auto found = memory.subspan(at, std::min(sizeof(Word), memory.size() - at));
    if (found.size() == sizeof(Word) && std::memcmp(found.data(), word.data(), sizeof(Word)) == 0) continue;
    const auto wrong = std::mismatch(found.begin(), found.end(), word.begin());
    if (wrong.first != found.end()) return at + static_cast<std::size_t>(wrong.first - found.begin());
  }
  return std::nullopt;
}

std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t digest) {
  constexpr unsigned shift = 29;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    Word word{};
    std::memcpy(word.data(), bytes.data() + at, std::min(sizeof(Word), bytes.size() - at));
    digest = (digest ^ little_endian(std::bit_cast<std::uint64_t>(word))) * kFactor;
    digest ^= digest >> shift;
  }
  return digest;
}

}  // namespace roce::live
