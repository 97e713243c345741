// SPDX-License-Identifier: BSD-2-Clause
// make_bench_capture OUT PACKETS MTU|small: writes a pcap file of RC traffic between two hosts. Ten packets, evenly
// spread, have a damaged ICRC; their numbers go to standard output.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "roce/link/capture_writer.h"
#include "traffic.h"

namespace {

constexpr std::uint64_t kDamagedPackets = 10;

int fail(const std::string& message) {
  std::fprintf(stderr, "make_bench_capture: %s\n", message.c_str());
  return 2;
}

int write_capture(const std::string& path, std::uint64_t packets, roce::bench::TrafficShape shape) {
  using roce::link::CaptureWriter;
  roce::link::CaptureWriterOptions options;
  options.format = roce::link::CaptureFormat::pcap_ns;
  options.compression = roce::link::Compression::none;
  auto writer = CaptureWriter::create(path, options);
  if (!writer) return fail(writer.error().message);

  constexpr std::int64_t start_ns = 1'700'000'000'000'000'000;
  constexpr double mean_gap_ns = 1000;
  std::exponential_distribution<double> gap{1 / mean_gap_ns};
  std::mt19937 random{3};
  roce::bench::Traffic traffic{shape};
  std::vector<std::byte> frame(roce::bench::kMaxFrame);
  roce::link::CaptureRecord record;
  record.timestamp_ns = start_ns;
  const std::uint64_t distance = std::max<std::uint64_t>(packets / kDamagedPackets, 1);
  for (std::uint64_t number = 1; number <= packets; ++number) {
    const std::size_t length = encode(traffic.next(), frame);
    if (number % distance == distance / 2) {
      frame[length - 1] ^= std::byte{0x80};
      std::printf("%lu\n", static_cast<unsigned long>(number));
    }
    record.bytes = {frame.data(), length};
    record.original_length = static_cast<std::uint32_t>(length);
    record.timestamp_ns += static_cast<std::int64_t>(gap(random));
    if (const auto written = writer->write(record); !written) return fail(written.error().message);
  }
  if (const auto closed = writer->close(); !closed) return fail(closed.error().message);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fail("usage: make_bench_capture OUT PACKETS MTU|small");
  const std::uint64_t packets = std::strtoull(argv[2], nullptr, 10);
  const bool small = std::string{argv[3]} == "small";
  const auto mtu = small ? 64 : static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  if (packets == 0 || mtu == 0 || mtu > 4096) return fail("PACKETS has to be at least 1, MTU 1 to 4096");
  return write_capture(argv[1], packets, {.mtu = mtu, .single_packets = small});
}
