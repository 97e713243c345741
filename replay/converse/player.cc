// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/saturating_time.h"

namespace roce::replay {

namespace {

constexpr std::size_t kMostDifferences = 50;

[[nodiscard]] std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::write:
      return "WRITE";
    case Operation::read_request:
      return "READ";
    case Operation::compare_swap:
      return "compare and swap";
    case Operation::fetch_add:
      return "fetch and add";
    case Operation::atomic_write:
      return "ATOMIC WRITE";
    case Operation::flush:
      return "FLUSH";
    default:
      return "SEND";
  }
}

/// Returns the place of the first byte that differs; the shorter length if one is the beginning of the other.
[[nodiscard]] std::size_t first_difference(const std::vector<std::byte>& found,
                                           const std::vector<std::byte>& expected) {
  const auto differs = std::ranges::mismatch(found, expected);
  return static_cast<std::size_t>(differs.in1 - found.begin());
}

[[nodiscard]] bool returns_data(Operation operation) {
  return operation == Operation::read_request || operation == Operation::compare_swap ||
         operation == Operation::fetch_add;
}

}  // namespace

Player::Player(const Conversation& conversation, std::array<PlayedEnd*, 2> ends,
               std::array<const CapturedMemory*, 2> memories, std::vector<RemoteMemory> remote,
               const PlayOptions& options)
    : conversation_(conversation),
      ends_(ends),
      memories_(memories),
      remote_(std::move(remote)),
      options_(options),
      posted_at_(conversation.operations.size()) {
  for (std::size_t i = 0; i < conversation.operations.size(); ++i) {
    const std::uint8_t side = operation(i).side;
    if (ends_.at(side) != nullptr) {
      sides_.at(side).operations.push_back(i);
      ++all_;
    } else if (operation(i).end != analysis::MessageEnd::refused) {
      sides_.at(1 - side).from_program.push_back(i);
      if (!operation(i).is_message()) ++all_;
    }
    if (operation(i).is_message() && ends_.at(1 - side) != nullptr &&
        operation(i).end != analysis::MessageEnd::refused) {
      sides_.at(1 - side).messages.push_back(i);
      ++all_;
    }
  }
}

void Player::give_up(std::string why) {
  report_.error = std::move(why);
  is_over_ = true;
}

void Player::differ(std::uint64_t frame, std::string text) {
  ++report_.difference_count;
  if (report_.differences.size() < kMostDifferences) report_.differences.push_back({frame, std::move(text)});
}

void Player::take_ended(std::uint8_t side, const EndedRequest& request, Time now) {
  const CapturedOperation& captured = operation(request.operation);
  sides_.at(side).ended.push_back(now);
  const bool was_refused = captured.end == analysis::MessageEnd::refused;
  const std::string_view name = name_of(captured.operation);
  if (!request.error.empty()) {
    if (was_refused) {
      ++report_.completed;
    } else {
      differ(captured.frame, fmt::format("the {} ended with \"{}\"; in the capture it succeeded", name, request.error));
    }
    // A failed request breaks its queue pair, here as in the capture.
    if (was_refused) {
      is_over_ = true;
    } else {
      give_up(fmt::format("the {} of frame {} failed: {}", name, captured.frame, request.error));
    }
    return;
  }
  if (was_refused) return differ(captured.frame, fmt::format("the {} succeeded; in the capture it was refused", name));
  if (captured.finish != kNever) {
    report_.captured.add(between(captured.start, captured.finish));
    report_.live.add(now - posted_at_[request.operation]);
  }
  if (returns_data(captured.operation)) {
    report_.compared_bytes += captured.data.size();
    if (request.data != captured.data) {
      return differ(captured.frame, fmt::format("the {} got other data than in the capture, from byte {} on", name,
                                                first_difference(request.data, captured.data)));
    }
  }
  ++report_.completed;
}

