// SPDX-License-Identifier: BSD-2-Clause
// Each field of each packet of the captures, compared with what tshark shows for it.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "roce/wire/fields.h"
#include "roce/wire/icrc.h"
#include "support/captures.h"
#include "support/hex.h"
#include "support/temporary_folder.h"
#include "support/vectors.h"

namespace roce {
namespace {

/// One field under our name and tshark's.
struct Mapping {
  std::string_view ours;
  std::string_view theirs;
};

constexpr std::array kMappings{
    Mapping{"eth.dst", "eth.dst"},
    Mapping{"eth.src", "eth.src"},
    Mapping{"eth.type", "eth.type"},
    Mapping{"vlan.pcp", "vlan.priority"},
    Mapping{"vlan.dei", "vlan.dei"},
    Mapping{"vlan.vid", "vlan.id"},
    Mapping{"vlan.type", "vlan.etype"},
    Mapping{"grh.version", "infiniband.grh.ipver"},
    Mapping{"grh.flow_label", "infiniband.grh.flowlabel"},
    Mapping{"grh.payload_length", "infiniband.grh.paylen"},
    Mapping{"grh.next_header", "infiniband.grh.nxthdr"},
    Mapping{"grh.hop_limit", "infiniband.grh.hoplmt"},
    Mapping{"grh.sgid", "infiniband.grh.sgid"},
    Mapping{"grh.dgid", "infiniband.grh.dgid"},
    Mapping{"ip.version", "ip.version"},
    Mapping{"ip.dscp", "ip.dsfield.dscp"},
    Mapping{"ip.ecn", "ip.dsfield.ecn"},
    Mapping{"ip.total_length", "ip.len"},
    Mapping{"ip.id", "ip.id"},
    Mapping{"ip.reserved_flag", "ip.flags.rb"},
    Mapping{"ip.df", "ip.flags.df"},
    Mapping{"ip.mf", "ip.flags.mf"},
    Mapping{"ip.fragment_offset", "ip.frag_offset"},
    Mapping{"ip.ttl", "ip.ttl"},
    Mapping{"ip.protocol", "ip.proto"},
    Mapping{"ip.checksum", "ip.checksum"},
    Mapping{"ip.src", "ip.src"},
    Mapping{"ip.dst", "ip.dst"},
    Mapping{"ipv6.version", "ipv6.version"},
    Mapping{"ipv6.dscp", "ipv6.tclass.dscp"},
    Mapping{"ipv6.ecn", "ipv6.tclass.ecn"},
    Mapping{"ipv6.flow_label", "ipv6.flow"},
    Mapping{"ipv6.payload_length", "ipv6.plen"},
    Mapping{"ipv6.next_header", "ipv6.nxt"},
    Mapping{"ipv6.hop_limit", "ipv6.hlim"},
    Mapping{"ipv6.src", "ipv6.src"},
    Mapping{"ipv6.dst", "ipv6.dst"},
    Mapping{"udp.srcport", "udp.srcport"},
    Mapping{"udp.dstport", "udp.dstport"},
    Mapping{"udp.length", "udp.length"},
    Mapping{"udp.checksum", "udp.checksum"},
    Mapping{"bth.opcode", "infiniband.bth.opcode"},
    Mapping{"bth.se", "infiniband.bth.se"},
    Mapping{"bth.mig_req", "infiniband.bth.m"},
    Mapping{"bth.pad_count", "infiniband.bth.padcnt"},
    Mapping{"bth.tver", "infiniband.bth.tver"},
    Mapping{"bth.p_key", "infiniband.bth.p_key"},
    Mapping{"bth.dest_qp", "infiniband.bth.destqp"},
    Mapping{"bth.ack_req", "infiniband.bth.a"},
    Mapping{"bth.reserved2", "infiniband.bth.reserved7"},
    Mapping{"bth.psn", "infiniband.bth.psn"},
    Mapping{"deth.q_key", "infiniband.deth.q_key"},
    Mapping{"deth.src_qp", "infiniband.deth.srcqp"},
    Mapping{"reth.va", "infiniband.reth.va"},
    Mapping{"reth.r_key", "infiniband.reth.r_key"},
    Mapping{"reth.dma_length", "infiniband.reth.dmalen"},
    Mapping{"atomiceth.va", "infiniband.reth.va"},
    Mapping{"atomiceth.r_key", "infiniband.reth.r_key"},
    Mapping{"atomiceth.swap_or_add", "infiniband.atomiceth.swapdt"},
    Mapping{"atomiceth.compare", "infiniband.atomiceth.cmpdt"},
    Mapping{"aeth.syndrome", "infiniband.aeth.syndrome"},
    Mapping{"aeth.msn", "infiniband.aeth.msn"},
    Mapping{"atomicacketh.original", "infiniband.atomicacketh.origremdt"},
    Mapping{"immdt.data", "infiniband.immdt"},
    Mapping{"ieth.r_key", "infiniband.ieth"},
    Mapping{"mad.base_version", "infiniband.mad.baseversion"},
    Mapping{"mad.mgmt_class", "infiniband.mad.mgmtclass"},
    Mapping{"mad.class_version", "infiniband.mad.classversion"},
    Mapping{"mad.method", "infiniband.mad.method"},
    Mapping{"mad.status", "infiniband.mad.status"},
    Mapping{"mad.class_specific", "infiniband.mad.classspecific"},
    Mapping{"mad.transaction_id", "infiniband.mad.transactionid"},
    Mapping{"mad.attribute_id", "infiniband.mad.attributeid"},
    Mapping{"mad.attribute_modifier", "infiniband.mad.attributemodifier"},
    Mapping{"cm_req.local_comm_id", "infiniband.cm.req"},
    Mapping{"cm_req.service_id", "infiniband.cm.req.serviceid"},
    Mapping{"cm_req.local_ca_guid", "infiniband.cm.req.localcaguid"},
    Mapping{"cm_req.local_qpn", "infiniband.cm.req.localqpn"},
    Mapping{"cm_req.starting_psn", "infiniband.cm.req.startpsn"},
    Mapping{"cm_req.retry_count", "infiniband.cm.req.retrcount"},
    Mapping{"cm_req.primary_hop_limit", "infiniband.cm.req.prim_hoplim"},
    Mapping{"cma.source_port", "infiniband.cm.req.ip_cm.sport"},
    Mapping{"cm_rep.local_comm_id", "infiniband.cm.rep"},
    Mapping{"cm_rep.remote_comm_id", "infiniband.cm.rep.remotecommid"},
    Mapping{"cm_rep.local_qpn", "infiniband.cm.rep.localqpn"},
    Mapping{"cm_rep.starting_psn", "infiniband.cm.rep.startpsn"},
    Mapping{"cm_rep.rnr_retry_count", "infiniband.cm.rep.rnrretrcount"},
    Mapping{"cm_rtu.local_comm_id", "infiniband.cm.rtu.localcommid"},
    Mapping{"cm_rtu.remote_comm_id", "infiniband.cm.rtu.remotecommid"},
    Mapping{"cm_dreq.local_comm_id", "infiniband.cm.dreq.localcommid"},
    Mapping{"cm_drep.remote_comm_id", "infiniband.cm.drsp.remotecommid"},
};

std::uint32_t byte_swapped(std::uint32_t value) {
  return __builtin_bswap32(value);
}

/// Returns numbers in decimal without leading zeros, and addresses and bytes in hex.
std::string canonical(const std::string& text) {
  if (text == "True") return "1";
  if (text == "False") return "0";
  std::array<std::byte, 16> ipv6{};
  if (inet_pton(AF_INET6, text.c_str(), ipv6.data()) == 1) return test::to_hex(ipv6);
  std::array<std::byte, 4> ipv4{};
  if (inet_pton(AF_INET, text.c_str(), ipv4.data()) == 1) return test::to_hex(ipv4);
  if (text.size() == 17 && text[2] == ':') {
    std::string hex = text;
    std::erase(hex, ':');
    return hex;
  }
  if (text.starts_with("0x")) return std::to_string(std::stoull(text, nullptr, 16));
  return text;
}

std::string our_value(const FieldInfo& field, Bytes header) {
  if (is_octets(field)) return test::to_hex(field_octets(field, header));
  return std::to_string(field_number(field, header));
}

/// True for fields that tshark shows as bytes.
bool is_bytes_there(std::string_view theirs) {
  return theirs == "infiniband.immdt" || theirs == "infiniband.ieth";
}

std::vector<std::vector<std::string>> run_tshark(const std::filesystem::path& path,
                                                 const std::vector<std::string_view>& fields) {
  std::string command = "tshark -n -r '" + path.string() + "' -T fields -E separator=';' -E occurrence=f";
  for (const std::string_view field : fields) command += " -e " + std::string{field};
  command += " 2>/dev/null";
  std::string output;
  {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe) return {};
    std::array<char, 65536> chunk{};
    for (std::size_t count = 0; (count = fread(chunk.data(), 1, chunk.size(), pipe.get())) > 0;) {
      output.append(chunk.data(), count);
    }
  }
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream columns(line);
    for (std::string value; std::getline(columns, value, ';');) row.push_back(value);
    row.resize(fields.size());
  }
  return rows;
}

