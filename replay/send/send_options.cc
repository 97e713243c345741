// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_options.h"

#include "runtime/rate.h"

namespace roce::replay {

namespace {

void add_target_options(command_line::Command& command, SendOptions& options) {
  command_line::Option interface = command.add_option("-i,--interface", options.interface,
                                                      "Interface to send on (needs CAP_NET_RAW, but for --link udp)");
  interface.type_name("IFACE");
  command_line::Option side =
      command
          .add_option(
              "--side-a", options.side_a,
              "Who is on side A: IP addresses, networks (10.1.0.0/16), Ethernet addresses, queue pairs (qp=0x11, "
              "qp=0x11@10.1.2.3), or clients: who asked for their connections by CM (may be given several times); "
              "what they sent goes out on -i, and what was sent to them on -I")
          .take_all()
          .allow_extra_args(false)
          .type_name("MEMBER");
  command.add_option("-I,--other-interface", options.other_interface, "Interface of side B")
      .type_name("IFACE")
      .needs(side)
      .needs(interface);
  command
      .add_option("-w,--write", options.write,
                  "Write a capture file (pcapng, or *.pcap; - is standard output) with the times at which the frames "
                  "would go, instead of sending")
      .type_name("FILE")
      .excludes(interface)
      .excludes(side);
  command
      .add_choice("--link", options.link, {{"raw", SendLink::raw}, {"xdp", SendLink::xdp}, {"udp", SendLink::udp}},
                  "How frames go: raw (packet socket), xdp (AF_XDP, faster, needs root of the host) or udp (RoCE v2 "
                  "packets through the kernel's UDP, needs no privilege)",
                  command_line::LetterCase::ignored)
      .default_str("raw")
      .type_name("KIND");
  using Mode = link::XdpLinkOptions::Mode;
  command
      .add_choice("--xdp-mode", options.xdp_mode,
                  {{"auto", Mode::automatic}, {"native", Mode::native}, {"generic", Mode::generic}},
                  "Where the program of --link xdp runs: native (in the driver), generic (behind it), or auto: native "
                  "if the driver can")
      .default_str("auto")
      .type_name("MODE");
}

void add_pace_options(command_line::Command& command, SendOptions& options) {
  command.add_option("--speed", options.speed, "Play at so many times the captured speed")
      .range(1e-6, 1e6)
      .capture_default_str()
      .type_name("FACTOR");
  command.add_option("--pps", options.pps, "Play so many frames a second")
      .range(std::uint64_t{1}, std::uint64_t{1'000'000'000})
      .type_name("N")
      .excludes("--speed");
  command.add_option("--rate", options.rate, "Play at 2.5Gbit (whole frames without FCS) or 100kpps")
      .type_name("RATE")
      .excludes("--speed")
      .excludes("--pps");
  command.add_flag("-t,--topspeed", options.topspeed, "Play as fast as the link takes the frames")
      .excludes("--speed")
      .excludes("--pps")
      .excludes("--rate");
  command
      .add_option("--start-at", options.start_at,
                  "When the first frame goes: +SECONDS, seconds since 1970, or 2026-11-22T12:00:00Z")
      .type_name("TIME");
}

}  // namespace

void add_send_options(command_line::Command& command, SendOptions& options) {
  command.add_option("files", options.files, "Capture files; several are merged by their times")
      .required()
      .type_name("FILE");
  add_target_options(command, options);
  add_pace_options(command, options);
  command
      .add_option("-l,--loops", options.loops, "Play it so often, PSNs going on from one to the next; 0: until Ctrl-C")
      .capture_default_str()
      .type_name("N");
  command.add_flag("--keep-psn", options.keep_psn, "With --loops: the PSNs of each begin as in the file");
  command.add_flag("--preload", options.preload, "Read all frames into memory first, or fail");
  command.add_flag("--stream", options.stream, "Read while sending (default: where they take more than --memory)")
      .excludes("--preload");
  command.add_option("--memory", options.memory_mib, "MiB that the frames in memory may take")
      .range(std::uint64_t{1}, std::uint64_t{1} << 24U)
      .capture_default_str()
      .type_name("MIB");
  command.add_flag("--skip-unfit", options.skip_unfit,
                   "Leave out frames that cannot go out whole: longer than the MTU, cut when they were captured, or of "
                   "neither side (default: send nothing then)");
  add_rewrite_options(command, options.rewrite);
  command.add_flag("--dry-run", options.dry_run, "Send nothing; say what would be sent");
  command.add_flag("--json", options.json, "Print JSON, one object a line");
}

Outcome<std::optional<RewriteRules>> rules_of(const SendOptions& options) {
  const RewriteOptions& rewrite = options.rewrite;
  const RewriteRules& rules = rewrite.rules;
  bool changes = rewrite.anonymise || rewrite.pcp || rewrite.dscp || rewrite.ecn || rewrite.hop_limit ||
                 rewrite.source_port != RewriteOptions{}.source_port || rules.strip_tunnels || rules.only_roce ||
                 rules.remove_vlan || rules.path_mtu != 0 || rules.version != ToVersion::same;
  for (const std::string* text :
       {&rewrite.source_mac, &rewrite.destination_mac, &rewrite.add_vlan, &rewrite.psn_offset}) {
    changes = changes || !text->empty();
  }
  for (const std::vector<std::string>* maps :
       {&rewrite.ip_maps, &rewrite.mac_maps, &rewrite.vlan_maps, &rewrite.qpn_maps, &rewrite.p_key_maps,
        &rewrite.q_key_maps, &rewrite.r_key_maps, &rewrite.va_maps, &rewrite.fields, &rewrite.faults}) {
    changes = changes || !maps->empty();
  }
  // Without a change the frames go as they are, with their wrong ICRCs.
  if (!changes) return std::nullopt;
  Outcome<RewriteRules> read = read_rewrite_rules(rewrite);
  if (!read) return tl::unexpected(read.error());
  return std::move(*read);
}

Outcome<Pace> pace_of(const SendOptions& options) {
  if (options.topspeed) return Pace{.kind = Pace::Kind::top};
  if (options.pps != 0) return Pace{.kind = Pace::Kind::packets, .per_second = options.pps};
  if (options.rate.empty()) return Pace{.speed = options.speed};
  const Outcome<runtime::Rate> rate = runtime::parse_rate(options.rate);
  if (!rate) return cannot("--rate: " + rate.error().message);
  return rate->pps != 0 ? Pace{.kind = Pace::Kind::packets, .per_second = rate->pps}
                        : Pace{.kind = Pace::Kind::bits, .per_second = rate->bps};
}

}  // namespace roce::replay