void Player::take_arrived(std::uint8_t side, const ArrivedMessage& message, Time now) {
  Side& here = sides_.at(side);
  if (here.arrived.size() == here.messages.size()) {
    return differ(0, fmt::format("a message of {} bytes came that the capture does not have", message.length));
  }
  const CapturedOperation& captured = operation(here.messages[here.arrived.size()]);
  here.arrived.push_back(now);
  const auto text = [](const std::optional<std::uint32_t>& immediate) {
    return immediate ? fmt::format("0x{:08x}", *immediate) : std::string{"none"};
  };
  const bool is_write = captured.operation == Operation::write;
  if (is_write != message.is_write) {
    return differ(captured.frame,
                  fmt::format("a {} came, in the capture a {}", message.is_write ? "WRITE with immediate" : "SEND",
                              name_of(captured.operation)));
  }
  if (message.length != captured.length) {
    return differ(captured.frame, fmt::format("{} bytes came, in the capture {}", message.length, captured.length));
  }
  if (message.immediate != captured.immediate) {
    return differ(captured.frame, fmt::format("the immediate data are {}, in the capture {}", text(message.immediate),
                                              text(captured.immediate)));
  }
  if (!is_write) {
    report_.compared_bytes += captured.data.size();
    if (message.data != captured.data) {
      return differ(captured.frame, fmt::format("other data than in the capture came, from byte {} on",
                                                first_difference(message.data, captured.data)));
    }
  }
  ++report_.arrived;
}

Time Player::due(const Side& side) const {
  if (side.posted == side.operations.size() || side.posted - side.ended.size() >= kMostRequests) return kNever;
  const CapturedOperation& next = operation(side.operations[side.posted]);
  if (side.ended.size() < next.after_completed || side.arrived.size() < next.after_arrived) return kNever;
  Time latest = side.posted == 0 ? begun_ : posted_at_[side.operations[side.posted - 1]];
  if (next.after_completed != 0) latest = std::max(latest, side.ended[next.after_completed - 1]);
  if (next.after_arrived != 0) latest = std::max(latest, side.arrived[next.after_arrived - 1]);
  if (options_.speed == 0) return latest;
  // Longer times do not fit into a duration.
  constexpr auto most = static_cast<double>(std::int64_t{1} << 62);
  const double think = std::min(static_cast<double>(next.think.count()) / options_.speed, most);
  return later_by(latest, Duration{static_cast<Duration::rep>(think)});
}

LivePlace Player::place_of(const CapturedOperation& wanted) const {
  const RKey key = wanted.invalidate ? *wanted.invalidate : wanted.r_key;
  const std::uint8_t owner = 1 - wanted.side;
  const CapturedMemory& memory = *memories_.at(owner);
  const std::size_t region = memory.region_of(key);
  if (ends_.at(owner) != nullptr && region != memory.regions.size()) {
    const LivePlace begin = ends_.at(owner)->place(region);
    return {begin.address + (wanted.remote_address - memory.regions[region].address), begin.r_key};
  }
  const auto given = std::ranges::find(remote_, key, &RemoteMemory::captured);
  if (ends_.at(owner) == nullptr && given != remote_.end()) {
    return {given->place.address + (wanted.remote_address - given->captured_address), given->place.r_key};
  }
  // A request that was refused in the capture is to be refused again.
  return {wanted.remote_address, wanted.r_key};
}

bool Player::change_memory(std::uint8_t owner, std::size_t index) {
  const CapturedMemory& memory = *memories_.at(owner);
  std::size_t& done = changes_done_.at(owner);
  while (done < memory.changes.size() && memory.changes[done].operation <= index) {
    const MemoryChange& change = memory.changes[done];
    // An earlier request may still be on its way to the same place.
    const Side& requester = sides_.at(1 - owner);
    if (ends_.at(1 - owner) != nullptr && requester.ended.size() != requester.posted) return false;
    if (Outcome<void> written = ends_.at(owner)->write_memory(change.region, change.offset, change.data); !written) {
      give_up(written.error().message);
      return false;
    }
    ++done;
  }
  return true;
}

