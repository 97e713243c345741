// SPDX-License-Identifier: BSD-2-Clause
// bare_icrc_scan FILE: finds the packets with a wrong ICRC in the fewest steps, as the measure for
// `roce-analyze decode --only-bad-icrc`: a pcap file in this machine's byte order is mapped, walked and decoded.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "bare/crc.h"
#include "bare/decode.h"

namespace {

struct Count {
  unsigned long packets = 0;
  unsigned long bad = 0;
  unsigned long other = 0;
  std::uint64_t sum = 0;  ///< sum of decoded values, so that none of the decoding is left out
};

Count scan(const std::uint8_t* file, std::size_t size) {
  constexpr std::size_t file_header = 24;
  constexpr std::size_t record_header = 16;
  Count count;
  bare::Decoded packet{};
  for (std::size_t at = file_header; at + record_header <= size;) {
    std::uint32_t captured;
    std::memcpy(&captured, file + at + 8, sizeof captured);
    const std::uint8_t* frame = file + at + record_header;
    if (captured > size - at - record_header) break;
    at += record_header + captured;
    ++count.packets;
    if (!bare::decode(frame, captured, packet)) {
      ++count.other;
      continue;
    }
    count.sum += packet.psn + packet.dest_qp + packet.payload_length + packet.virtual_address + packet.aeth;
    std::uint32_t stored;
    std::memcpy(&stored, frame + 14 + packet.ip_length - 4, sizeof stored);
    if (bare::icrc(frame + 14, packet.ip_length) != stored) {
      ++count.bad;
      std::printf("%lu\n", count.packets);
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bare_icrc_scan FILE\n");
    return 2;
  }
  const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    std::perror(argv[1]);
    return 2;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* file = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (file == MAP_FAILED) {
    std::perror(argv[1]);
    return 2;
  }
  madvise(file, size, MADV_SEQUENTIAL);
  const Count count = scan(static_cast<const std::uint8_t*>(file), size);
  std::fprintf(stderr, "%lu packets, %lu bad, %lu other, sum %llx\n", count.packets, count.bad, count.other,
               static_cast<unsigned long long>(count.sum));
  return 0;
}
