// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "control_support.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/lldp.h"
#include "roce/wire/mac_control.h"
#include "support/temporary_folder.h"

namespace roce {
namespace {

using namespace control_test;

/// A frame, and the value that tshark has to show for each of these fields: numbers in decimal, bytes and addresses in
/// hex, several occurrences separated by commas, two values of which either will do by a bar.
struct Frame {
  std::vector<std::byte> bytes;
  std::map<std::string, std::string> fields;
};

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

template <typename T>
std::string number(const T& value)
  requires(NumberField<T> && !std::integral<T>)
{
  return std::to_string(to_raw(value));
}

std::string octets(const Gid& gid) {
  return to_hex(std::as_bytes(std::span(gid.octets)));
}

std::string canonical_one(const std::string& text) {
  if (text == "True") return "1";
  if (text == "False") return "0";
  std::array<std::byte, 16> address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return to_hex(address);
  if (text.starts_with("0x")) return std::to_string(std::stoull(text, nullptr, 16));
  return text;
}

std::string canonical(const std::string& text) {
  std::istringstream parts(text);
  std::string all;
  for (std::string part; std::getline(parts, part, ',');) all += (all.empty() ? "" : ",") + canonical_one(part);
  return all;
}

void write_pcap(const std::string& path, const std::vector<Frame>& frames) {
  std::ofstream file(path, std::ios::binary);
  const auto word = [&](std::uint32_t value) {
    std::array<std::byte, 4> bytes{};
    store_big_endian<4>(bytes.data(), value);
    file.write(reinterpret_cast<const char*>(bytes.data()), 4);
  };
  for (const std::uint32_t value : {0xA1B2C3D4U, 0x00020004U, 0U, 0U, 65535U, 1U}) word(value);
  for (const Frame& frame : frames) {
    const auto size = static_cast<std::uint32_t>(frame.bytes.size());
    for (const std::uint32_t value : {0U, 0U, size, size}) word(value);
    file.write(reinterpret_cast<const char*>(frame.bytes.data()), size);
  }
}

/// True if `value` is one of those that `alternatives` lists, separated by `|`.
bool is_alternative(std::string_view value, std::string_view alternatives) {
  while (true) {
    const std::size_t bar = alternatives.find('|');
    if (value == alternatives.substr(0, bar)) return true;
    if (bar == std::string_view::npos) return false;
    alternatives.remove_prefix(bar + 1);
  }
}

/// Runs tshark over the frames and compares every field.
void compare_with_tshark(const std::vector<Frame>& frames) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("frames.pcap");
  write_pcap(path, frames);
  std::vector<std::string> names;
  for (const Frame& frame : frames) {
    for (const auto& [name, value] : frame.fields) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  std::string command = "tshark -n -r '" + path + "' -T fields -E separator=';' -E occurrence=a";
  for (const std::string& name : names) command += " -e " + name;
  command += " 2>/dev/null";

  std::string output;
  {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    ASSERT_TRUE(pipe);
    std::array<char, 4096> chunk{};
    for (std::size_t count; (count = fread(chunk.data(), 1, chunk.size(), pipe.get())) > 0;) {
      output.append(chunk.data(), count);
    }
  }

  std::istringstream lines(output);
  std::size_t compared = 0;
  for (const Frame& frame : frames) {
    SCOPED_TRACE(to_hex(frame.bytes));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << "no line from: " << command;
    std::vector<std::string> values;
    std::istringstream columns(line);
    for (std::string value; std::getline(columns, value, ';');) values.push_back(value);
    values.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto field = frame.fields.find(names[i]);
      if (field == frame.fields.end()) continue;
      const std::string found = canonical(values[i]);
      EXPECT_TRUE(is_alternative(found, field->second)) << names[i] << " is " << found << ", not " << field->second;
      ++compared;
    }
  }
  testing::Test::RecordProperty("fields_compared", static_cast<int>(compared));
}

/// Returns a frame to QP1 with a random MAD header of this attribute, and this message.
Frame cm_frame(MadAttribute attribute, Bytes message, std::mt19937& random) {
  Mad mad;
  mad.transaction_id = std::uint64_t{random()} << 32 | random();
  mad.attribute_id = attribute;
  mad.attribute_modifier = static_cast<std::uint32_t>(random());
  mad.status = static_cast<std::uint16_t>(random());
  mad.class_specific = static_cast<std::uint16_t>(random());
  Frame frame{from_hex(kReqFrame), {}};
  write(mad, frame.bytes.data() + kMadOffset);
  std::ranges::copy(message, frame.bytes.begin() + kMadOffset + kSize<Mad>);
  frame.fields = {{"infiniband.mad.baseversion", number(mad.base_version)},
                  {"infiniband.mad.mgmtclass", number(mad.mgmt_class)},
                  {"infiniband.mad.classversion", number(mad.class_version)},
                  {"infiniband.mad.method", number(mad.method)},
                  {"infiniband.mad.status", number(mad.status)},
                  {"infiniband.mad.classspecific", number(mad.class_specific)},
                  {"infiniband.mad.transactionid", number(mad.transaction_id)},
                  {"infiniband.mad.attributeid", number(mad.attribute_id)},
                  {"infiniband.mad.attributemodifier", number(mad.attribute_modifier)}};
  return frame;
}

// tshark 4.0 reads the flow label from three bytes of its word under a mask for four, and the reserved bits and
// the packet rate behind it from the word's first byte. The value that it shows is still a part of the flow
// label. A version that reads the whole word is right too; 4.4 does, but shows two bits of the label as the reserved
// ones.
std::string flow_label(std::uint32_t label) {
  return number(label >> 8) + "|" + number(label);
}
std::string flow_reserved(std::uint32_t label, std::uint8_t reserved) {
  return number(label >> 18) + "|" + number(reserved) + "|" + number(label >> 2 & 3U);
}
std::string packet_rate(std::uint32_t label, PacketRate rate) {
  return number(label >> 12 & 0x3F) + "|" + number(rate);
}

// tshark 4.0 shows the last two of the six reserved bits behind "Message REJected".
std::string low_two_bits(std::uint8_t reserved) {
  return number(reserved & 3U) + "|" + number(reserved);
}

Frame req_frame(const std::vector<std::byte>& bytes, std::mt19937& random) {
  Frame frame = cm_frame(MadAttribute::cm_req, bytes, random);
  const auto req = read<CmReq>(bytes.data());
  const std::string p = "infiniband.cm.req";
  // tshark shows the three bits behind the ACK timeout, SAP among them, under the name of the reserved ones before it.
  const unsigned last_bits = (req.alternate_sap_supported ? 4U : 0U) | req.alternate_reserved3;
  frame.fields.merge(std::map<std::string, std::string>{
      {p, number(req.local_comm_id)},
      {p + ".localcaguid", number(req.local_ca_guid)},
      {p + ".localqkey", number(req.local_q_key)},
      {p + ".localqpn", number(req.local_qpn)},
      {p + ".responderres", number(req.responder_resources)},
      {p + ".localeecn", number(req.local_eecn)},
      {p + ".initdepth", number(req.initiator_depth)},
      {p + ".remoteeecn", number(req.remote_eecn)},
      {p + ".remoteresptout", number(req.remote_cm_response_timeout)},
      {p + ".transpsvctype", number(req.transport_service)},
      {p + ".e2eflowctrl", number(req.flow_control)},
      {p + ".startpsn", number(req.starting_psn)},
      {p + ".localresptout", number(req.local_cm_response_timeout)},
      {p + ".retrcount", number(req.retry_count)},
      {p + ".pkey", number(req.p_key)},
      {p + ".pppmtu", number(req.path_mtu)},
      {p + ".rdcexist", number(req.rdc_exists)},
      {p + ".rnrretrcount", number(req.rnr_retry_count)},
      {p + ".maxcmretr", number(req.max_cm_retries)},
      {p + ".srq", number(req.srq)},
      {p + ".ext_transport", number(req.extended_transport)},
      {p + ".prim_locallid", number(req.primary_local_lid)},
      {p + ".prim_remotelid", number(req.primary_remote_lid)},
      {p + ".prim_localgid_ipv4", to_string(req.primary_local_gid.ipv4())},
      {p + ".prim_remotegid_ipv4", to_string(req.primary_remote_gid.ipv4())},
      {p + ".prim_flowlabel", flow_label(req.primary_flow_label)},
      {p + ".prim_reserved0", flow_reserved(req.primary_flow_label, req.primary_reserved1)},
      {p + ".prim_pktrate", packet_rate(req.primary_flow_label, req.primary_packet_rate)},
      {p + ".prim_tfcclass", number(req.primary_traffic_class)},
      {p + ".prim_hoplim", number(req.primary_hop_limit)},
      {p + ".prim_sl", number(req.primary_sl)},
      {p + ".prim_subnetlocal", number(req.primary_subnet_local)},
      {p + ".prim_reserved1", number(req.primary_reserved2)},
      {p + ".prim_localacktout", number(req.primary_local_ack_timeout)},
      {p + ".prim_reserved2", number(req.primary_reserved3)},
      {p + ".alt_locallid", number(req.alternate_local_lid)},
      {p + ".alt_remotelid", number(req.alternate_remote_lid)},
      {p + ".alt_localgid", octets(req.alternate_local_gid)},
      {p + ".alt_remotegid", octets(req.alternate_remote_gid)},
      {p + ".alt_flowlabel", flow_label(req.alternate_flow_label)},
      {p + ".alt_reserved0", flow_reserved(req.alternate_flow_label, req.alternate_reserved1)},
      {p + ".alt_pktrate", packet_rate(req.alternate_flow_label, req.alternate_packet_rate)},
      {p + ".alt_tfcclass", number(req.alternate_traffic_class)},
      {p + ".alt_hoplim", number(req.alternate_hop_limit)},
      {p + ".alt_sl", number(req.alternate_sl)},
      {p + ".alt_subnetlocal", number(req.alternate_subnet_local)},
      {p + ".alt_reserved1", number(req.alternate_reserved2) + "," + number(last_bits)},
      {p + ".alt_localacktout", number(req.alternate_local_ack_timeout)},
  });
  if (!has_cma(req.service_id, req.private_data)) {
    frame.fields[p + ".serviceid"] = number(req.service_id);
    frame.fields[p + ".private"] = to_hex(req.private_data);
    return frame;
  }
  const auto cma = read<Cma>(req.private_data.data());
  frame.fields.merge(std::map<std::string, std::string>{
      {p + ".serviceid.protocol", number(req.service_id.ip_protocol())},
      {p + ".serviceid.dport", number(req.service_id.port())},
      {p + ".ip_cm.majv", number(cma.major_version)},
      {p + ".ip_cm.minv", number(cma.minor_version)},
      {p + ".ip_cm.ipv", number(cma.ip_version)},
      {p + ".ip_cm.reserved", number(cma.reserved)},
      {p + ".ip_cm.sport", number(cma.source_port)},
      {p + ".ip_cm.private", to_hex(Bytes(req.private_data).subspan(kSize<Cma>))},
  });
  if (cma.ip_version == 6) {
    frame.fields[p + ".ip_cm.sip6"] = octets(cma.source_address);
    frame.fields[p + ".ip_cm.dip6"] = octets(cma.destination_address);
  } else {
    frame.fields[p + ".ip_cm.sip4"] = to_string(cma.source_gid().ipv4());
    frame.fields[p + ".ip_cm.dip4"] = to_string(cma.destination_gid().ipv4());
  }
  return frame;
}

class ControlTshark : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "tshark is not installed";
  }
  std::mt19937 random_{4791};
};

