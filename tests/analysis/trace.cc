// SPDX-License-Identifier: BSD-2-Clause
#include "trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <sstream>
#include <stdexcept>

#include "roce/wire/packet_spec.h"
#include "roce/wire/super_frame.h"

namespace roce::analysis {

namespace {

using Options = std::map<std::string, std::string, std::less<>>;

// Bytes cut off: the ICRC and part of the payload.
constexpr std::size_t kCut = 8;
// So many bytes in front of the BTH: Ethernet, IPv4, UDP.
constexpr std::size_t kBth = 42;

struct Line {
  Time time{};
  char source = 'A';
  char destination = 'B';
  std::string opcode;
  std::string psn;
  Options options;
};

const std::map<std::string, std::pair<std::string, std::string>, std::less<>> kShort{
    {"ACK", {"ACKNOWLEDGE", "0x1f"}},           {"NAK_SEQUENCE", {"ACKNOWLEDGE", "0x60"}},
    {"NAK_INVALID", {"ACKNOWLEDGE", "0x61"}},   {"NAK_ACCESS", {"ACKNOWLEDGE", "0x62"}},
    {"NAK_OPERATION", {"ACKNOWLEDGE", "0x63"}}, {"NAK_RD", {"ACKNOWLEDGE", "0x64"}},
    {"RNR", {"ACKNOWLEDGE", "0x2e"}},           {"READ", {"READ_REQUEST", ""}},
    {"FIRST", {"READ_RESPONSE_FIRST", ""}},     {"MIDDLE", {"READ_RESPONSE_MIDDLE", ""}},
    {"LAST", {"READ_RESPONSE_LAST", ""}},       {"ONLY", {"READ_RESPONSE_ONLY", ""}}};

void set(PacketSpec& spec, std::string_view name, std::string_view value) {
  if (const auto done = spec.set(name, value); !done) throw std::invalid_argument(done.error().message);
}

Line read_line(const std::string& text) {
  std::istringstream words{text};
  Line line;
  double microseconds = 0;
  std::string hosts;
  words >> microseconds >> hosts >> line.opcode >> line.psn;
  if (hosts.size() != 3 || line.psn.empty()) throw std::invalid_argument("not a line of a trace: " + text);
  line.time = Time{Duration{static_cast<Duration::rep>(microseconds * 1000 + (microseconds < 0 ? -0.5 : 0.5))}};
  line.source = hosts[0];
  line.destination = hosts[2];
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    line.options[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return line;
}

std::string taken(Options& options, std::string_view name, std::string otherwise) {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  std::string value = found->second;
  options.erase(found);
  return value;
}

void set_addresses(PacketSpec& spec, const Line& line, RoceVersion version, std::string_view port, std::string_view id,
                   std::string_view ttl, bool is_marked) {
  const int source = line.source - 'A' + 1;
  const int destination = line.destination - 'A' + 1;
  if (version == RoceVersion::v2_ipv4) {
    set(spec, "ip.src", fmt::format("192.0.2.{}", source));
    set(spec, "ip.dst", fmt::format("192.0.2.{}", destination));
    set(spec, "ip.id", id);
    set(spec, "ip.ttl", ttl);
    set(spec, "ip.ecn", is_marked ? "3" : "2");
  } else {
    const bool is_v1 = version == RoceVersion::v1;
    set(spec, is_v1 ? "grh.sgid" : "ipv6.src", fmt::format("2001:db8::{}", source));
    set(spec, is_v1 ? "grh.dgid" : "ipv6.dst", fmt::format("2001:db8::{}", destination));
  }
  if (version != RoceVersion::v1) set(spec, "udp.srcport", port);
}

std::vector<std::byte> build(Line line, std::uint16_t id) {
  Options& options = line.options;
  std::string syndrome;
  if (const auto found = kShort.find(line.opcode); found != kShort.end()) {
    line.opcode = found->second.first;
    syndrome = found->second.second;
  }
  const bool has_service = line.opcode == "CNP" || line.opcode.starts_with("UC_") || line.opcode.starts_with("UD_") ||
                           line.opcode.starts_with("XRC_");
  const auto opcode = opcode_from_name(has_service ? line.opcode : "RC_" + line.opcode);
  if (!opcode) throw std::invalid_argument("no opcode " + line.opcode);
  const RoceVersion version = options.erase("v1") != 0   ? RoceVersion::v1
                              : options.erase("v6") != 0 ? RoceVersion::v2_ipv6
                                                         : RoceVersion::v2_ipv4;
  PacketSpec spec = PacketSpec::for_opcode(*opcode, version);
  if (const std::string headers = taken(options, "headers", ""); !headers.empty()) {
    std::string all = "eth ip udp bth deth mad " + headers;
    set(spec, "headers", all);
    set(spec, "bth.opcode", "0x64");
  }
  const OpcodeInfo& info = opcode_info(*opcode);
  set_addresses(spec, line, version, taken(options, "port", "49152"), taken(options, "id", std::to_string(id)),
                taken(options, "ttl", "64"), options.erase("ce") != 0);
  set(spec, "bth.dest_qp", taken(options, "qp", line.destination == 'B' ? "0x22" : "0x11"));
  set(spec, "bth.psn", line.psn);
  set(spec, "bth.ack_req", options.erase("ar") != 0 ? "1" : "0");
  if (!syndrome.empty()) set(spec, "aeth.syndrome", syndrome);
  if (info.service == Service::ud) set(spec, "deth.src_qp", taken(options, "sqp", "0x11"));
  const std::string dma = taken(options, "dma", "64");
  if (spec.get("reth.dma_length")) set(spec, "reth.dma_length", dma);
  const bool is_full = info.payload == PayloadRule::exactly_mtu;
  const std::string length = taken(options, "len", is_full ? "256" : "64");
  const std::string fill = taken(options, "fill", line.psn);
  if (info.payload != PayloadRule::none && info.payload != PayloadRule::exactly_eight &&
      info.operation != Operation::cnp && !spec.get("mad.method")) {
    std::string bytes;
    for (int i = 0; i < std::stoi(length); ++i) bytes += fmt::format("{:02x}", std::stoul(fill) & 0xFF);
    set(spec, "payload", bytes);
  }
  if (options.erase("bad") != 0) set(spec, "icrc", "wrong");
  const std::string vlan = taken(options, "vlan", "");
  const bool is_cut = options.erase("cut") != 0;
  for (const auto& [name, value] : options) set(spec, name, value);
  auto bytes = spec.build();
  if (!bytes) throw std::invalid_argument(bytes.error().message);
  if (!vlan.empty()) {
    const auto tag = static_cast<std::uint16_t>(std::stoul(vlan));
    const std::array inserted{std::byte{0x81}, std::byte{0}, static_cast<std::byte>(tag >> 8U),
                              static_cast<std::byte>(tag & 0xFFU)};
    bytes->insert(bytes->begin() + 12, inserted.begin(), inserted.end());
  }
  if (is_cut) bytes->resize(bytes->size() - kCut);
  return *bytes;
}

/// The circumstances of a capture that the frame does not show.
struct Capture {
  std::size_t reported = 0;  ///< length of the frame on the wire
  std::uint16_t point = 0;
  Time time{};
};

void take(Tracker& tracker, const std::vector<std::byte>& frame, const Capture& capture, Findings& findings) {
  const Packet packet = parse_frame(frame, LinkType::ethernet, static_cast<std::uint32_t>(capture.reported));
  const PacketId id{findings.packets.size() + 1, 0};
  Observation seen = observe_packet(packet, check_icrc(packet), capture.time, id);
  seen.point = capture.point;
  const PacketAnalysis& analysis = tracker.observe(seen);
  for (const Verdict& verdict : analysis.verdicts) findings.now.push_back(to_text(verdict));
  findings.packets.push_back(analysis);
  findings.packets.back().verdicts = {};
}

void drain(Tracker& tracker, Findings& findings) {
  std::vector<Verdict> later;
  tracker.drain(later);
  for (const Verdict& verdict : later) findings.later.push_back(to_text(verdict));
  tracker.drain_messages(findings.messages);
  tracker.drain_answers(findings.answers);
}

}  // namespace

std::string to_text(const Verdict& verdict) {
  std::string text =
      fmt::format("{} {} {}", verdict.packet.frame, verdict_info(verdict.kind).name, verdict.first_psn.value());
  if (verdict.psn_count != 1) text += fmt::format("x{}", verdict.psn_count);
  if (verdict.rule != Rule::none) text += fmt::format(" rule={}", rule_info(verdict.rule).identifier);
  if (verdict.cause != Cause::none) text += fmt::format(" cause={}", to_string(verdict.cause));
  if (verdict.other) text += fmt::format(" of={}", verdict.other.frame);
  if (verdict.elapsed != Duration{}) text += fmt::format(" after={}us", verdict.elapsed.count() / 1000);
  if (verdict.spurious) text += " spurious";
  if (verdict.tries != 0) text += fmt::format(" tries={}", verdict.tries);
  if (verdict.ack_timeout != 0) text += fmt::format(" ack_timeout={}", verdict.ack_timeout);
  if (verdict.cm_message != MadAttribute{}) text += fmt::format(" message={}", cm_message_name(verdict.cm_message));
  return text;
}

void feed(Tracker& tracker, std::string_view trace, Findings& findings) {
  std::istringstream lines{std::string{trace}};
  std::map<char, std::uint16_t> ids;
  for (std::string text; std::getline(lines, text);) {
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(' ') == std::string::npos) continue;
    Line line = read_line(text);
    const Time time = line.time;
    const bool is_cut = line.options.contains("cut");
    const auto snap = line.options.extract("snap");
    const auto point = static_cast<std::uint16_t>(std::stoul(taken(line.options, "point", "0")));
    const auto id = static_cast<std::uint16_t>(1000 * (line.source - 'A') + ++ids[line.source]);
    std::vector<std::byte> frame = build(std::move(line), id);
    const std::size_t reported = frame.size() + (is_cut ? kCut : 0);
    if (snap) frame.resize(std::min(frame.size(), kBth + std::stoul(snap.mapped())));
    take(tracker, frame, {reported, point, time}, findings);
    drain(tracker, findings);
  }
}

Findings analyse(std::string_view trace, const TrackerOptions& options) {
  Tracker tracker{options};
  Findings findings;
  feed(tracker, trace, findings);
  tracker.finish();
  drain(tracker, findings);
  findings.streams = tracker.streams();
  findings.evictions = tracker.evictions();
  return findings;
}

}  // namespace roce::analysis