/// Returns how often each field was compared, over all captures.
std::map<std::string_view, std::size_t>& comparisons() {
  static std::map<std::string_view, std::size_t> counts;
  return counts;
}

void compare_capture(const std::filesystem::path& path) {
  std::vector<std::string_view> fields{"infiniband.invariant.crc", "_ws.malformed"};
  for (const Mapping& mapping : kMappings) {
    if (std::ranges::find(fields, mapping.theirs) == fields.end()) fields.push_back(mapping.theirs);
  }
  const auto rows = run_tshark(path, fields);
  ASSERT_FALSE(rows.empty()) << "tshark says nothing of " << path;
  std::size_t next = 0;
  std::size_t mismatches = 0;
  test::for_each_record(path, [&](const link::CaptureRecord& record) {
    ASSERT_LT(next, rows.size());
    const std::vector<std::string>& row = rows[next++];
    const auto theirs = [&](std::string_view name) {
      return row[static_cast<std::size_t>(std::ranges::find(fields, name) - fields.begin())];
    };
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet, record.original_length);
    if (!packet.is_roce()) {
      // tshark also dissects the packet that an ICMP error quotes.
      EXPECT_TRUE(theirs("infiniband.bth.psn").empty() || theirs("ip.proto") == "1") << record.number;
      return;
    }
    // tshark 4.0 does not recognise a CNP, nor its ICRC; and if it guesses wrong what the payload
    // holds, it does not get as far as the ICRC.
    if (packet.has_icrc() && packet.opcode() != Opcode::cnp && theirs("_ws.malformed").empty()) {
      EXPECT_EQ(canonical(theirs("infiniband.invariant.crc")), std::to_string(byte_swapped(packet.stored_icrc())))
          << record.number;
      ++comparisons()["icrc"];
    }
    for (const Mapping& mapping : kMappings) {
      const std::size_t dot = mapping.ours.find('.');
      const HeaderInfo* header = find_header(mapping.ours.substr(0, dot));
      ASSERT_NE(header, nullptr) << mapping.ours;
      const FieldInfo* field = find_field(*header, mapping.ours.substr(dot + 1));
      ASSERT_NE(field, nullptr) << mapping.ours;
      const auto layer = packet.find(header->id);
      if (!layer) continue;
      const Bytes bytes = packet.layer_bytes(*layer);
      const std::string value = is_bytes_there(mapping.theirs)
                                    ? test::to_hex(bytes.subspan(field->byte_offset(), field->bit_width / 8))
                                    : our_value(*field, bytes);
      const std::string text = theirs(mapping.theirs);
      const std::string found = is_bytes_there(mapping.theirs) ? text : canonical(text);
      ++comparisons()[mapping.ours];
      if (value == found || ++mismatches > 20) continue;
      ADD_FAILURE() << "packet " << record.number << ' ' << mapping.ours << ": we say " << value << ", tshark says "
                    << found << " (" << mapping.theirs << ')';
    }
  });
  EXPECT_EQ(next, rows.size());
  EXPECT_EQ(mismatches, 0U);
}

