// SPDX-License-Identifier: BSD-2-Clause
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/link/capture_reader.h"
#include "roce/wire/fields.h"
#include "roce/wire/visit.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;

/// One header of one packet, as the field table reads it.
struct Expected {
  const HeaderInfo* header;
  std::vector<std::byte> bytes;
  std::size_t offset;
};

/// Returns the headers of each frame of a capture that is one packet; those of frames with several packets are empty.
std::vector<std::vector<Expected>> headers_of(const std::string& file) {
  std::vector<std::vector<Expected>> frames;
  auto reader = link::CaptureReader::open(file);
  EXPECT_TRUE(reader.has_value());
  link::CaptureRecord record;
  while (reader->next(record)) {
    const Packet packet = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    std::vector<Expected> headers;
    visit_headers(packet, [&](const HeaderInfo& header, Bytes bytes, std::size_t offset) {
      headers.push_back({&header, {bytes.begin(), bytes.end()}, offset});
    });
    frames.push_back(std::move(headers));
  }
  return frames;
}

std::vector<std::string> captures() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(roce::test::captures_folder())) {
    const auto extension = entry.path().extension();
    if (extension == ".pcap" || extension == ".pcapng") files.push_back(entry.path().string());
  }
  return files;
}

/// Returns the objects of a header in a packet, outermost first.
std::vector<json> objects_of(const json& packet, const std::string& name) {
  std::vector<json> objects;
  const auto add = [&](const json& parent) {
    if (!parent.contains(name)) return;
    if (parent[name].is_array()) {
      objects.insert(objects.end(), parent[name].begin(), parent[name].end());
    } else {
      objects.push_back(parent[name]);
    }
  };
  if (packet.contains("outer")) {
    for (const json& outer : packet["outer"]) add(outer);
  }
  add(packet);
  if (packet.contains("lldp")) {
    for (const json& tlv : packet["lldp"]) add(tlv);
  }
  return objects;
}

void expect_value(const json& value, const FieldInfo& field, Bytes bytes) {
  if (value.is_boolean()) {
    EXPECT_EQ(field.format, FieldFormat::boolean);
    EXPECT_EQ(value.get<bool>(), field_number(field, bytes) != 0);
  } else if (value.is_number()) {
    EXPECT_LE(field.bit_width, 53);
    EXPECT_FALSE(is_octets(field));
    if (field.format == FieldFormat::signed_decimal) {
      EXPECT_EQ(std::to_string(value.get<std::int64_t>()), field_text(field, bytes));
    } else {
      EXPECT_EQ(value.get<std::uint64_t>(), field_number(field, bytes));
    }
  } else {
    EXPECT_EQ(value.get<std::string>(), field_text(field, bytes));
  }
}

/// A field in a line of -v: its offset and its value.
struct Shown {
  std::size_t offset;
  std::string value;
};

/// Returns the field lines of each packet of -v by name; several of the same name are in their order.
std::map<std::size_t, std::map<std::string, std::vector<Shown>>> read_verbose(const std::string& text) {
  std::map<std::size_t, std::map<std::string, std::vector<Shown>>> packets;
  std::size_t number = 0;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("Frame ")) number = std::strtoul(line.c_str() + 6, nullptr, 10);
    std::istringstream words(line);
    std::string offset;
    std::string name;
    std::string value;
    if (!line.starts_with(' ') || !(words >> offset >> name >> value) || name.find('.') == std::string::npos) continue;
    packets[number][name].push_back({std::strtoul(offset.c_str(), nullptr, 10), value});
  }
  return packets;
}

class DecodeFieldsTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    files_ = captures();
    ASSERT_GT(files_.size(), 30U);
    files_.push_back(save_frames("all.pcapng", all_frames()));
  }
  std::vector<std::string> files_;
};

TEST_F(DecodeFieldsTest, JsonHasEveryFieldOfEveryHeader) {
  std::set<std::string> seen;
  for (const std::string& file : files_) {
    SCOPED_TRACE(file);
    const auto frames = headers_of(file);
    const Outcome run = decode({"--json", "--all", file});
    ASSERT_EQ(run.exit_code, 0);
    std::size_t packets = 0;
    for (const std::string& line : lines(run.out)) {
      const json packet = json::parse(line);
      if (packet["frame"].contains("segment")) {
        packets += packet["frame"]["segment"] == 1;
        continue;
      }
      const auto number = packet["frame"]["number"].get<std::size_t>();
      ASSERT_EQ(number, ++packets) << "frames are numbered as in the file";
      SCOPED_TRACE(line);
      std::map<std::string, std::size_t> next;
      for (const Expected& expected : frames.at(number - 1)) {
        const std::string name{expected.header->name};
        const std::vector<json> objects = objects_of(packet, name);
        const std::size_t index = next[name]++;
        ASSERT_LT(index, objects.size()) << name;
        for (const FieldInfo& field : expected.header->fields) {
          const std::string field_name{field.name};
          SCOPED_TRACE(name + "." + field_name);
          ASSERT_TRUE(objects[index].contains(field_name));
          expect_value(objects[index][field_name], field, expected.bytes);
        }
        seen.insert(name);
      }
    }
    EXPECT_EQ(packets, frames.size());
  }
  for (const char* name : {"eth",  "vlan",      "ip",       "ipv6",     "grh",      "udp",           "bth", "reth",
                           "aeth", "atomiceth", "deth",     "immdt",    "mad",      "cm_req",        "cma", "cnp",
                           "pfc",  "pause",     "lldp_tlv", "lldp_org", "dcbx_pfc", "dcbx_app_entry"}) {
    EXPECT_TRUE(seen.contains(name)) << "no capture has a header " << name;
  }
}

