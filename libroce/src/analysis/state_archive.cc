// SPDX-License-Identifier: BSD-2-Clause
// The head of a saved state, and the checks of kind, version, length and checksum.
#include "analysis/state_archive.h"

#include <cstring>

#include "analysis/state_members.h"

namespace roce::analysis {

namespace {

// The head, before what was saved: the kind, and in little endian the version, the number of bytes after the head,
// and their checksum.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kLengthAt = 8;
constexpr std::size_t kChecksumAt = 16;
constexpr std::size_t kHeadBytes = 24;

// FNV-1a: detects accidental damage, not deliberate changes.
std::uint64_t checksum_of(Bytes bytes) {
  std::uint64_t sum = 0xCBF2'9CE4'8422'2325;
  for (const std::byte each : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(each)) * 0x100'0000'01B3;
  return sum;
}

void put(std::vector<std::byte>& into, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) into.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint64_t get(Bytes from, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(from[at + i]);
  return value;
}

std::optional<StateError> error_in_head(Bytes state, std::string_view kind) {
  using Reason = StateError::Reason;
  if (state.size() < kind.size() || std::memcmp(state.data(), kind.data(), kind.size()) != 0) {
    return StateError{Reason::foreign, 0, 0, 0};
  }
  if (state.size() < kHeadBytes) return StateError{Reason::damaged, state.size(), kHeadBytes, state.size()};
  const std::uint64_t version = get(state, kVersionAt, kLengthAt - kVersionAt);
  if (version != kStateVersion) return StateError{Reason::version, kVersionAt, kStateVersion, version};
  const std::uint64_t length = get(state, kLengthAt, kChecksumAt - kLengthAt);
  if (length != state.size() - kHeadBytes) {
    return StateError{Reason::damaged, kLengthAt, length, state.size() - kHeadBytes};
  }
  const std::uint64_t expected = get(state, kChecksumAt, kHeadBytes - kChecksumAt);
  const std::uint64_t found = checksum_of(state.subspan(kHeadBytes));
  if (expected != found) return StateError{Reason::damaged, kChecksumAt, expected, found};
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> StateWriter::sealed(std::string_view kind) && {
  std::vector<std::byte> state;
  state.reserve(kHeadBytes + bytes_.size());
  for (const char letter : kind) state.push_back(static_cast<std::byte>(letter));
  put(state, kStateVersion, kLengthAt - kVersionAt);
  put(state, bytes_.size(), kChecksumAt - kLengthAt);
  put(state, checksum_of(bytes_), kHeadBytes - kChecksumAt);
  state.insert(state.end(), bytes_.begin(), bytes_.end());
  return state;
}

StateReader::StateReader(Bytes state, std::string_view kind) : bytes_(state), at_(kHeadBytes) {
  if (const std::optional<StateError> error = error_in_head(state, kind)) fail(*error);
}

std::uint64_t StateReader::number(std::uint64_t most) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ >= bytes_.size()) break;
    const auto group = std::to_integer<std::uint64_t>(bytes_[at_++]);
    value |= (group & 0x7FU) << shift;
    if ((group & 0x80U) != 0) continue;
    if (value <= most) return value;
    break;
  }
  refuse();
  return 0;
}

tl::expected<void, StateError> StateReader::end() {
  if (at_ != bytes_.size()) refuse();
  if (error_) return tl::unexpected(*error_);
  return {};
}

std::string to_string(const StateError& error) {
  const auto at = " at byte " + std::to_string(error.offset);
  const auto instead = std::to_string(error.found) + " instead of " + std::to_string(error.expected);
  switch (error.reason) {
    case StateError::Reason::foreign:
      return "analysis state: this is no saved state of this kind; begin without one";
    case StateError::Reason::version:
      return "analysis state: saved by another version, format " + instead + at + "; begin without it";
    case StateError::Reason::damaged:
      return error.offset == kChecksumAt ? "analysis state: damaged, the checksum" + at + " is " + instead
                                         : "analysis state: damaged, " + instead + " bytes are there";
    case StateError::Reason::impossible:
      return "analysis state: no analysis leaves what it says" + at + "; begin without it";
  }
  return {};
}

}  // namespace roce::analysis
