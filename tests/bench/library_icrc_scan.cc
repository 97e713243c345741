// SPDX-License-Identifier: BSD-2-Clause
// library_icrc_scan FILE: does the work of bare_icrc_scan with the library; the time that a program adds is its own.
#include <cstdio>

#include "roce/link/capture_reader.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: library_icrc_scan FILE\n");
    return 2;
  }
  auto reader = roce::link::CaptureReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 2;
  }
  unsigned long bad = 0;
  unsigned long packets = 0;
  roce::link::CaptureRecord record;
  while (reader->next(record)) {
    const roce::Packet packet =
        roce::parse_frame(record.bytes, roce::LinkType{record.link_type}, record.original_length);
    ++packets;
    if (roce::check_icrc(packet).status == roce::IcrcStatus::bad) {
      ++bad;
      std::printf("%lu\n", packets);
    }
  }
  std::fprintf(stderr, "%lu packets, %lu bad\n", packets, bad);
  return 0;
}