/// Writes the vectors to a capture file: they have RoCE v1 and VLAN tags, which no capture has.
std::filesystem::path write_vectors(const test::TemporaryFolder& folder) {
  const std::filesystem::path path = folder.path("vectors.pcap");
  std::ofstream file(path, std::ios::binary);
  const auto words = [&](std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) {
      std::array<std::byte, 4> bytes{};
      store_big_endian<4>(bytes.data(), value);
      file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  };
  words({0xA1B2C3D4, 0x0002'0004, 0, 0, 65535, 1});
  for (const test::Vector& vector : test::kVectors) {
    const auto frame = test::from_hex(vector.hex);
    const auto size = static_cast<std::uint32_t>(frame.size());
    words({0, 0, size, size});
    file.write(reinterpret_cast<const char*>(frame.data()), size);
  }
  return path;
}

/// This is one test, since only all captures together have every field.
TEST(FieldsOfTshark, AreOursInEveryCapture) {
  auto files = test::capture_files();
  const test::TemporaryFolder folder;
  files.push_back(write_vectors(folder));
  for (const std::filesystem::path& path : files) {
    SCOPED_TRACE(path.filename().string());
    compare_capture(path);
  }
  for (const Mapping& mapping : kMappings) {
    EXPECT_GT(comparisons()[mapping.ours], 0U) << mapping.ours << " was never compared";
  }
  std::size_t all = 0;
  for (const auto& [name, count] : comparisons()) all += count;
  RecordProperty("fields_compared", static_cast<int>(all));
  std::cout << all << " values of " << comparisons().size() << " fields compared\n";
}

}  // namespace
}  // namespace roce
