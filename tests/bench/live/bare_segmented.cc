// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "bare/crc.h"
#include "bare/segment_socket.h"
#include "live/bare_headers.h"
#include "live/runs.h"
#include "live/two_ends.h"

namespace roce::bench {

namespace {

using bare::SegmentSocket;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRegion = 16 << 20;
constexpr std::size_t kSmall = 16;
constexpr std::size_t kIp = 14;
constexpr std::size_t kBthOffset = 42;
constexpr std::size_t kBth = 12;
constexpr std::size_t kReth = 16;
constexpr std::size_t kIcrc = 4;
constexpr std::size_t kMaxSegments = 64;
constexpr std::size_t kMaxFrame = 65535;
constexpr auto kPatience = std::chrono::seconds{20};

void store16(std::uint8_t* at, std::size_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}

/// The ICRC of one packet of a super-frame, with the IP and UDP headers that the packet will have of its own.
class SegmentIcrc {
 public:
  explicit SegmentIcrc(const std::uint8_t* ip) {
    masked_.fill(0xFF);
    std::memcpy(masked_.data() + kPrefix, ip, kNetwork);
    std::uint8_t* header = masked_.data() + kPrefix;
    header[1] = 0xFF;
    header[8] = 0xFF;
    header[10] = header[11] = 0xFF;
    header[26] = header[27] = 0xFF;
  }

  [[nodiscard]] std::uint32_t of(const std::uint8_t* bth, std::size_t size, std::size_t ip_id) {
    std::uint8_t* header = masked_.data() + kPrefix;
    store16(header + 2, kNetwork + size);
    store16(header + 4, ip_id);
    store16(header + 24, kNetwork - 20 + size);
    std::memcpy(header + kNetwork, bth, kBth);
    header[kNetwork + 4] = 0xFF;
    return bare::crc(bare::crc(0, masked_.data(), masked_.size()), bth + kBth, size - kBth - kIcrc);
  }

 private:
  static constexpr std::size_t kPrefix = 8;
  static constexpr std::size_t kNetwork = 28;
  std::array<std::uint8_t, kPrefix + kNetwork + kBth> masked_{};
};

/// Packets of one kind and size, as many as fit into a super-frame.
struct Shape {
  std::uint8_t opcode;
  std::size_t header_bytes;  ///< BTH and the headers between it and the payload
  std::size_t payload;

  [[nodiscard]] std::size_t segment_size() const { return header_bytes + payload + kIcrc; }
  [[nodiscard]] std::size_t segments() const {
    return std::min(kMaxSegments, (kMaxFrame - kBthOffset) / segment_size());
  }
};

/// Writes a super-frame into the frame `place`, with the payloads of `source` from `offset` on.
class Writer {
 public:
  Writer(SegmentSocket& near, const SegmentSocket& far, const Shape& shape, const std::vector<std::uint8_t>& source)
      : near_(near),
        shape_(shape),
        source_(source),
        headers_(shape.opcode, near.mac(), far.mac(), kBthOffset + shape.header_bytes, shape.payload),
        icrc_(headers_.bytes.data() + kIp) {}

  void write(std::size_t place, std::uint64_t first_psn, std::size_t segments) {
    std::uint8_t* frame = near_.frame(place);
    std::memcpy(frame, headers_.bytes.data(), kBthOffset);
    const std::size_t size = shape_.segment_size();
    store16(frame + kIp + 2, 28 + segments * size);
    store16(frame + kIp + 4, ip_id_);
    store16(frame + kIp + 24, 8 + segments * size);
    for (std::size_t i = 0; i < segments; ++i) {
      std::uint8_t* bth = frame + kBthOffset + i * size;
      std::memcpy(bth, headers_.bytes.data() + kBthOffset, shape_.header_bytes);
      const std::uint64_t psn = first_psn + i;
      bth[9] = static_cast<std::uint8_t>(psn >> 16U);
      store16(bth + 10, psn);
      std::memcpy(bth + shape_.header_bytes, source_.data() + offset_, shape_.payload);
      offset_ = offset_ + 2 * shape_.payload > kRegion ? 0 : offset_ + shape_.payload;
      const std::uint32_t icrc = icrc_.of(bth, size, ip_id_++ & 0xFFFFU);
      std::memcpy(bth + size - kIcrc, &icrc, sizeof icrc);
    }
    // The sum over the pseudo header is left out: the UDP checksum does not matter to RoCE, and nothing here checks it.
    near_.set_length(place, kBthOffset + segments * size,
                     {1, 5, kBthOffset, static_cast<std::uint16_t>(size), kBthOffset - 8, 6});
  }

