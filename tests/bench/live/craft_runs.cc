// SPDX-License-Identifier: BSD-2-Clause
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bare/encode.h"
#include "bare/xdp_sender.h"
#include "live/bare_headers.h"
#include "live/runs.h"
#include "roce/port/interface_traffic.h"
#include "roce/port/interfaces.h"

namespace roce::bench {

namespace {

// All frames go to a station that does not exist, so that the far end drops them as early as it can.
constexpr const char* kNobody = "02:00:00:00:00:77";
constexpr std::array<std::uint8_t, 6> kNobodyBytes{0x02, 0, 0, 0, 0, 0x77};

[[nodiscard]] double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Returns the processor time of all children that have ended, in seconds.
[[nodiscard]] double children_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

[[nodiscard]] std::uint64_t bytes_sent_by(const std::string& interface) {
  const auto found = port::find_interface(interface);
  const auto traffic = found ? port::interface_traffic(found->index) : tl::unexpected(found.error());
  if (!traffic) throw std::runtime_error(traffic.error().message);
  return traffic->sent_bytes;
}

/// Returns frames per second of a program's processor time, its start included.
[[nodiscard]] double rate_of(const Wire& wire, const std::string& command, std::uint64_t frames,
                             std::uint32_t payload) {
  const double before = children_seconds();
  const std::uint64_t sent = bytes_sent_by(wire.near);
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  if (status != 0) throw std::runtime_error("this failed: " + command);
  // An uncut super-frame counts as one frame, so bytes are compared.
  if (bytes_sent_by(wire.near) - sent < frames * payload)
    throw std::runtime_error("not all frames were sent by: " + command);
  return static_cast<double>(frames) / (children_seconds() - before);
}

/// Returns our packets in the language of trafgen: only one byte of the PSN counts up, and the ICRC is constant.
[[nodiscard]] std::string trafgen_packet(std::uint32_t payload) {
  constexpr std::uint32_t ip = 20;
  constexpr std::uint32_t udp = 8;
  constexpr std::uint32_t transport = 12 + 4;
  const std::string ip_length = std::to_string(ip + udp + transport + payload);
  const std::string udp_length = std::to_string(udp + transport + payload);
  return "{ 2,0,0,0,0,0x77, 2,0,0,0,0,1, 8,0, 0x45,0,c16(" + ip_length +
         "), 0,0,0x40,0, 64,17,csumip(14,33), 192,0,2,1, 192,0,2,2, 0xc0,0x11,0x12,0xb7,c16(" + udp_length +
         "),0,0, 4,0,0xff,0xff,0,0,0,17,0, 0,0,dinc(0,255), fill(0xaa," + std::to_string(payload) + "), 1,2,3,4 }";
}

}  // namespace

double our_craft_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames, Path path) {
  std::string options = path == Path::xdp ? "--link xdp" : "";
  if (path == Path::segmented) options = "--segmentation";
  return rate_of(wire,
                 std::string{"exec "} + ROCE_GEN + " craft -i " + wire.near + " " + options + " -n " +
                     std::to_string(frames) + " eth.dst=" + kNobody +
                     " eth.src=02:00:00:00:00:01 ip.src=192.0.2.1 ip.dst=192.0.2.2 udp.srcport=49169 "
                     "bth.dest_qp=17 bth.psn=+1 payload_length=" +
                     std::to_string(payload),
                 frames, payload);
}

double bare_craft_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames) {
  bare::XdpSender sender{wire.near};
  const Headers headers{0x04, kNobodyBytes, kNobodyBytes, bare::kHeaderBytes, payload};
  const std::vector<std::uint8_t> source(payload, 1);
  std::uint32_t psn = 0;
  const std::clock_t start = std::clock();
  for (std::uint64_t sent = 0; sent < frames; sent += bare::XdpSender::kBatch) {
    sender.send(bare::XdpSender::kBatch, [&](std::uint8_t* place) {
      return bare::encode(headers.bytes.data(), bare::kHeaderBytes, psn++, source.data(), payload, place);
    });
  }
  return static_cast<double>(psn) * CLOCKS_PER_SEC / static_cast<double>(std::clock() - start);
}

double trafgen_rate(const Wire& wire, std::uint32_t payload, std::uint64_t frames) {
  return rate_of(wire,
                 "printf '%s' '" + trafgen_packet(payload) + "' | trafgen --dev " + wire.near +
                     " --conf - --cpus 1 -n " + std::to_string(frames),
                 frames, payload);
}

}  // namespace roce::bench
