// SPDX-License-Identifier: BSD-2-Clause
// analysis_scan FILE: checks every ICRC and follows every connection, and prints the results in one line: the
// library's part of `roce-analyze summary`, in one thread.
#include <cstdio>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/link/capture_reader.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: analysis_scan FILE\n");
    return 2;
  }
  auto reader = roce::link::CaptureReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 2;
  }
  roce::analysis::TrackerOptions options;
  options.keep_messages = false;
  options.keep_answers = false;
  roce::analysis::Tracker tracker{options};
  unsigned long packets = 0;
  unsigned long verdicts = 0;
  std::vector<roce::analysis::Verdict> later;
  roce::link::CaptureRecord record;
  while (reader->next(record)) {
    const roce::Packet packet =
        roce::parse_frame(record.bytes, roce::LinkType{record.link_type}, record.original_length);
    const roce::Time time{roce::Duration{record.timestamp_ns}};
    const auto seen = roce::analysis::observe_packet(packet, roce::check_icrc(packet), time, {++packets, 0});
    verdicts += tracker.observe(seen).verdicts.size();
  }
  tracker.finish();
  tracker.drain(later);
  std::fprintf(stderr, "%lu packets, %zu streams, %lu verdicts\n", packets, tracker.streams().size(),
               verdicts + later.size());
  return 0;
}
