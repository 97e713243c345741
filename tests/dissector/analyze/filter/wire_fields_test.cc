// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/wire_fields.h"

#include <gmock/gmock.h>

#include <set>

#include "analyze/filter/display_filter.h"
#include "dissector/analyze/frames.h"
#include "roce/wire/fields.h"
#include "support/coalesce.h"
#include "support/hex.h"

namespace roce::analyze::test {
namespace {

using Names = std::set<std::string>;

DisplayFilter compile(std::string_view expression, const FieldCatalogue& catalogue = wire_catalogue()) {
  auto filter = DisplayFilter::compile(expression, catalogue);
  EXPECT_TRUE(filter.has_value()) << expression << ": " << (filter ? "" : to_string(filter.error()));
  return filter ? *std::move(filter) : DisplayFilter{};
}

packet_text::FrameInfo sample_frame() {
  packet_text::FrameInfo frame;
  frame.file = "a.pcap";
  frame.number = 42;
  frame.time_ns = 1'795'213'331'000'000'000;
  frame.relative_ns = 1'500'000;
  frame.length = 1082;
  frame.captured = 64;
  frame.interface_name = "eth0";
  return frame;
}

bool passes(const DisplayFilter& filter, std::string_view hex, const packet_text::FrameInfo& frame = {},
            const FieldValues* others = nullptr) {
  const std::vector<std::byte> bytes = roce::test::from_hex(hex);
  const Packet packet = parse_frame(bytes, LinkType::ethernet);
  const IcrcVerdict icrc = check_icrc(packet);
  const packet_text::DecodedPacket decoded{frame, packet, packet, icrc};
  return filter.matches(PacketValues{decoded, others});
}

/// Returns the names of the vectors that pass.
Names passing(std::string_view expression) {
  const DisplayFilter filter = compile(expression);
  Names names;
  for (const roce::test::Vector& vector : roce::test::kVectors) {
    if (passes(filter, vector.hex)) names.emplace(vector.name);
  }
  return names;
}

TEST(WireFieldsTest, EveryFieldOfTheTableEqualsItself) {
  // For every field of every header in the vectors, the text that the codec gives is a literal that the field equals.
  std::size_t compared = 0;
  for (const std::string& hex : all_frames()) {
    const std::vector<std::byte> bytes = roce::test::from_hex(hex);
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    const packet_text::FrameInfo frame;
    const packet_text::DecodedPacket decoded{frame, packet, packet, {}};
    const PacketValues values{decoded};
    packet_text::visit_decoded(decoded, [&](const HeaderInfo& header, Bytes field_bytes, std::size_t) {
      EXPECT_TRUE(compile(header.name).matches(values)) << header.name;
      for (const FieldInfo& field : header.fields) {
        const std::string name = std::string{header.name} + "." + std::string{field.name};
        const std::string literal = field_text(field, field_bytes);
        EXPECT_TRUE(compile(name + " == " + literal).matches(values)) << name << " == " << literal;
        EXPECT_TRUE(compile("roce." + name + " == " + literal).matches(values)) << name;
        ++compared;
      }
    });
  }
  EXPECT_GT(compared, 500U);
}

TEST(WireFieldsTest, EveryNameOfTheTableCompiles) {
  const FieldCatalogue catalogue = wire_catalogue();
  std::set<std::string> names;
  for (FieldId id = 0; id < catalogue.size(); ++id) {
    EXPECT_TRUE(names.insert(catalogue[id].name).second) << catalogue[id].name << " stands twice";
    EXPECT_EQ(catalogue.find(catalogue[id].name), id);
    EXPECT_TRUE(DisplayFilter::compile(catalogue[id].name, catalogue).has_value()) << catalogue[id].name;
  }
}

TEST(WireFieldsTest, Transport) {
  EXPECT_EQ(passing("bth.opcode == CNP"), (Names{"C1", "T8"}));
  EXPECT_EQ(passing("bth.opcode in {CNP, rc_acknowledge}"), (Names{"C1", "C3", "T2", "T8"}));
  EXPECT_EQ(passing("bth.opcode contains acknowledge"), (Names{"C3", "T2"}));
  EXPECT_EQ(passing("aeth"), (Names{"C3", "T2"}));
  EXPECT_EQ(passing("aeth.syndrome == ACK"), (Names{"T2"}));
  EXPECT_EQ(passing("bth.becn"), (Names{"C1", "T8"}));
  EXPECT_EQ(passing("bth.psn == 0x100 and bth.dest_qp == 0x11 and roce.payload_length > 0"), (Names{"T1"}));
  EXPECT_EQ(passing("cm_req or cm_rep"), (Names{"T10", "T11"}));
  EXPECT_EQ(passing("reth.va == 0x7F0012345678"), (Names{"T3"}));
}

TEST(WireFieldsTest, AddressesAndVersions) {
  EXPECT_EQ(passing("roce.src == 10.0.17.1"), (Names{"C1"}));
  EXPECT_EQ(passing("roce.dst == 10.0.17.1"), Names{});
  EXPECT_EQ(passing("roce.addr in {10.0.0.0/8, 192.168.0.0/16}"), (Names{"C1", "S1"}));
  EXPECT_EQ(passing("roce.dst == 2001:db8::2"), (Names{"T3", "T7"}));
  EXPECT_EQ(passing("roce.version == RoCEv1"), (Names{"C2", "C3", "T5"}));
  EXPECT_EQ(passing("roce.version == \"RoCEv2/IPv6\""), (Names{"T3", "T7"}));
  EXPECT_EQ(passing("ip.src == 10.0.17.1"), (Names{"C1"}));
  EXPECT_EQ(passing("vlan.vid == 100"), (Names{"T4"}));
  EXPECT_EQ(passing("eth.dst == e4:1d:2d:ab:2b:c2"), (Names{"C1"}));
  EXPECT_EQ(passing("roce").size(), roce::test::kVectors.size());
}

TEST(WireFieldsTest, IcrcAndLengths) {
  std::string damaged{roce::test::kT1.hex};
  damaged[damaged.size() - 1] ^= 1;
  const std::string cut = damaged.substr(0, damaged.size() - 2);
  EXPECT_TRUE(passes(compile("roce.icrc.status == good"), roce::test::kT1.hex));
  EXPECT_FALSE(passes(compile("roce.icrc.status == bad"), roce::test::kT1.hex));
  EXPECT_TRUE(passes(compile("roce.icrc.status == bad"), damaged));
  EXPECT_TRUE(passes(compile("roce.icrc.status == not_checked and roce.problem"), cut));
  EXPECT_FALSE(passes(compile("roce.icrc.status"), kPfc));
  EXPECT_FALSE(passes(compile("roce or roce.version or roce.src or roce.payload_length"), kPfc));
  EXPECT_TRUE(passes(compile("roce.payload_length == 5 and not roce.problem"), roce::test::kT1.hex));
}

TEST(WireFieldsTest, FrameFields) {
  for (const std::string_view expression :
       {"frame.number == 42", "frame.time == 2026-11-20T22:22:11Z", "frame.time_relative == 1.5ms", "frame.len == 1082",
        "frame.cap_len == 64", "frame.file contains pcap", "frame.interface_name == eth0", "not frame.comment",
        "not frame.segment"}) {
    EXPECT_TRUE(passes(compile(expression), kPfc, sample_frame())) << expression;
  }
  EXPECT_FALSE(passes(compile("frame.time or frame.time_relative"), kPfc));
}

TEST(WireFieldsTest, EveryTagIsAValue) {
  // kT4 has one tag, of VLAN 100; a second tag, of VLAN 7, is put in front of it.
  std::string tagged{roce::test::kT4.hex};
  tagged.insert(24, "88a80007");
  EXPECT_TRUE(passes(compile("vlan.vid == 7"), tagged));
  EXPECT_TRUE(passes(compile("vlan.vid == 100"), tagged));
  EXPECT_FALSE(passes(compile("vlan.vid != 7"), tagged));
  EXPECT_TRUE(passes(compile("vlan.vid != 8"), tagged));
  EXPECT_TRUE(passes(compile("lldp_tlv.type == 127 and dcbx_pfc"), kLldp));
  EXPECT_TRUE(passes(compile("pfc and mac_control"), kPfc));
}

TEST(WireFieldsTest, PacketsOfASuperFrame) {
  const std::vector<roce::test::Frame> frames{roce::test::from_hex(roce::test::kT1.hex),
                                              roce::test::from_hex(roce::test::kT9.hex)};
  const roce::test::Frame bytes = roce::test::coalesce(frames);
  const Packet whole = parse_frame(bytes, LinkType::ethernet);
  const Packet part = parse_transport(Bytes{bytes}.last(16), whole.net());
  packet_text::FrameInfo frame;
  frame.segment = frame.segments = 2;
  const packet_text::DecodedPacket decoded{frame, whole, part, {}, static_cast<std::uint32_t>(bytes.size() - 16)};
  const PacketValues values{decoded};
  for (const std::string_view expression :
       {"bth.psn == 260", "bth.psn != 256", "frame.segment == 2", "ip.src == 192.0.2.1", "roce.src == 192.0.2.1",
        "eth.type == IPv4", "bth and roce"}) {
    EXPECT_TRUE(compile(expression).matches(values)) << expression;
  }
}

TEST(WireFieldsTest, NumbersWithASign) {
  // A congestion notification message, cnmQOffset -45, cnmQDelta 16.
  constexpr std::string_view cnm =
      "02000000000202000000000122e7"
      "001f0102030405060708ffd3001000000200000000010000";
  EXPECT_TRUE(passes(compile("cnm.q_offset == -45 and cnm.q_offset < 0 and cnm.q_delta == 16"), cnm));
  EXPECT_FALSE(passes(compile("cnm.q_offset > 0"), cnm));
}

class Verdicts final : public FieldValues {
 public:
  explicit Verdicts(FieldId retransmission) : retransmission_(retransmission) {}
  [[nodiscard]] std::optional<FilterValue> value(FieldId id, std::size_t index) const override {
    return id == retransmission_ && index == 0 ? std::optional<FilterValue>{true} : std::nullopt;
  }

 private:
  FieldId retransmission_;
};

TEST(WireFieldsTest, FurtherFieldsComeFromTheCaller) {
  FieldCatalogue catalogue = wire_catalogue();
  const FieldId retransmission = catalogue.add({"roce.analysis.retransmission", FieldType::boolean});
  catalogue.add({"roce.analysis.out_of_order", FieldType::boolean});
  const Verdicts verdicts{retransmission};
  const auto passes_with = [&](std::string_view expression, const FieldValues* others) {
    return passes(compile(expression, catalogue), roce::test::kT1.hex, {}, others);
  };
  EXPECT_TRUE(passes_with("roce.analysis.retransmission and bth.psn == 256", &verdicts));
  EXPECT_FALSE(passes_with("roce.analysis.out_of_order", &verdicts));
  EXPECT_FALSE(passes_with("roce.analysis.retransmission", nullptr));
  const auto unknown = DisplayFilter::compile("roce.analysis.retransmision", catalogue);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().suggestions, ::testing::Contains("roce.analysis.retransmission"));
}

}  // namespace
}  // namespace roce::analyze::test