TEST_F(DecodeFieldsTest, VerboseShowsEveryFieldAtItsOffset) {
  for (const std::string& file : files_) {
    SCOPED_TRACE(file);
    const auto frames = headers_of(file);
    const Outcome run = decode({"-v", "--all", file});
    ASSERT_EQ(run.exit_code, 0);
    const auto shown = read_verbose(run.out);
    ASSERT_EQ(shown.size(), frames.size());
    for (const auto& [number, fields] : shown) {
      if (run.out.find("Frame " + std::to_string(number) + ".1 ") != std::string::npos) continue;
      SCOPED_TRACE("frame " + std::to_string(number));
      std::map<std::string, std::size_t> next;
      for (const Expected& expected : frames.at(number - 1)) {
        for (const FieldInfo& field : expected.header->fields) {
          const std::string name = std::string{expected.header->name} + "." + std::string{field.name};
          SCOPED_TRACE(name);
          const auto found = fields.find(name);
          ASSERT_NE(found, fields.end());
          const std::size_t index = next[name]++;
          ASSERT_LT(index, found->second.size());
          EXPECT_EQ(found->second[index].offset, expected.offset + field.byte_offset());
          EXPECT_EQ(found->second[index].value, field_text(field, expected.bytes));
        }
      }
    }
  }
}

TEST_F(DecodeFieldsTest, NoFieldIsNamedLikeTheNameOfAnother) {
  for (const HeaderInfo& header : header_table()) {
    for (const FieldInfo& field : header.fields) {
      EXPECT_EQ(find_field(header, std::string{field.name} + "_name"), nullptr) << header.name << "." << field.name;
      EXPECT_NE(field.name, "meaning");
    }
    for (const std::string_view name :
         {"frame", "kind", "roce", "pad", "trailer", "data", "problem", "outer", "lldp"}) {
      EXPECT_NE(header.name, name);
    }
  }
}

TEST_F(DecodeFieldsTest, DerivedValuesOfAnAcknowledge) {
  const Outcome run = decode({"--json", save_frames("one.pcapng", {std::string{roce::test::kT2.hex}})});
  const json packet = json::parse(run.out);
  EXPECT_EQ(packet["kind"], "roce");
  EXPECT_EQ(packet["roce"]["version"], "RoCEv2/IPv4");
  EXPECT_EQ(packet["roce"]["opcode"], "RC_ACKNOWLEDGE");
  EXPECT_EQ(packet["bth"]["opcode_name"], "RC_ACKNOWLEDGE");
  EXPECT_EQ(packet["aeth"]["meaning"], "ACK");
  EXPECT_EQ(packet["aeth"]["msn"], 1);
  EXPECT_EQ(packet["ip"]["src"], "192.0.2.2");
  EXPECT_EQ(packet["icrc"]["status"], "good");
  EXPECT_EQ(packet["icrc"]["stored"], 0x863e16bf);
  EXPECT_EQ(packet["icrc"]["computed"], 0x863e16bf);
  EXPECT_EQ(packet["frame"]["number"], 1);
  EXPECT_EQ(packet["frame"]["length"], 62);
  EXPECT_EQ(packet["frame"]["time_epoch"], "1795213331.000001000");
  EXPECT_EQ(packet["frame"]["time"], "2026-11-20T22:22:11.000001000Z");
  EXPECT_EQ(packet["payload"]["length"], 0);
}

TEST_F(DecodeFieldsTest, PayloadIsShownOnRequest) {
  const std::string file = save_frames("one.pcapng", {std::string{roce::test::kT1.hex}});
  const json without = json::parse(decode({"--json", file}).out);
  EXPECT_EQ(without["payload"]["length"], 5);
  EXPECT_EQ(without["payload"]["offset"], 54);
  EXPECT_FALSE(without["payload"].contains("bytes"));
  const json with = json::parse(decode({"--json", "--payload", file}).out);
  EXPECT_EQ(with["payload"]["bytes"], "68656c6c6f");
  EXPECT_EQ(with["pad"]["bytes"], "000000");
  EXPECT_EQ(decode({"-v", file}).out.find("68 65 6c 6c 6f"), std::string::npos);
  EXPECT_NE(decode({"-v", "--payload", file}).out.find("68 65 6c 6c 6f"), std::string::npos);
}

}  // namespace
}  // namespace roce::analyze::test