TEST_F(ControlTshark, ReqWithAnyServiceId) {
  std::vector<Frame> frames;
  for (int i = 0; i < 30; ++i) frames.push_back(req_frame(random_bytes(kSize<CmReq>, random_), random_));
  compare_with_tshark(frames);
}

TEST_F(ControlTshark, ReqOfTheRdmaIpCm) {
  std::vector<Frame> frames;
  for (int i = 0; i < 30; ++i) {
    auto bytes = random_bytes(kSize<CmReq>, random_);
    const auto port = static_cast<std::uint16_t>(random_());
    FieldOf<&CmReq::service_id>::set(bytes.data(), ServiceId(PortSpace::tcp, port));
    bytes[140] = std::byte{0};
    FieldOf<&Cma::ip_version>::set(bytes.data() + 140, i % 2 == 0 ? 4 : 6);
    if (i % 2 == 0) std::fill_n(bytes.begin() + 144, 12, std::byte{0});
    if (i % 2 == 0) std::fill_n(bytes.begin() + 160, 12, std::byte{0});
    ASSERT_TRUE(has_cma(ServiceId(PortSpace::tcp, port), Bytes(bytes).subspan(140)));
    frames.push_back(req_frame(bytes, random_));
  }
  compare_with_tshark(frames);
}

