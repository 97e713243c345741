// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "bare/decode.h"
#include "bare/encode.h"
#include "bare/packet_socket.h"
#include "bare/xdp_socket.h"
#include "live/bare_headers.h"
#include "live/gaps.h"
#include "live/runs.h"
#include "live/two_ends.h"

namespace roce::bench {

namespace {

using bare::PacketSocket;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRegion = 16 << 20;
constexpr std::size_t kSmall = 16;
constexpr std::size_t kAethBytes = 4;
constexpr auto kPatience = std::chrono::seconds{20};

template <typename Received>
[[nodiscard]] bool is_good(const Received& frame, bare::Decoded& packet) {
  constexpr std::size_t ip = 14;
  if (!bare::decode(frame.bytes, frame.size, packet)) return false;
  std::uint32_t stored = 0;
  std::memcpy(&stored, frame.bytes + ip + packet.ip_length - 4, sizeof stored);
  return stored == bare::icrc(frame.bytes + ip, packet.ip_length);
}

/// Copies `packets` payloads of `bytes` out of memory, sends them, receives them, checks them and copies them into
/// memory at the other end. Returns how many arrived per second.
template <typename Socket>
[[nodiscard]] double packets_a_second(const Wire& wire, std::uint8_t opcode, std::size_t header_bytes,
                                      std::size_t bytes, std::uint64_t packets) {
  Socket near{wire.near};
  Socket far{wire.far};
  std::vector<std::uint8_t> source(kRegion, 1);
  std::vector<std::uint8_t> destination(kRegion, 2);
  std::uint64_t arrived = 0;
  std::atomic<bool> all_taken{false};
  Clock::time_point last{};
  Clock::time_point start{};
  run_two_ends(
      [&] {
        const Headers headers{opcode, near.mac(), far.mac(), header_bytes, bytes};
        start = Clock::now();
        std::size_t offset = 0;
        for (std::uint64_t sent = 0; sent < packets;) {
          const std::size_t batch = std::min<std::uint64_t>(Socket::kBatch, packets - sent);
          for (std::size_t i = 0; i < batch; ++i) {
            near.set_length(i, bare::encode(headers.bytes.data(), header_bytes, static_cast<std::uint32_t>(sent + i),
                                            source.data() + offset, bytes, near.frame(i)));
            offset = offset + 2 * bytes > kRegion ? 0 : offset + bytes;
          }
          near.send(batch);
          sent += batch;
        }
        // The far end empties its ring until it sees one more frame, which is repeated because a full ring loses it.
        near.set_length(0, bare::encode(headers.bytes.data(), header_bytes, static_cast<std::uint32_t>(packets),
                                        source.data(), bytes, near.frame(0)));
        const Clock::time_point end = Clock::now();
        while (!all_taken) {
          near.send(1);
          const Clock::time_point again = Clock::now() + std::chrono::milliseconds{1};
          while (!all_taken && Clock::now() < again) {
          }
          if (Clock::now() - end > kPatience) throw std::runtime_error("the far end does not take what was sent");
        }
      },
      [&](const std::atomic<bool>& stop) {
        std::size_t offset = 0;
        while (!stop.load(std::memory_order_relaxed)) {
          const typename Socket::Received frame = far.receive();
          if (frame.bytes == nullptr) continue;
          bare::Decoded packet{};
          if (is_good(frame, packet)) {
            if (packet.psn == packets) {
              all_taken = true;
              break;
            }
            std::memcpy(destination.data() + offset, packet.payload, packet.payload_length);
            offset = offset + 2 * bytes > kRegion ? 0 : offset + bytes;
            ++arrived;
            last = Clock::now();
          }
          far.release();
        }
      });
  if (arrived == 0) throw std::runtime_error("no frame arrived");
  return static_cast<double>(arrived) / std::chrono::duration<double>(last - start).count();
}

/// One end of a ping-pong: sends messages, and an ACK for each message that arrives.
class Player {
 public:
  Player(PacketSocket& socket, const PacketSocket& other, bool blocking)
      : socket_(socket),
        blocking_(blocking),
        message_{kSendOnly, socket.mac(), other.mac(), bare::kHeaderBytes, kSmall},
        ack_{kAcknowledge, socket.mac(), other.mac(), bare::kHeaderBytes + kAethBytes, 0} {}

