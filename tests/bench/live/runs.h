// SPDX-License-Identifier: BSD-2-Clause
// The measurements on a wire between two interfaces: each by our endpoints and by bare loops on the same path.
#pragma once

#include <cstdint>
#include <string>

namespace roce::bench {

/// The two interfaces; both are seen from the namespace of the calling thread.
struct Wire {
  std::string near;
  std::string far;
};

/// The kind of link that carries the frames.
enum class Path : std::uint8_t {
  raw,
  segmented,  ///< raw, as super-frames
  xdp
};

/// Measures one way, from the near to the far end: bits of payload per second.
[[nodiscard]] double our_goodput(const Wire& wire, std::uint32_t mtu, std::uint32_t message_bytes,
                                 std::uint64_t messages, Path path);
[[nodiscard]] double bare_segmented_goodput(const Wire& wire, std::uint32_t mtu, std::uint64_t packets);
[[nodiscard]] double bare_goodput(const Wire& wire, std::uint32_t mtu, std::uint64_t packets, Path path);

/// Measures one way: messages of 16 bytes per second.
[[nodiscard]] double our_message_rate(const Wire& wire, std::uint64_t messages, Path path);
[[nodiscard]] double bare_segmented_message_rate(const Wire& wire, std::uint64_t messages);
[[nodiscard]] double bare_message_rate(const Wire& wire, std::uint64_t messages);

/// Measures there and back with 16 bytes: the median in nanoseconds.
[[nodiscard]] double our_round_trip(const Wire& wire, std::uint64_t rounds, bool blocking);
[[nodiscard]] double bare_round_trip(const Wire& wire, std::uint64_t rounds, bool blocking);

/// The evenness of packets that are to go at `packets_per_second`.
struct Pace {
  double gap_error_ns = 0;  ///< median deviation of the gaps from the planned gap
  double drift = 0;         ///< extra duration of the whole, as a part of the planned duration
};
[[nodiscard]] Pace our_pace(const Wire& wire, std::uint64_t packets_per_second, std::uint64_t packets);
[[nodiscard]] Pace bare_pace(const Wire& wire, std::uint64_t packets_per_second, std::uint64_t packets);

/// RC SENDs with a PSN that counts and a right ICRC, made and sent to nobody: frames per second of processor time. For
/// programs (`roce-gen craft` and trafgen) this includes their start. The ICRC of trafgen is constant and not right.
[[nodiscard]] double our_craft_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames, Path path);
[[nodiscard]] double bare_craft_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames);
[[nodiscard]] double trafgen_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames);

}  // namespace roce::bench