 private:
  SegmentSocket& near_;
  Shape shape_;
  const std::vector<std::uint8_t>& source_;
  Headers headers_;
  SegmentIcrc icrc_;
  std::size_t offset_ = 0;
  std::size_t ip_id_ = 0;
};

/// Splits super-frames, checks their packets and copies the payloads into memory.
class Reader {
 public:
  explicit Reader(const Shape& shape) : shape_(shape), destination_(kRegion, 2) {}

  /// Returns the number of good packets in a frame.
  [[nodiscard]] std::uint64_t read(const SegmentSocket::Received& frame) {
    if (frame.size < kBthOffset || frame.segment_size != shape_.segment_size()) return 0;
    SegmentIcrc icrc{frame.bytes + kIp};
    std::size_t id = std::size_t{frame.bytes[kIp + 4]} << 8U | frame.bytes[kIp + 5];
    std::uint64_t good = 0;
    for (std::size_t at = kBthOffset; at + frame.segment_size <= frame.size; at += frame.segment_size) {
      const std::uint8_t* bth = frame.bytes + at;
      std::uint32_t stored = 0;
      std::memcpy(&stored, bth + frame.segment_size - kIcrc, sizeof stored);
      if (icrc.of(bth, frame.segment_size, id++ & 0xFFFFU) != stored || bth[0] != shape_.opcode) continue;
      last_psn_ = std::uint32_t{bth[9]} << 16U | std::uint32_t{bth[10]} << 8U | bth[11];
      std::memcpy(destination_.data() + offset_, bth + shape_.header_bytes, shape_.payload);
      offset_ = offset_ + 2 * shape_.payload > kRegion ? 0 : offset_ + shape_.payload;
      ++good;
    }
    return good;
  }
  [[nodiscard]] std::uint32_t last_psn() const { return last_psn_; }

 private:
  Shape shape_;
  std::vector<std::uint8_t> destination_;
  std::size_t offset_ = 0;
  std::uint32_t last_psn_ = 0;
};

/// Returns how many packets arrived per second.
[[nodiscard]] double packets_a_second(const Wire& wire, const Shape& shape, std::uint64_t packets) {
  SegmentSocket near{wire.near};
  SegmentSocket far{wire.far};
  const std::vector<std::uint8_t> source(kRegion, 1);
  constexpr std::uint32_t last = 0xFF'FFFF;
  std::uint64_t arrived = 0;
  std::atomic<bool> all_taken{false};
  Clock::time_point start{};
  Clock::time_point end{};
  run_two_ends(
      [&] {
        Writer writer{near, far, shape, source};
        start = Clock::now();
        for (std::uint64_t sent = 0; sent < packets;) {
          std::size_t batch = 0;
          for (; batch < SegmentSocket::kBatch && sent < packets; ++batch, sent += shape.segments()) {
            writer.write(batch, sent, shape.segments());
          }
          near.send(batch);
        }
        // The far end still takes what waits: it is done when it sees one packet more.
        const Clock::time_point done = Clock::now();
        while (!all_taken) {
          writer.write(0, last - 1, 2);
          near.send(1);
          const Clock::time_point again = Clock::now() + std::chrono::milliseconds{1};
          while (!all_taken && Clock::now() < again) {
          }
          if (Clock::now() - done > kPatience) throw std::runtime_error("the far end does not take what was sent");
        }
      },
      [&](const std::atomic<bool>& stop) {
        Reader reader{shape};
        while (!stop.load(std::memory_order_relaxed) && !all_taken) {
          const std::size_t count = far.receive();
          for (std::size_t i = 0; i < count && !all_taken; ++i) {
            const std::uint64_t good = reader.read(far.received(i));
            if (good != 0 && reader.last_psn() == last) {
              all_taken = true;
            } else if (good != 0) {
              arrived += good;
              end = Clock::now();
            }
          }
        }
      });
  if (arrived == 0) throw std::runtime_error("no super-frame arrived");
  return static_cast<double>(arrived) / std::chrono::duration<double>(end - start).count();
}

}  // namespace

double bare_segmented_goodput(const Wire& wire, std::uint32_t mtu, std::uint64_t packets) {
  constexpr std::uint8_t write_middle = 0x07;
  constexpr double bits = 8;
  return packets_a_second(wire, {write_middle, kBth, mtu}, packets) * mtu * bits;
}

double bare_segmented_message_rate(const Wire& wire, std::uint64_t messages) {
  constexpr std::uint8_t write_only = 0x0A;
  return packets_a_second(wire, {write_only, kBth + kReth, kSmall}, messages);
}

}  // namespace roce::bench
