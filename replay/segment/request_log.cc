// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/request_log.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "roce/wire/reth.h"

namespace roce::replay {

namespace {

constexpr std::uint32_t kLeastMtu = 256;

/// Returns how many packets a message of `bytes` takes.
[[nodiscard]] std::uint32_t packets_for(std::uint64_t bytes, std::uint32_t mtu) {
  return std::max(1U, static_cast<std::uint32_t>((bytes + mtu - 1) / mtu));
}

}  // namespace

std::string_view to_string(Uncuttable reason) {
  switch (reason) {
    case Uncuttable::began_before:
      return "it had begun before the capture";
    case Uncuttable::packets_missing:
      return "packets are missing, and how long their messages were is not known";
    case Uncuttable::payload_cut:
      return "the snap length cut payload off";
    case Uncuttable::contradiction:
      return "its packets contradict one another";
    case Uncuttable::path_mtu_unknown:
      return "a READ was not answered, and nothing else tells the path MTU";
    case Uncuttable::path_mtu_odd:
      return "its packets are not cut at a path MTU";
    case Uncuttable::not_joined:
      return "which answers belong to its requests is not known";
  }
  return {};
}

RequestLog::Run RequestLog::run_of(const Packet& packet) const {
  const OpcodeInfo& info = packet.info();
  const std::optional<Reth> reth = packet.get<Reth>();
  Run run{.length = packet.payload_length(), .operation = info.operation};
  if (info.operation == Operation::read_request) {
    run.kind = Kind::read;
    run.length = reth ? reth->dma_length : 0;
    return run;
  }
  if (info.operation != Operation::send && info.operation != Operation::write) return {.length = 0};
  switch (info.position) {
    case Position::first:
      run.kind = Kind::first;
      run.length = reth ? reth->dma_length : 0;
      return run;
    case Position::middle:
      run.kind = Kind::middle;
      return run;
    case Position::last:
      run.kind = Kind::last;
      return run;
    case Position::only:
      break;
  }
  // All requests that take one PSN before and afterwards are alike.
  if (run.length <= new_mtu_) return {.length = 0};
  run.kind = Kind::only;
  return run;
}

void RequestLog::add(const Packet& packet) {
  Run run = run_of(packet);
  run.psn = counter_.unwrap(packet.bth().psn);
  counter_.note(run.psn);
  const auto append_to = [](Run& before, const Run& next) {
    // The PSN after a READ may belong to its answer.
    const bool takes_one = before.kind != Kind::read || before.length <= kLeastMtu;
    if (before.end() != next.psn || !before.is_like(next) || !takes_one) return false;
    ++before.count;
    return true;
  };
  if (runs_.empty() || run.psn >= runs_.back().end()) {
    if (runs_.empty() || !append_to(runs_.back(), run)) runs_.push_back(run);
    return;
  }
  const auto behind =
      std::upper_bound(runs_.begin(), runs_.end(), run.psn, [](LongPsn psn, const Run& one) { return psn < one.psn; });
  if (behind != runs_.begin()) {
    const Run& before = *(behind - 1);
    if (run.psn < before.end()) {
      is_contradictory_ = is_contradictory_ || !before.is_like(run);
      return;
    }
  }
  runs_.insert(behind, run);
}

/// Puts the packets of a log together into messages.
class RequestLog::Walk {
 public:
  Walk(std::uint32_t old_mtu, std::uint32_t new_mtu, std::uint32_t longest)
      : old_mtu_(old_mtu),
        longest_(std::max(kLeastMtu, std::bit_ceil(longest))),
        map_(old_mtu != 0 ? old_mtu : std::max(longest_, new_mtu), new_mtu) {}

  [[nodiscard]] std::optional<Uncuttable> take(Run run, bool is_newest) {
    // Nothing depends on how many PSNs the newest READ takes.
    if (is_newest && old_mtu_ == 0 && run.kind == Kind::read && !takes_one(run)) return std::nullopt;
    if (!next_) next_ = run.psn;
    if (run.psn < *next_) {
      // A READ within the PSNs of an earlier one may ask for its rest.
      const auto inside = static_cast<std::uint32_t>(std::min<LongPsn>(*next_ - run.psn, run.count));
      if (run.kind != Kind::read) return Uncuttable::contradiction;
      run.psn += inside;
      run.count -= inside;
      if (run.count == 0) return std::nullopt;
    }
    if (run.psn > *next_) {
      if (!bridge(static_cast<std::uint32_t>(run.psn - *next_), run)) return Uncuttable::packets_missing;
      next_ = run.psn;
    }
    const std::optional<Uncuttable> problem = add(run);
    return problem;
  }

