// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "bare/packet_socket.h"
#include "live/gaps.h"
#include "live/live_end.h"
#include "live/runs.h"
#include "live/two_ends.h"

namespace roce::bench {

namespace {

using transport::WorkOpcode;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSmall = 16;
constexpr Duration kPatience = std::chrono::seconds{20};

[[nodiscard]] double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void serve(LiveEnd& end, const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) (void)end.turn();
}

/// Makes `messages` WRITEs of `bytes` each, with `depth` under way; returns the seconds that this took.
[[nodiscard]] double write_all(LiveEnd& near, LiveEnd& far, std::uint32_t bytes, std::uint64_t messages,
                               std::uint64_t depth, std::size_t region) {
  double seconds = 0;
  run_two_ends(
      [&] {
        const Clock::time_point start = Clock::now();
        std::uint64_t posted = 0;
        std::uint64_t done = 0;
        std::size_t offset = 0;
        while (done < messages) {
          for (; posted < messages && posted - done < depth; ++posted) {
            near.post(WorkOpcode::write, offset, bytes);
            offset = offset + 2 * std::size_t{bytes} > region ? 0 : offset + bytes;
          }
          (void)near.turn();
          done += near.poll().sends;
          if (seconds_since(start) > 20) throw std::runtime_error("an exchange does not end");
        }
        seconds = seconds_since(start);
      },
      [&](const std::atomic<bool>& stop) { serve(far, stop); });
  return seconds;
}

}  // namespace

double our_goodput(const Wire& wire, std::uint32_t mtu, std::uint32_t message_bytes, std::uint64_t messages,
                   Path path) {
  const LiveShape shape{.mtu = mtu, .path = path};
  LiveEnd near{wire.near, 1, shape};
  LiveEnd far{wire.far, 2, shape};
  LiveEnd::connect(near, far);
  const double seconds = write_all(near, far, message_bytes, messages, 8, shape.region_bytes);
  if (!std::equal(near.memory().begin(), near.memory().begin() + message_bytes, far.memory().begin())) {
    throw std::runtime_error("the data did not arrive");
  }
  return static_cast<double>(messages) * message_bytes * 8 / seconds;
}

double our_message_rate(const Wire& wire, std::uint64_t messages, Path path) {
  LiveShape shape{.region_bytes = 1 << 20, .path = path};
  shape.profile.messages_per_ack_request = 16;
  LiveEnd near{wire.near, 1, shape};
  LiveEnd far{wire.far, 2, shape};
  LiveEnd::connect(near, far);
  return static_cast<double>(messages) / write_all(near, far, kSmall, messages, 256, shape.region_bytes);
}

double our_round_trip(const Wire& wire, std::uint64_t rounds, bool blocking) {
  LiveShape shape{.region_bytes = 4096};
  // A delayed ACK would cost a sleeping end an additional wake-up.
  if (blocking) shape.profile = transport::strict_profile();
  LiveEnd near{wire.near, 1, shape};
  LiveEnd far{wire.far, 2, shape};
  LiveEnd::connect(near, far);
  near.post_receive(0, kSmall);
  far.post_receive(0, kSmall);
  const auto step = [blocking](LiveEnd& end) {
    (void)end.turn();
    const LiveEnd::Completed completed = end.poll();
    // The wait returns at once if there is more to do.
    if (blocking && completed.receives == 0) end.wait();
    return completed.receives;
  };
  std::vector<double> times;
  times.reserve(rounds);
  run_two_ends(
      [&] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
          const Clock::time_point start = Clock::now();
          near.post(WorkOpcode::send, 0, kSmall);
          while (step(near) == 0) {
            if (Clock::now() - start > kPatience) throw std::runtime_error("a ping was not answered");
          }
          near.post_receive(0, kSmall);
          times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
        }
      },
      [&](const std::atomic<bool>& stop) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
          while (step(far) == 0) {
            if (stop) return;
          }
          far.post_receive(0, kSmall);
          far.post(WorkOpcode::send, 0, kSmall);
        }
        // The last response is not out yet, and may have to be sent again.
        while (!stop) (void)far.turn();
      });
  return median(std::move(times));
}

Pace our_pace(const Wire& wire, std::uint64_t packets_per_second, std::uint64_t packets) {
  // UC does not have ACKs, so that all packets that the far end sees are paced.
  const LiveShape shape{.type = transport::QpType::uc, .region_bytes = 4096, .packets_per_second = packets_per_second};
  LiveEnd near{wire.near, 1, shape};
  bare::PacketSocket far{wire.far};
  LiveEnd other{wire.far, 2, shape};
  LiveEnd::connect(near, other);
  GapMeter meter{packets};
  run_two_ends(
      [&] {
        const Clock::time_point start = Clock::now();
        std::uint64_t posted = 0;
        std::uint64_t done = 0;
        while (done < packets) {
          for (; posted < packets && posted - done < 64; ++posted) near.post(WorkOpcode::write, 0, kSmall);
          (void)near.turn();
          done += near.poll().sends;
          if (Clock::now() - start > kPatience) throw std::runtime_error("paced sending does not end");
        }
        meter.wait_for_all();
      },
      [&](const std::atomic<bool>& stop) { meter.listen(far, stop); });
  return meter.pace(packets_per_second);
}

}  // namespace roce::bench