TEST_F(ControlTshark, RepRtuRejDreqDrep) {
  std::vector<Frame> frames;
  for (int i = 0; i < 30; ++i) {
    const auto bytes = random_bytes(232, random_);
    const auto add = [&](MadAttribute attribute, std::map<std::string, std::string> fields) {
      frames.push_back(cm_frame(attribute, bytes, random_));
      frames.back().fields.merge(fields);
    };
    std::string p = "infiniband.cm.rep";
    const auto rep = read<CmRep>(bytes.data());
    add(MadAttribute::cm_rep, {{p, number(rep.local_comm_id)},
                               {p + ".remotecommid", number(rep.remote_comm_id)},
                               {p + ".localqkey", number(rep.local_q_key)},
                               {p + ".localqpn", number(rep.local_qpn)},
                               {p + ".localeecn", number(rep.local_eecn)},
                               {p + ".startpsn", number(rep.starting_psn)},
                               {p + ".respres", number(rep.responder_resources)},
                               {p + ".initdepth", number(rep.initiator_depth)},
                               {p + ".tgtackdelay", number(rep.target_ack_delay)},
                               {p + ".failoveracc", number(rep.failover_accepted)},
                               {p + ".e2eflowctrl", number(rep.flow_control)},
                               {p + ".rnrretrcount", number(rep.rnr_retry_count)},
                               {p + ".srq", number(rep.srq)},
                               {p + ".reserved", number(rep.reserved)},
                               {p + ".localcaguid", number(rep.local_ca_guid)},
                               {p + ".private", to_hex(rep.private_data)}});
    p = "infiniband.cm.rtu";
    const auto rtu = read<CmRtu>(bytes.data());
    add(MadAttribute::cm_rtu, {{p + ".localcommid", number(rtu.local_comm_id)},
                               {p + ".remotecommid", number(rtu.remote_comm_id)},
                               {p + ".private", to_hex(rtu.private_data)}});
    p = "infiniband.cm.rej";
    const auto rej = read<CmRej>(bytes.data());
    add(MadAttribute::cm_rej, {{p + ".localcommid", number(rej.local_comm_id)},
                               {p + ".remotecommid", number(rej.remote_comm_id)},
                               {p + ".msgrej", number(rej.message)},
                               {p + ".reserved0", low_two_bits(rej.reserved1)},
                               {p + ".rejinfolen", number(rej.info_length)},
                               {p + ".reserved1", number(rej.reserved2)},
                               {p + ".reason", number(rej.reason)},
                               {p + ".ari", to_hex(rej.info)},
                               {p + ".private", to_hex(rej.private_data)}});
    p = "infiniband.cm.dreq";
    const auto dreq = read<CmDreq>(bytes.data());
    add(MadAttribute::cm_dreq, {{p + ".localcommid", number(dreq.local_comm_id)},
                                {p + ".remotecommid", number(dreq.remote_comm_id)},
                                {"infiniband.cm.req.remoteqpneecn", number(dreq.remote_qpn)},
                                {p + ".private", to_hex(dreq.private_data)}});
    p = "infiniband.cm.drsp";
    const auto drep = read<CmDrep>(bytes.data());
    add(MadAttribute::cm_drep, {{p + ".localcommid", number(drep.local_comm_id)},
                                {p + ".remotecommid", number(drep.remote_comm_id)},
                                {p + ".private", to_hex(drep.private_data)}});
  }
  compare_with_tshark(frames);
}