  /// True if each READ of a run is known to be answered by one packet.
  [[nodiscard]] bool takes_one(const Run& run) const { return run.length <= (old_mtu_ != 0 ? old_mtu_ : longest_); }

  [[nodiscard]] PsnMap finish() {
    close();
    return std::move(map_);
  }

 private:
  struct Open {
    LongPsn first = 0;
    std::uint32_t count = 0;
    std::uint32_t length = 0;  ///< bytes of the whole message; 0 unknown
    Operation operation{};
  };

  /// True if the `missing` PSNs before a run can only be packets of the open message, which then gets them.
  [[nodiscard]] bool bridge(std::uint32_t missing, const Run& run) {
    if (!open_) return false;
    const bool goes_on = (run.kind == Kind::middle || run.kind == Kind::last) && run.operation == open_->operation;
    if (open_->length != 0) {
      const std::uint32_t left =
          packets_for(open_->length, old_mtu_) - std::min(open_->count, packets_for(open_->length, old_mtu_));
      if (goes_on ? missing >= left : missing != left) return false;
    } else if (!goes_on || missing != 1) {
      // Two or more may be the end of one SEND and the start of another.
      return false;
    }
    open_->count += missing;
    return true;
  }

  [[nodiscard]] std::optional<Uncuttable> add(const Run& run) {
    const bool goes_on = run.kind == Kind::middle || run.kind == Kind::last;
    if (!goes_on) close();
    next_ = run.end();
    switch (run.kind) {
      case Kind::single:
        return std::nullopt;
      case Kind::only:
        for (std::uint32_t i = 0; i < run.count; ++i) {
          map_.add(run.psn + i, 1, packets_for(run.length, map_.new_mtu()));
        }
        return std::nullopt;
      case Kind::read:
        return add_read(run);
      case Kind::first:
        open_ = Open{.first = run.psn, .count = run.count, .length = run.length, .operation = run.operation};
        return run.count == 1 ? std::nullopt : std::optional{Uncuttable::contradiction};
      case Kind::middle:
      case Kind::last:
        break;
    }
    if (!open_) {
      if (map_.joins()) return Uncuttable::began_before;
      open_ = Open{.first = run.psn, .operation = run.operation};
    }
    if (open_->operation != run.operation) return Uncuttable::contradiction;
    open_->count += run.count;
    if (run.kind == Kind::last) end(std::uint64_t{open_->count - 1} * old_mtu_ + run.length);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Uncuttable> add_read(const Run& run) {
    if (old_mtu_ == 0 && !takes_one(run)) return Uncuttable::path_mtu_unknown;
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const std::uint32_t old_count = old_mtu_ == 0 ? 1 : packets_for(run.length, old_mtu_);
      map_.add(run.psn + i, old_count, packets_for(run.length, map_.new_mtu()));
      next_ = run.psn + i + old_count;
    }
    return std::nullopt;
  }

  void end(std::uint64_t bytes) {
    map_.add(open_->first, open_->count, packets_for(bytes, map_.new_mtu()));
    open_.reset();
  }

  /// Ends the open message; without its end it is taken to be as long as its packets so far.
  void close() {
    if (open_) end(std::uint64_t{open_->count} * old_mtu_);
  }

  std::uint32_t old_mtu_;
  std::uint32_t longest_;
  PsnMap map_;
  std::optional<LongPsn> next_{};
  std::optional<Open> open_{};
};

tl::expected<PsnMap, Uncuttable> RequestLog::map(std::uint32_t old_mtu, std::uint32_t longest) const {
  Walk walk{old_mtu, new_mtu_, longest};
  const bool needs_cut = std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
    return run.kind != Kind::single && (run.kind != Kind::read || run.length > new_mtu_ || !walk.takes_one(run));
  });
  if (!needs_cut) return walk.finish();
  if (is_contradictory_) return tl::unexpected(Uncuttable::contradiction);
  for (const Run& run : runs_) {
    const bool is_newest = &run == &runs_.back();
    if (const std::optional<Uncuttable> problem = walk.take(run, is_newest)) return tl::unexpected(*problem);
  }
  return walk.finish();
}

}  // namespace roce::replay