bool Player::watch_program(std::uint8_t index) {
  Side& side = sides_.at(index);
  const std::optional<std::uint32_t> count = ends_.at(index)->carried_out();
  if (side.from_program.empty() || !count) return false;
  // The count is an MSN and wraps; it goes on from its last value.
  const std::size_t more = (*count - side.carried_out) & Msn::kMax;
  if (more != 0) {
    side.carried_out += more;
    report_.carried_out = side.carried_out - std::min(side.carried_out, side.arrived.size());
  }
  if (side.carried_out < side.from_program.size()) (void)change_memory(index, side.from_program[side.carried_out]);
  return more != 0;
}

bool Player::post_next(std::uint8_t index, Time now) {
  Side& side = sides_.at(index);
  const std::size_t next = side.operations[side.posted];
  const std::uint8_t other = 1 - index;
  if (ends_.at(other) != nullptr && !change_memory(other, next)) return false;
  if (ends_.at(other) == nullptr) {
    // Our message tells the program that our memory is ready, so the next changes have to be made before it goes.
    const auto following = side.posted + 1 < side.operations.size() ? side.operations[side.posted + 1] : SIZE_MAX - 1;
    if (!change_memory(index, following)) return false;
  }
  if (Outcome<void> posted = ends_.at(index)->post(next, place_of(operation(next))); !posted) {
    give_up(posted.error().message);
    return false;
  }
  posted_at_[next] = now;
  ++side.posted;
  return true;
}

bool Player::is_complete() const {
  for (std::uint8_t i = 0; i < 2; ++i) {
    const Side& side = sides_.at(i);
    if (ends_.at(i) == nullptr) continue;
    if (side.ended.size() != side.operations.size() || side.arrived.size() != side.messages.size()) return false;
    if (side.carried_out < side.from_program.size()) return false;
  }
  return true;
}

void Player::compare_memory(std::uint8_t owner) {
  if (ends_.at(owner) == nullptr) return;
  const CapturedMemory& memory = *memories_.at(owner);
  for (std::size_t region = 0; region < memory.regions.size(); ++region) {
    const Outcome<std::vector<std::byte>> found = ends_.at(owner)->read_memory(region);
    if (!found) return give_up(found.error().message);
    const std::vector<std::byte>& expected = memory.regions[region].after;
    report_.compared_bytes += expected.size();
    if (*found == expected) continue;
    differ(0, fmt::format("in the end the memory with R_Key 0x{:08x} differs from the capture's, from byte {} on",
                          memory.regions[region].r_key.value(), first_difference(*found, expected)));
  }
}

bool Player::step(Time now) {
  if (is_over_) return false;
  bool moved = false;
  if (!has_begun_) {
    has_begun_ = moved = true;
    begun_ = last_progress_ = now;
  }
  for (std::uint8_t i = 0; i < 2; ++i) {
    PlayedEnd* const end = ends_.at(i);
    if (end == nullptr) continue;
    if (Outcome<void> polled = end->poll(); !polled) give_up(polled.error().message);
    for (; !end->arrived.empty(); end->arrived.pop_front(), moved = true) take_arrived(i, end->arrived.front(), now);
    moved = watch_program(i) || moved;
    for (; !end->ended.empty(); end->ended.pop_front(), moved = true) take_ended(i, end->ended.front(), now);
  }
  for (std::uint8_t i = 0; i < 2; ++i) {
    while (!is_over_ && ends_.at(i) != nullptr && due(sides_.at(i)) <= now && post_next(i, now)) moved = true;
  }
  if (moved) last_progress_ = now;
  if (!is_over_ && is_complete()) {
    compare_memory(0);
    compare_memory(1);
    is_over_ = true;
  }
  if (!is_over_ && next_timeout() == later_by(last_progress_, options_.silence) && now >= next_timeout()) {
    give_up(fmt::format("nothing happened for {} s with {} of {} requests and messages done",
                        std::chrono::duration_cast<std::chrono::seconds>(options_.silence).count(), done(), all()));
  }
  return moved;
}

Time Player::next_timeout() const {
  Time next = kNever;
  for (std::uint8_t i = 0; i < 2; ++i) {
    if (ends_.at(i) != nullptr) next = std::min(next, due(sides_.at(i)));
  }
  // A request whose time is known may be due later than the silence allows.
  return next != kNever ? next : later_by(last_progress_, options_.silence);
}

}  // namespace roce::replay
