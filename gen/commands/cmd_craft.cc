// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "gen/frames/frame_addresses.h"
#include "gen/frames/frame_command.h"
#include "gen/frames/packet_file.h"

namespace roce::gen {

namespace {

constexpr const char* kFooter =
    R"(A value is fixed, or a rule: A/B/C in turn; LO..HI or LO..HI+STEP counting within; START+STEP or +STEP counting on
(+-1 down); rand or rand:LO..HI. Names are those that roce-analyze decode -v shows, and opcode, version (v1, v2_ipv4,
v2_ipv6), headers, payload, payload_length, pad, icrc (auto, wrong, none, a number), trailer: docs/roce-gen.md.
Examples:
  roce-gen craft --dry-run opcode=RC_WRITE_ONLY reth.dma_length=16 payload_length=16
  roce-gen craft -w psn.pcap -n 1000 bth.psn=+1 payload_length=1024
  roce-gen craft -w bad.pcapng -n 100 opcode=RC_SEND_ONLY bth.psn=0xfffff0+1 icrc=auto/wrong
  roce-gen craft -w fuzz.pcap -n 50 --seed 7 version=v2_ipv6 bth.dest_qp=rand bth.p_key=rand:1..9 udp.srcport=+1
  roce-gen craft -w tagged.pcap 'headers=eth vlan ip udp bth' vlan.vid=5 vlan.pcp=3
  roce-gen craft -i eth0 --to 192.0.2.7 -D 10 --rate 100kpps --burst 32 bth.dest_qp=0x11 bth.psn=+1
  roce-gen craft -i eth0 --to 192.0.2.7 -f packets.yaml -n 0
  roce-gen craft -i eth0 --to 192.0.2.7 -n 100000 --segmentation bth.psn=+1 payload_length=1024
Exit code: 0 all was sent or written, 1 some was not, 2 wrong command line or values; nothing was sent then.)";

struct CraftOptions {
  FrameOptions frames;
  std::vector<std::string> values;
  std::string packets;
  bool list = false;
};

[[nodiscard]] Outcome<std::vector<VaryingPacket>> read_packets(const CraftOptions& options) {
  const Outcome<std::vector<std::pair<std::string, std::string>>> values = split_values(options.values);
  if (!values) return tl::unexpected(values.error());
  if (!options.packets.empty()) return read_packet_file(options.packets, *values);
  SpecResult<VaryingPacket> packet = read_packet(*values);
  if (!packet) return cannot(packet.error().message);
  std::vector<VaryingPacket> packets;
  packets.push_back(std::move(*packet));
  return packets;
}

/// Lets IPv4 identifications that the user has not set count up, as segmentation counts them.
[[nodiscard]] Outcome<void> count_identifications(std::vector<VaryingPacket>& packets) {
  static const std::string name = "ip.id";
  for (VaryingPacket& packet : packets) {
    const bool is_given = std::find(packet.given.begin(), packet.given.end(), name) != packet.given.end();
    if (is_given || !packet.spec.field(name)) continue;
    SpecResult<ValueRule> rule = ValueRule::read(packet.spec, name, "+1");
    if (!rule) return cannot(rule.error().message);
    packet.rules.emplace_back(name, std::move(*rule));
  }
  return {};
}

void print_names(const std::vector<VaryingPacket>& packets) {
  for (const VaryingPacket& packet : packets) {
    fmt::print("headers: {}\n", *packet.spec.get("headers"));
    for (const std::string& name : packet.spec.names()) fmt::print("{}: {}\n", name, *packet.spec.get(name));
  }
}

[[nodiscard]] Outcome<ExitCode> run(const CraftOptions& options) {
  const std::array reading{files::FileUse{"--file", options.packets}};
  const std::array written{files::FileUse{"--write", options.frames.file},
                           files::FileUse{"--metrics-file", options.frames.metrics.file}};
  if (const auto conflict = files::find_conflict(reading, written)) return cannot(*conflict);
  Outcome<std::vector<VaryingPacket>> packets = read_packets(options);
  if (!packets) return tl::unexpected(packets.error());
  if (options.frames.segmentation) {
    if (Outcome<void> counted = count_identifications(*packets); !counted) return tl::unexpected(counted.error());
  }
  if (options.list) {
    print_names(*packets);
    return ExitCode::ok;
  }
  Outcome<FrameTarget> target = FrameTarget::open(options.frames);
  if (!target) return tl::unexpected(target.error());
  if (target->interface()) {
    if (Outcome<void> filled = fill_addresses(*packets, *target->interface(), options.frames.to); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  FrameJob job{.packets = std::move(*packets)};
  if (Outcome<void> read = read_schedule(options.frames, job); !read) return tl::unexpected(read.error());
  const Outcome<FrameResult> result = run_frames(*target, options.frames, job);
  if (!result) return tl::unexpected(result.error());
  print_frames("craft", options.frames, *result, nlohmann::ordered_json::object(), {});
  return ended(options.frames, *result);
}

}  // namespace

void add_craft(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("craft", "Send any frame, legal or not, from named values");
  auto options = std::make_shared<CraftOptions>();
  command.add_option("values", options->values, "NAME=VALUE or NAME=RULE, e.g. opcode=RC_SEND_ONLY bth.psn=+1")
      .type_name("NAME=VALUE");
  command.add_option("-f,--file", options->packets, "Packets of a YAML file, sent in turn; the values count in each")
      .type_name("FILE");
  add_frame_options(command, options->frames);
  command.add_flag("--segmentation", options->frames.segmentation,
                   "Have the kernel cut many packets from one frame, which is faster: ip.id counts up where it is not "
                   "set, and UDP checksums are there");
  command.add_option("--to", options->frames.to, "Address of the peer: fills in what is not set of the addresses")
      .type_name("IP");
  command.add_option("--seed", options->frames.seed, "Of the random values: the same seed, the same packets")
      .capture_default_str();
  command.add_flag("--list", options->list, "Print the names and values of the packet, and end");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
