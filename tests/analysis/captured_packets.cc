// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/captured_packets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "roce/link/capture_reader.h"
#include "roce/wire/icrc.h"
#include "support/source_tree.h"

namespace roce::analysis {

void Findings::sort() {
  std::sort(verdicts.begin(), verdicts.end(), [](const Verdict& a, const Verdict& b) {
    return std::tuple{a.packet, a.kind, a.first_psn.value(), a.other} <
           std::tuple{b.packet, b.kind, b.first_psn.value(), b.other};
  });
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tuple{a.stream, a.direction, a.number} < std::tuple{b.stream, b.direction, b.number};
  });
  std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
    return std::tuple{a.response, a.request} < std::tuple{b.response, b.request};
  });
}

std::vector<Observation> many_hosts() {
  constexpr std::uint8_t kPairs = 5;
  std::vector<std::vector<Observation>> parts;
  for (const auto& entry : std::filesystem::directory_iterator{roce::test::captures_folder() + "/softroce"}) {
    if (entry.path().extension() != ".pcap") continue;
    auto reader = link::CaptureReader::open(entry.path());
    EXPECT_TRUE(reader.has_value());
    std::vector<Observation> part;
    link::CaptureRecord record;
    while (reader->next(record)) {
      const Packet packet = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
      if (packet.is_roce())
        part.push_back(observe_packet(packet, check_icrc(packet), Time{Duration{record.timestamp_ns}}, {}));
    }
    parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Observation> all;
  for (std::size_t at = 0; at < parts.front().size(); ++at) {
    for (std::size_t part = 0; part < parts.size() && at < parts[part].size(); ++part) {
      for (std::uint8_t pair = 0; pair < kPairs; ++pair) {
        Observation packet = parts[part][at];
        packet.source.octets[14] = packet.destination.octets[14] = static_cast<std::uint8_t>(part * kPairs + pair);
        packet.id = {all.size() + 1, 0};
        all.push_back(packet);
      }
    }
  }
  return all;
}

void expect_equal(Findings a, Findings b) {
  a.sort();
  b.sort();
  EXPECT_TRUE(a.verdicts == b.verdicts) << a.verdicts.size() << " and " << b.verdicts.size();
  EXPECT_TRUE(a.messages == b.messages) << a.messages.size() << " and " << b.messages.size();
  EXPECT_TRUE(a.answers == b.answers) << a.answers.size() << " and " << b.answers.size();
  EXPECT_TRUE(a.streams == b.streams) << a.streams.size() << " and " << b.streams.size();
  EXPECT_TRUE(a.evictions == b.evictions) << a.evictions.streams << " and " << b.evictions.streams;
}

}  // namespace roce::analysis
