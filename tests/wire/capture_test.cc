// SPDX-License-Identifier: BSD-2-Clause
// Real traffic of Soft-RoCE, with the truth about what was done to it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "roce/wire/aeth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/visit.h"
#include "support/both_paths.h"
#include "support/captures.h"
#include "support/packet_equality.h"
#include "support/source_tree.h"

namespace roce {
namespace {

class Capture : public testing::TestWithParam<std::filesystem::path> {};

/// A packet that a fault was injected into: QPN, PSN.
using Target = std::pair<std::uint32_t, std::uint32_t>;

/// Returns the corrupted packets of a `.rx.` capture, from the truth about it.
std::map<Target, int> corrupted_packets(const std::filesystem::path& path) {
  std::map<Target, int> targets;
  const std::string name = path.filename().string();
  if (!name.ends_with(".rx.pcap")) return targets;
  std::ifstream file(path.parent_path() / (name.substr(0, name.size() - 8) + ".truth.json"));
  const auto truth = nlohmann::json::parse(file);
  for (const auto& event : truth.at("events")) {
    if (event.at("action") == "corrupt") ++targets[{event.at("qpn"), event.at("psn")}];
  }
  return targets;
}

/// Returns how many packets of a capture have a wrong ICRC, from what is known about how it was made.
int expected_bad(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name == "rc-corrupt.rx.pcap" ? 18 : name == "host-peer.tx.pcap" ? 1 : 0;
}

TEST_P(Capture, WhatCostsLessThanNetSaysTheSame) {
  test::for_each_record(GetParam(), [&](const link::CaptureRecord& record) {
    const Packet whole = parse_frame(record.bytes, static_cast<LinkType>(record.link_type), record.original_length);
    if (!whole.is_roce()) return;
    const Packet from_bth = parse_transport(whole.bytes().subspan(whole.bth_offset()), whole.net());
    for (const Packet& packet : {whole, from_bth}) {
      const NetMeta net = packet.net();
      EXPECT_EQ(packet.traffic_class(), net.traffic_class);
      EXPECT_EQ(packet.vlan_tci(), net.vlan_tci);
      EXPECT_TRUE(packet.is_between(net.version, net.source, net.destination));
      Gid other = net.source;
      other.octets.back() ^= 0x80;
      EXPECT_FALSE(packet.is_between(net.version, other, net.destination));
      EXPECT_FALSE(packet.is_between(net.version, net.source, other));
      EXPECT_FALSE(packet.is_between(RoceVersion::none, net.source, net.destination));
    }
  });
}

TEST_P(Capture, IcrcVerdictsAgreeWithTheTruth) {
  const auto corrupted = corrupted_packets(GetParam());
  int bad = 0;
  std::map<Target, int> found;
  std::size_t checked = 0;
  test::for_each_record(GetParam(), [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, static_cast<LinkType>(record.link_type), record.original_length);
    if (!packet.is_roce()) return;
    const IcrcVerdict verdict = check_icrc(packet);
    ASSERT_NE(verdict.status, IcrcStatus::not_checked) << "packet " << record.number << ": " << to_string(verdict);
    ++checked;
    if (verdict.status == IcrcStatus::good) return;
    ++bad;
    ++found[{packet.bth().dest_qp.value(), packet.bth().psn.value()}];
    const IcrcExplanation explanation = explain_icrc(packet);
    EXPECT_TRUE(explanation.found().empty()) << to_string(explanation, packet);
  });
  EXPECT_GT(checked, 0U);
  EXPECT_EQ(bad, expected_bad(GetParam()));
  if (!corrupted.empty()) {
    EXPECT_EQ(found, corrupted);
  }
}

TEST_P(Capture, ParsesWithoutProblem) {
  std::map<std::string, int> opcodes;
  std::size_t roce = 0;
  std::size_t frames = 0;
  test::for_each_record(GetParam(), [&](const link::CaptureRecord& record) {
    ++frames;
    const Packet packet = parse_frame(record.bytes, static_cast<LinkType>(record.link_type), record.original_length);
    if (!packet.is_roce()) {
      // ARP, neighbour discovery and the sockets that the programs talk over.
      EXPECT_EQ(packet.problem().reason, ParseReason::not_roce) << record.number << ": " << to_string(packet.problem());
      return;
    }
    ++roce;
    EXPECT_EQ(packet.problem().reason, ParseReason::none) << record.number << ": " << to_string(packet.problem());
    EXPECT_TRUE(packet.info().defined()) << record.number;
    EXPECT_TRUE(payload_fits(packet.info().payload, packet.payload().size(), packet.payload().size())) << record.number;
    ++opcodes[std::string{packet.info().name}];
  });

  // The truth counts what the bridge saw, under names of its own.
  const std::string name = GetParam().filename().string();
  std::ifstream file(GetParam().parent_path() / (name.substr(0, name.size() - 8) + ".truth.json"));
  if (!file) return;
  const auto truth = nlohmann::json::parse(file).at(name.ends_with(".rx.pcap") ? "rx" : "tx");
  EXPECT_EQ(frames, truth.at("frames"));
  EXPECT_EQ(roce, truth.at("roce"));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames{
      {{"READ_REQ", "READ_REQUEST"},
       {"READ_RESP_", "READ_RESPONSE_"},
       {"ATOMIC_ACK", "ATOMIC_ACKNOWLEDGE"},
       {"CMP_SWAP", "COMPARE_SWAP"},
       {"SEND_LAST_INV", "SEND_LAST_INVALIDATE"},
       {"SEND_ONLY_INV", "SEND_ONLY_INVALIDATE"},
       {"FETCH_ADD", "FETCH_ADD"}}};
  std::map<std::string, int> expected;
  for (const auto& [key, count] : truth.at("ops").items()) {
    std::string ours = key;
    for (const auto& [theirs, name_here] : kNames) {
      const std::size_t at = ours.find(theirs);
      if (at == std::string::npos || ours.find(name_here) != std::string::npos) continue;
      ours.replace(at, theirs.size(), name_here);
      break;
    }
    expected[ours] = count;
  }
  EXPECT_EQ(opcodes, expected);
}

TEST_P(Capture, ParsesTheSameByLayers) {
  test::for_each_record(GetParam(), [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    const Packet by_layers = test::parse_by_layers(record.bytes, record.original_length);
    ASSERT_EQ(test::describe(packet), test::describe(by_layers)) << record.number;
  });
}

TEST_P(Capture, TransportAloneHasTheSameVerdict) {
  test::for_each_record(GetParam(), [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    if (!packet.is_roce()) return;
    const IcrcVerdict expected = check_icrc(packet);
    const Bytes transport = record.bytes.subspan(packet.bth_offset(), packet.icrc_offset() + 4 - packet.bth_offset());
    ASSERT_EQ(check_icrc(parse_transport(transport, packet.net())), expected) << record.number;
    NetMeta hidden = packet.net();
    hidden.ip_id.reset();
    const IcrcVerdict verdict = check_icrc(parse_transport(transport, hidden));
    if (expected.status == IcrcStatus::bad) {
      ASSERT_EQ(verdict.status, IcrcStatus::bad) << record.number;
    } else if (packet.version() == RoceVersion::v2_ipv4) {
      ASSERT_EQ(verdict.status, IcrcStatus::good_for_ip_id) << record.number;
      ASSERT_EQ(verdict.ip_id, packet.net().ip_id);
    } else {
      ASSERT_EQ(verdict.status, IcrcStatus::good) << record.number;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Softroce, Capture, testing::ValuesIn(test::capture_files()),
                         [](const auto& file) { return test::test_name(file.param); });

TEST(Captures, AreThere) {
  EXPECT_GE(test::capture_files().size(), 30U);
}

TEST(Captures, DamagedBytesAreFound) {
  // The bridge flips bits of one byte, and the capture before the bridge has the byte as it was.
  std::vector<std::vector<std::byte>> sent;
  const auto folder = std::filesystem::path{roce::test::captures_folder()} / "softroce";
  test::for_each_record(folder / "rc-corrupt.tx.pcap", [&](const link::CaptureRecord& record) {
    sent.emplace_back(record.bytes.begin(), record.bytes.end());
  });
  int compared = 0;
  test::for_each_record(folder / "rc-corrupt.rx.pcap", [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    if (!packet.is_roce() || check_icrc(packet).status == IcrcStatus::good) return;
    // The packet before the damage: of the same size and different in the fewest bytes.
    const std::vector<std::byte>* original = nullptr;
    std::size_t fewest = record.bytes.size();
    for (const auto& frame : sent) {
      if (frame.size() != record.bytes.size()) continue;
      std::size_t differences = 0;
      for (std::size_t i = 0; i < frame.size(); ++i) differences += frame[i] != record.bytes[i] ? 1 : 0;
      if (differences < fewest) {
        fewest = differences;
        original = &frame;
      }
    }
    ASSERT_NE(original, nullptr);
    if (fewest != 1) return;
    const IcrcExplanation explanation = explain_icrc(packet);
    for (std::size_t i = 0; i < original->size(); ++i) {
      const auto difference = (*original)[i] ^ record.bytes[i];
      if (difference == std::byte{0}) continue;
      EXPECT_EQ(explanation.damaged_offset, i) << record.number;
      EXPECT_EQ(explanation.damaged_bits, std::to_integer<unsigned>(difference)) << record.number;
      ++compared;
    }
  });
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace roce
