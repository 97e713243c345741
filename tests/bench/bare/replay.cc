// SPDX-License-Identifier: BSD-2-Clause
// The least that a replay costs, and how exact it can be:
//   bare_replay xdp|mmsg IFACE FILE LOOPS: sends the frames of a pcap file in this machine's byte order as fast as it
//     goes.
//   bare_replay spin IFACE FILE SPEED: sends the frames one by one, each when a clock read in a loop reaches its time.
//   bare_replay gaps IFACE FILE SPEED: receives the frames; prints "ready", and at the end the median error of the gaps
//     in nanoseconds and the drift of the whole as a share of its length.
// It does not use any of our code.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bare/packet_socket.h"
#include "bare/xdp_socket.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Frame {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::int64_t time_ns = 0;  ///< time since the first frame
};

/// Reads the frames of a file, which stays mapped to the end of the program.
std::vector<Frame> read_frames(const std::string& path) {
  constexpr std::uint32_t nanoseconds = 0xA1B23C4D;
  const int file = ::open(path.c_str(), O_RDONLY);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) throw std::runtime_error("cannot open " + path);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  const auto* bytes = static_cast<const std::uint8_t*>(memory);
  std::uint32_t magic = 0;
  std::memcpy(&magic, bytes, sizeof magic);
  std::vector<Frame> frames;
  std::int64_t first = 0;
  for (std::size_t at = 24; at + 16 <= size;) {
    std::uint32_t header[4];
    std::memcpy(header, bytes + at, sizeof header);
    const std::int64_t time =
        header[0] * std::int64_t{1'000'000'000} + header[1] * std::int64_t{magic == nanoseconds ? 1 : 1000};
    if (frames.empty()) first = time;
    frames.push_back({bytes + at + 16, header[2], time - first});
    at += 16 + header[2];
  }
  return frames;
}

template <typename Socket>
void send_all(const std::string& interface, const std::vector<Frame>& frames, unsigned long loops) {
  Socket socket{interface};
  for (unsigned long loop = 0; loop < loops; ++loop) {
    for (std::size_t next = 0; next < frames.size();) {
      const std::size_t count = std::min(Socket::kBatch, frames.size() - next);
      for (std::size_t i = 0; i < count; ++i) socket.set_frame(i, frames[next + i].bytes, frames[next + i].size);
      socket.send(count);
      next += count;
    }
  }
}

void send_in_time(const std::string& interface, const std::vector<Frame>& frames, double speed) {
  bare::PacketSocket socket{interface};
  const Clock::time_point start = Clock::now();
  for (const Frame& frame : frames) {
    const auto due = start + std::chrono::nanoseconds{std::llround(static_cast<double>(frame.time_ns) / speed)};
    socket.set_frame(0, frame.bytes, frame.size);
    while (Clock::now() < due) {
    }
    socket.send(1);
  }
}

void measure_gaps(const std::string& interface, const std::vector<Frame>& frames, double speed) {
  constexpr std::chrono::seconds silence{3};
  bare::PacketSocket socket{interface};
  std::puts("ready");
  std::fflush(stdout);
  std::vector<std::int64_t> times;
  times.reserve(frames.size());
  Clock::time_point last{};
  while (times.size() < frames.size()) {
    const bare::PacketSocket::Received frame = socket.receive();
    if (frame.bytes == nullptr) {
      if (!times.empty() && Clock::now() - last > silence) throw std::runtime_error("frames were lost on the way");
      continue;
    }
    last = Clock::now();
    times.push_back(frame.timestamp_ns);
    socket.release();
  }
  std::vector<double> errors;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double planned = static_cast<double>(frames[i].time_ns - frames[i - 1].time_ns) / speed;
    errors.push_back(std::abs(static_cast<double>(times[i] - times[i - 1]) - planned));
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  const double planned = static_cast<double>(frames.back().time_ns) / speed;
  std::printf("%.1f %.9f\n", *middle, static_cast<double>(times.back() - times.front()) / planned - 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: bare_replay xdp|mmsg|spin|gaps IFACE FILE LOOPS|SPEED\n", stderr);
    return 2;
  }
  try {
    const std::string what = argv[1];
    const std::vector<Frame> frames = read_frames(argv[3]);
    if (what == "xdp") send_all<bare::XdpSocket>(argv[2], frames, std::strtoul(argv[4], nullptr, 10));
    if (what == "mmsg") send_all<bare::PacketSocket>(argv[2], frames, std::strtoul(argv[4], nullptr, 10));
    if (what == "spin") send_in_time(argv[2], frames, std::strtod(argv[4], nullptr));
    if (what == "gaps") measure_gaps(argv[2], frames, std::strtod(argv[4], nullptr));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bare_replay: %s\n", error.what());
    return 1;
  }
  return 0;
}