TEST_F(ControlTshark, PfcAndPause) {
  std::vector<Frame> frames;
  for (int i = 0; i < 40; ++i) {
    Frame frame{from_hex(kPfcFrame), {}};
    std::byte* const body = frame.bytes.data() + kEthernetSize + kSize<MacControl>;
    if (i % 4 == 0) {
      write(MacControl{MacControlOpcode::pause}, frame.bytes.data() + kEthernetSize);
      const Pause pause{static_cast<std::uint16_t>(random_())};
      write(pause, body);
      frame.fields = {{"macc.opcode", "1"}, {"macc.pause_time", number(pause.quanta)}};
    } else {
      const auto bytes = random_bytes(kSize<Pfc>, random_);
      auto pfc = read<Pfc>(bytes.data());
      pfc.reserved = 0;
      write(pfc, body);
      frame.fields["macc.opcode"] = number(0x0101U);
      for (unsigned priority = 0; priority < 8; ++priority) {
        const std::string suffix = ".c" + std::to_string(priority);
        frame.fields["macc.cbfc.enbv" + suffix] = number(pfc.enabled(priority));
        frame.fields["macc.cbfc.pause_time" + suffix] = number(pfc.timer(priority));
      }
    }
    frames.push_back(std::move(frame));
  }
  compare_with_tshark(frames);
}

