// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/frames/frame_addresses.h"
#include "gen/frames/frame_command.h"
#include "roce/live/own_ip.h"
#include "roce/port/address_text.h"

namespace roce::gen {

namespace {

constexpr const char* kFooter =
    R"(QP is the queue pair of the peer that is to send less: its own number, as in the DestQP of what it receives. Numbers may be
rules as in roce-gen craft.
Examples:
  roce-gen cnp -w cnp.pcap --qp 0x11 -n 10
  roce-gen cnp -w list.pcap --qp 0x11..0x20 -n 16 --dscp 46
  roce-gen cnp -i eth0 --to 192.0.2.7 --qp 0x11                one
  roce-gen cnp -i eth0 --to 192.0.2.7 --qp 0x11 --rate 20kpps -D 10
  roce-gen cnp -i eth0 --to 192.0.2.7 --qp 0x11/0x12 --rate 20kpps --duty 1ms/9ms -D 10
Exit code: 0 all was sent, 1 some was not, 2 wrong command line or no such interface.)";

struct CnpOptions {
  FrameOptions frames;
  std::string qp;
  std::string dscp = "48";
  std::string source_port = "0";
  bool wrong = false;
};

[[nodiscard]] Outcome<ExitCode> run(const CnpOptions& options) {
  const std::optional<Gid> to = port::parse_ip(options.frames.to);
  const bool ipv6 = to && !to->is_ipv4_mapped();
  SpecResult<VaryingPacket> packet = read_packet({
      {"version", ipv6 ? "v2_ipv6" : "v2_ipv4"},
      {"opcode", "CNP"},
      {ipv6 ? "ipv6.dscp" : "ip.dscp", options.dscp},
      {"udp.srcport", options.source_port},
      {"bth.dest_qp", options.qp},
      {"icrc", options.wrong ? "wrong" : "auto"},
  });
  if (!packet) return cannot(packet.error().message);
  FrameJob job;
  job.packets.push_back(std::move(*packet));
  if (Outcome<void> read = read_schedule(options.frames, job); !read) return tl::unexpected(read.error());
  if (!options.frames.interface.empty() && options.frames.to.empty()) {
    return cannot("--to: whose sender is to slow down? give its IP address");
  }
  Outcome<FrameTarget> target = FrameTarget::open(options.frames);
  if (!target) return tl::unexpected(target.error());
  if (target->interface()) {
    if (Outcome<void> filled = fill_addresses(job.packets, *target->interface(), options.frames.to); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  const Outcome<FrameResult> result = run_frames(*target, options.frames, job);
  if (!result) return tl::unexpected(result.error());
  std::vector<std::string> lines;
  if (options.frames.file.empty()) {
    lines.emplace_back(
        "a CNP is not answered: whether the peer slows down is seen in its counters (rp_cnp_handled) and in its rate "
        "(roce-analyze summary of a capture)");
  }
  print_frames("cnp", options.frames, *result, {{"effect_confirmed", false}}, lines);
  return ended(options.frames, *result);
}

}  // namespace

void add_cnp(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("cnp", "Tell a peer's queue pair to slow down");
  auto options = std::make_shared<CnpOptions>();
  command.add_option("--qp", options->qp, "DestQP: a number or a rule").required().type_name("QP");
  command.add_option("--dscp", options->dscp, "DSCP: a number or a rule").type_name("DSCP").capture_default_str();
  command.add_option("--source-port", options->source_port, "UDP source port: a number or a rule")
      .type_name("PORT")
      .capture_default_str();
  command.add_flag("--bad-icrc", options->wrong, "With a wrong ICRC, which no peer may obey");
  add_frame_options(command, options->frames);
  command.add_option("--to", options->frames.to, "Address of the peer").type_name("IP");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
