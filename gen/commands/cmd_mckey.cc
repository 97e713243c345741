// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"
#include "runtime/note.h"

#include <fmt/format.h>

#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/librdmacm/mckey.h"
#include "gen/librdmacm/program_client.h"
#include "roce/live/endpoint.h"
#include "roce/live/own_ip.h"
#include "roce/port/address_text.h"

namespace roce::gen {

namespace {

struct MckeyCommand {
  options::ProgramOptions endpoint;
  MessageOptions messages;
  std::string group;
  std::uint8_t traffic_class = 0;
  bool sends = false;
};

[[nodiscard]] Outcome<ExitCode> run(MckeyCommand command) {
  const std::optional<Gid> address = port::parse_ip(command.group);
  if (!address || !transport::is_multicast(*address)) {
    return cannot(fmt::format("\"{}\" is no multicast address; write it like 239.1.2.3 or ff12::1", command.group));
  }
  if (command.endpoint.link == live::LinkChoice::udp) {
    return cannot("--link udp receives and sends no multicast; take --link raw or xdp");
  }
  if (command.endpoint.link == live::LinkChoice::automatic) command.endpoint.link = live::LinkChoice::raw;
  command.endpoint.all_multicast = !command.sends;
  Outcome<std::unique_ptr<options::ProgramEndpoint>> opened = options::ProgramEndpoint::open(command.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  live::Endpoint& endpoint = (*opened)->first();
  const transport::GidType type = endpoint.device().config().gids.at(endpoint.sgid_index()).type;
  if (endpoint.gid().is_ipv4_mapped() != address->is_ipv4_mapped()) {
    return cannot(fmt::format("the group {} is of another kind than {}: choose an address with --address",
                              command.group, to_string(endpoint.gid())));
  }
  if (!command.sends) {
    if (const live::Result<void> joined = endpoint.join(*address); !joined) return tl::unexpected(joined.error());
  }
  runtime::print_note("ready", endpoint.description(), command.endpoint.json);
  ProgramReport report;
  report.program = "mckey";
  report.is_one_way = true;
  report.is_server = !command.sends;
  report.peer = command.group;
  const Gid group = group_gid(*address, type);
  live::Script script{command.sends ? mckey_sender(endpoint, group, command.messages, command.traffic_class, report)
                                    : mckey_receiver(endpoint, group, command.messages, report)};
  return run_to_the_end(**opened, script, report, command.endpoint.json);
}

}  // namespace

void add_mckey(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("mckey", "Send to a multicast group or receive from it, with others that run mckey");
  auto options = std::make_shared<MckeyCommand>();
  options::add_endpoint_options(command, options->endpoint);
  command.add_flag("-s,--send", options->sends, "Send to the group; else receive");
  command.add_option("-C,--count", options->messages.count, "Messages, as at the others")
      .range(1U, 10'000U)
      .capture_default_str();
  command.add_option("-S,--size", options->messages.size, "Bytes of a message, as at the others")
      .range(1U, 4096U)
      .capture_default_str();
  command.add_option("--tos", options->traffic_class, "Traffic class of what is sent: DSCP * 4 + ECN").range(0, 255);
  command.add_option("group", options->group, "Multicast address").required();
  command.footer(
      "Examples:\n"
      "  roce-gen mckey -i eth0 239.1.2.3         and at others: mckey -m 239.1.2.3 -s -b ADDRESS\n"
      "  roce-gen mckey -i eth0 -s 239.1.2.3      where others run mckey -m 239.1.2.3 -b ADDRESS\n"
      "Exit code: 0 all messages went or came, 1 some did not, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
