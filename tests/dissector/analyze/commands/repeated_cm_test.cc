// SPDX-License-Identifier: BSD-2-Clause
// Connection management messages that are sent again, in the summary and in the events.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"
#include "roce/wire/packet_spec.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A CM message of one of the two hosts, 10.0.0.1 and 10.0.0.2.
struct CmFrame {
  std::int64_t ms = 0;
  int host = 1;
  std::string message;
  unsigned psn = 1;

  [[nodiscard]] std::vector<std::byte> build() const {
    PacketSpec spec = PacketSpec::for_opcode(Opcode{0x64}, RoceVersion::v2_ipv4);
    const std::string attribute = message == "req" ? "0x10" : message == "rep" ? "0x13" : "0x14";
    const auto set = [&](const std::string& name, const std::string& value) {
      const auto done = spec.set(name, value);
      EXPECT_TRUE(done.has_value()) << name;
    };
    set("headers", "eth ip udp bth deth mad cm_" + message);
    set("bth.opcode", "0x64");
    set("ip.src", fmt::format("10.0.0.{}", host));
    set("ip.dst", fmt::format("10.0.0.{}", 3 - host));
    set("bth.dest_qp", "1");
    set("bth.psn", std::to_string(psn));
    set("deth.src_qp", "1");
    set("mad.mgmt_class", "7");
    set("mad.transaction_id", "77");
    set("mad.attribute_id", attribute);
    const auto bytes = spec.build();
    EXPECT_TRUE(bytes.has_value());
    return bytes.value_or(std::vector<std::byte>{});
  }
};

class RepeatedCm : public ProgramTest {
 protected:
  [[nodiscard]] std::string save(const std::vector<CmFrame>& frames) const {
    auto writer = link::CaptureWriter::create(path("cm.pcap"));
    EXPECT_TRUE(writer.has_value());
    for (const CmFrame& frame : frames) {
      const std::vector<std::byte> bytes = frame.build();
      link::CaptureRecord record;
      record.bytes = bytes;
      record.original_length = static_cast<std::uint32_t>(bytes.size());
      record.timestamp_ns = 1'795'213'331'000'000'000 + frame.ms * 1'000'000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path("cm.pcap");
  }
};

TEST_F(RepeatedCm, TheSummarySaysWhoRepeatedWhatAndWhatItCost) {
  const std::string capture = save({{0, 1, "req", 1}, {1, 2, "rep", 1}, {4001, 2, "rep", 2}, {4002, 1, "rtu", 2}});
  const json summary = json::parse(run({"summary", "--json", capture}).out);
  EXPECT_EQ(summary["verdict"],
            "1 CM message was sent again by 10.0.0.2: 1 CM REP; a connection took 4.00 s to set up");
  EXPECT_EQ(summary["clean"], false);
}

TEST_F(RepeatedCm, EachRepetitionIsAnEvent) {
  const std::string capture = save({{0, 1, "req", 1}, {500, 1, "req", 2}, {900, 1, "req", 3}});
  const std::vector<std::string> rows = lines(run({"events", "--json", "--verdict", "cm_repeated", capture}).out);
  ASSERT_EQ(rows.size(), 2U);
  const json last = json::parse(rows[1]);
  EXPECT_EQ(last["cm_message"], "CM REQ");
  EXPECT_EQ(last["tries"], 3);
  EXPECT_EQ(last["other"], 2);
  EXPECT_EQ(last["elapsed_ns"], 400'000'000);
  EXPECT_THAT(last["text"].get<std::string>(), HasSubstr("CM REQ, sent 3 times so far"));
}

TEST_F(RepeatedCm, ConnectionsThatAreSetUpAtOnceHaveNone) {
  const std::string capture = save({{0, 1, "req", 1}, {1, 2, "rep", 1}, {2, 1, "rtu", 2}});
  EXPECT_EQ(json::parse(run({"summary", "--json", capture}).out)["verdict"], "nothing wrong seen");
}

}  // namespace
}  // namespace roce::analyze::test