  void play() { send(message_, kSmall); }
  /// Waits for a message and acknowledges it. Returns false if `stop` was set first.
  [[nodiscard]] bool take(const std::atomic<bool>* stop) {
    constexpr int patience_ms = 20;
    while (true) {
      const PacketSocket::Received frame = socket_.receive();
      if (frame.bytes == nullptr) {
        if (stop != nullptr && *stop) return false;
        if (blocking_) socket_.wait(patience_ms);
        continue;
      }
      bare::Decoded packet{};
      const bool is_message = is_good(frame, packet) && packet.opcode == kSendOnly;
      if (is_message) std::memcpy(data_.data(), packet.payload, std::min<std::size_t>(packet.payload_length, kSmall));
      socket_.release();
      if (!is_message) continue;
      send(ack_, 0);
      return true;
    }
  }

 private:
  static constexpr std::uint8_t kSendOnly = 0x04;
  static constexpr std::uint8_t kAcknowledge = 0x11;

  void send(const Headers& headers, std::size_t bytes) {
    socket_.set_length(
        0, bare::encode(headers.bytes.data(), headers.header_bytes, psn_++, data_.data(), bytes, socket_.frame(0)));
    socket_.send(1);
  }

  PacketSocket& socket_;
  bool blocking_;
  Headers message_;
  Headers ack_;
  std::array<std::uint8_t, kSmall> data_{};
  std::uint32_t psn_ = 0;
};

}  // namespace

double bare_goodput(const Wire& wire, std::uint32_t mtu, std::uint64_t packets, Path path) {
  constexpr std::uint8_t write_middle = 0x07;
  constexpr double bits = 8;
  const double rate = path == Path::xdp
                          ? packets_a_second<bare::XdpSocket>(wire, write_middle, bare::kHeaderBytes, mtu, packets)
                          : packets_a_second<PacketSocket>(wire, write_middle, bare::kHeaderBytes, mtu, packets);
  return rate * mtu * bits;
}

double bare_message_rate(const Wire& wire, std::uint64_t messages) {
  constexpr std::uint8_t write_only = 0x0A;
  return packets_a_second<PacketSocket>(wire, write_only, bare::kHeaderBytes + kRethBytes, kSmall, messages);
}

double bare_round_trip(const Wire& wire, std::uint64_t rounds, bool blocking) {
  PacketSocket near{wire.near};
  PacketSocket far{wire.far};
  std::vector<double> times;
  times.reserve(rounds);
  run_two_ends(
      [&] {
        Player player{near, far, blocking};
        for (std::uint64_t i = 0; i < rounds; ++i) {
          const Clock::time_point start = Clock::now();
          player.play();
          (void)player.take(nullptr);
          times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
        }
      },
      [&](const std::atomic<bool>& stop) {
        Player player{far, near, blocking};
        while (player.take(&stop)) player.play();
      });
  return median(std::move(times));
}

Pace bare_pace(const Wire& wire, std::uint64_t packets_per_second, std::uint64_t packets) {
  PacketSocket near{wire.near};
  PacketSocket far{wire.far};
  GapMeter meter{packets};
  run_two_ends(
      [&] {
        const Headers headers{0x0A, near.mac(), far.mac(), bare::kHeaderBytes + kRethBytes, kSmall};
        const std::vector<std::uint8_t> source(kSmall);
        const std::chrono::nanoseconds gap{1'000'000'000 / packets_per_second};
        Clock::time_point due = Clock::now();
        const Clock::time_point start = due;
        for (std::uint64_t i = 0; i < packets; ++i, due += gap) {
          near.set_length(0, bare::encode(headers.bytes.data(), bare::kHeaderBytes + kRethBytes,
                                          static_cast<std::uint32_t>(i), source.data(), kSmall, near.frame(0)));
          while (Clock::now() < due) {
          }
          near.send(1);
          if (due - start > kPatience) throw std::runtime_error("paced sending takes too long");
        }
        meter.wait_for_all();
      },
      [&](const std::atomic<bool>& stop) { meter.listen(far, stop); });
  return meter.pace(packets_per_second);
}

}  // namespace roce::bench
