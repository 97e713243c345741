// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a capture file, from memory, and checks what CaptureReader promises about every record.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "roce/link/capture_reader.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = roce::link::CaptureReader::from_memory(std::as_bytes(std::span(data, size)));
  if (!reader) {
    require(!reader.error().message.empty());
    return 0;
  }
  // Compressed input can hold a great many packets; the first ones are enough.
  constexpr std::uint64_t kMostPackets = 10'000;
  unsigned sum = 0;
  roce::link::CaptureRecord record;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
  while (number < kMostPackets && reader->next(record)) {
    require(record.number == ++number);
    require(record.file_offset > offset);
    offset = record.file_offset;
    require(record.interface_id < reader->interfaces().size());
    require(record.link_type == reader->interfaces()[record.interface_id].link_type);
    require(record.comment.empty() || record.comment_count > 0);
    if (reader->keeps_bytes()) require(record.bytes.size() < size);
    for (const std::byte value : record.bytes) sum += std::to_integer<unsigned>(value);
    for (const char value : record.comment) sum += static_cast<unsigned char>(value);
  }
  require(reader->position_bytes() <= size || !reader->keeps_bytes());
  require(reader->warnings().size() <= 101);
  // Keeps the compiler from dropping the loops that touch every byte.
  asm volatile("" : : "r"(sum));
  return 0;
}
