// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "model_program.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "sim/random.h"

namespace roce::model {

/// A link in both directions that loses, duplicates, reorders, corrupts and delays frames. Frames arrive in the order
/// of (time, number), so a seed always gives the same arrivals. It reuses the memory of its frames, which makes it
/// several times as fast as the simulated network of tests/sim: a program takes milliseconds.
class Link {
 public:
  struct Arrival {
    std::size_t to = 0;  ///< device
    std::vector<std::byte> bytes;
  };

  Link(const Faults& faults, std::uint64_t seed) : faults_(faults), random_(seed) {}

  void send(std::size_t from, Bytes frame, Time now) {
    if (hits(faults_.drop)) return;
    const int copies = hits(faults_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) put(1 - from, frame, now);
  }
  /// Returns the arrival time of the next frame; `kNever` if there is none.
  [[nodiscard]] Time next() const { return queue_.empty() ? kNever : queue_.top().at; }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Takes the next frame; there has to be one. It is valid until the next call.
  [[nodiscard]] const Arrival& take() {
    current_ = queue_.top().slot;
    queue_.pop();
    free_.push_back(current_);
    return frames_[current_];
  }

 private:
  struct Entry {
    Time at{};
    std::uint64_t number = 0;
    std::size_t slot = 0;

    friend bool operator>(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }
  };

  [[nodiscard]] bool hits(std::uint32_t chance) { return chance != 0 && random_.below(1024) < chance; }

  void put(std::size_t to, Bytes frame, Time now) {
    std::size_t slot = frames_.size();
    if (free_.empty()) {
      frames_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    Arrival& arrival = frames_[slot];
    arrival.to = to;
    arrival.bytes.assign(frame.begin(), frame.end());
    if (hits(faults_.corrupt)) {
      arrival.bytes[random_.below(frame.size())] ^= static_cast<std::byte>(1U << random_.below(8));
    }
    std::int64_t delay = faults_.delay_ns;
    if (faults_.jitter_ns != 0)
      delay += static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(faults_.jitter_ns)));
    if (hits(faults_.reorder))
      delay += static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(4 * faults_.delay_ns)));
    queue_.push({now + Duration{delay}, next_number_++, slot});
  }

  Faults faults_;
  sim::Random random_;
  std::uint64_t next_number_ = 0;
  std::vector<Arrival> frames_;
  std::vector<std::size_t> free_;
  std::size_t current_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace roce::model