/// Returns a frame with the mandatory TLVs, one organisation-specific TLV and the End TLV.
Frame lldp_frame(std::uint8_t subtype, const std::vector<std::byte>& content) {
  Frame frame{from_hex(kLldpFrame), {}};
  frame.bytes.resize(kEthernetSize + 22);
  const auto add = [&](const std::vector<std::byte>& bytes) {
    frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
  };
  add(emitted(LldpTlv{LldpType::organization, static_cast<std::uint16_t>(kSize<LldpOrg> + content.size())}));
  add(emitted(LldpOrg{kOuiIeee8021, subtype}));
  add(content);
  add(emitted(LldpTlv{}));
  return frame;
}

template <typename H>
void expect_tables(const H& ets, std::map<std::string, std::string>& fields) {
  for (unsigned i = 0; i < 8; ++i) {
    const std::string suffix = std::to_string(i);
    fields["lldp.dcbx.feature.pg.pgid_prio" + suffix] = number(ets.traffic_class(i));
    fields["lldp.dcbx.feature.pg.per" + suffix] = number(ets.bandwidth(i));
    fields["lldp.dcbx.ieee.ets.tsa" + suffix] = number(ets.tsa(i));
  }
}

TEST_F(ControlTshark, Dcbx) {
  std::vector<Frame> frames;
  for (int i = 0; i < 20; ++i) {
    const auto content = random_bytes(kSize<DcbxEts>, random_);
    frames.push_back(lldp_frame(9, content));
    const auto ets = read<DcbxEts>(content.data());
    frames.back().fields = {{"lldp.orgtlv.oui", number(kOuiIeee8021)},
                            {"lldp.ieee.802_1.subtype", "9"},
                            {"lldp.tlv.type", "1,2,3,127,0"},
                            {"lldp.tlv.len", "7,7,2,25,0"},
                            {"lldp.dcbx.ieee.willing", number(ets.willing)},
                            {"lldp.dcbx.ieee.ets.cbs", number(ets.cbs)},
                            {"lldp.dcbx.ieee.ets.maxtcs", number(ets.max_tcs)}};
    expect_tables(ets, frames.back().fields);

    frames.push_back(lldp_frame(10, content));
    expect_tables(read<DcbxEtsRecommendation>(content.data()), frames.back().fields);

    frames.push_back(lldp_frame(11, {content.begin(), content.begin() + 2}));
    const auto pfc = read<DcbxPfc>(content.data());
    frames.back().fields = {{"lldp.dcbx.ieee.willing", number(pfc.willing)},
                            {"lldp.dcbx.ieee.pfc.mbc", number(pfc.mbc)},
                            {"lldp.dcbx.ieee.pfc.numtcs", number(pfc.capability)}};
    for (unsigned priority = 0; priority < 8; ++priority) {
      frames.back().fields["lldp.dcbx.feature.pfc.prio" + std::to_string(priority)] = number(pfc.enabled(priority));
    }

    frames.push_back(lldp_frame(12, {content.begin(), content.begin() + 7}));
    const auto first = read<DcbxAppEntry>(content.data() + 1);
    const auto second = read<DcbxAppEntry>(content.data() + 4);
    frames.back().fields = {{"lldp.dcbx.ieee.app.prio", number(first.priority) + "," + number(second.priority)},
                            {"lldp.dcbx.iee.app.sf", number(first.selector) + "," + number(second.selector)},
                            {"lldp.dcbx.feature.app.proto", number(first.protocol) + "," + number(second.protocol)}};
  }
  compare_with_tshark(frames);
}

}  // namespace
}  // namespace roce
