// SPDX-License-Identifier: BSD-2-Clause
#include "replay/commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "options/written_files.h"
#include "replay/converse/conversations_of.h"
#include "replay/converse/converse_run.h"
#include "replay/converse/played_end.h"

namespace roce::replay {

namespace {

/// More memory than any machine has, in MiB.
constexpr std::uint64_t kMostMib = std::uint64_t{1} << 24U;

constexpr const char* kFooter =
    R"(Examples:
  roce-replay converse -i eth0 --control /run/user/1000/roce-gen-eth0.sock nak-storm.pcap
  roce-replay converse -i eth0 --pingpong 18515 --to 192.0.2.7 pingpong.pcap      where ibv_rc_pingpong -g 1 runs
  roce-replay converse -i eth0 --as responder --pingpong 18515 pingpong.pcap      then ibv_rc_pingpong -g 1 HOST
  roce-replay converse -i eth0 --dry-run nak-storm.pcap
Exit code: 0 all went as in the capture, 1 something differed or failed, or --output left something out,
2 wrong command line, or nothing to do again.)";

[[nodiscard]] bool is_wanted(const ConverseOptions& options, const Conversation& conversation) {
  return !options.stream || *options.stream == conversation.stream;
}

/// Adds an obstacle if a request is about memory of the peer's program, which we cannot make, and no option names it.
void check_remote_memory(const ConverseOptions& options, Conversation& conversation) {
  if (options.connect_by() == ConnectBy::control || !conversation.obstacles.empty()) return;
  const Outcome<std::vector<RemoteMemory>> known = parse_remote_memory(options.remote_memory);
  for (const CapturedOperation& operation : conversation.operations) {
    const bool is_plain = operation.operation == Operation::send && !operation.invalidate;
    if (operation.side != options.side() || is_plain || operation.end == analysis::MessageEnd::refused) continue;
    const RKey key = operation.invalidate ? *operation.invalidate : operation.r_key;
    if (known && std::ranges::find(*known, key, &RemoteMemory::captured) != known->end()) continue;
    conversation.obstacles.push_back(
        fmt::format("the request in frame {} is about the peer's memory with R_Key 0x{:08x}; say with --remote-memory "
                    "where that is now, or use --control",
                    operation.frame, key.value()));
    return;
  }
}

/// Bounds what the captured sizes and addresses ask for, over all connections together, in their order.
void check_memory(const ConverseOptions& options, std::vector<Conversation>& conversations) {
  std::uint64_t left = options.memory();
  for (const Conversation& conversation : conversations) {
    for (const CapturedOperation& operation : conversation.operations) {
      left -= std::min<std::uint64_t>(left, sizeof operation + operation.data.size());
    }
  }
  for (Conversation& conversation : conversations) {
    if (!conversation.obstacles.empty()) continue;
    if (const tl::expected<std::uint64_t, std::string> needed = memory_needed(conversation, left)) {
      left -= *needed;
    } else {
      conversation.obstacles.push_back(fmt::format("{} of {}; raise --memory", needed.error(), options.memory_mib));
    }
  }
}

[[nodiscard]] Outcome<void> check(const ConverseOptions& options) {
  if (options.dry_run) return {};
  if (options.endpoint.interface.empty()) return cannot("say on which interface: -i IFACE; --dry-run needs none");
  if (options.details) return cannot("--details is for --dry-run");
  if (options.connect_by() == ConnectBy::numbers && options.to.empty()) {
    return cannot("say how to reach the peer: --control, --pingpong or --cm, or with --to alone where it is");
  }
  const bool connects = options.connect || (options.side() == 0 && !options.listen);
  if (options.connect_by() != ConnectBy::control && connects && options.to.empty()) {
    return cannot("say where the peer is: --to ADDRESS");
  }
  return {};
}

[[nodiscard]] Outcome<ExitCode> run(const ConverseOptions& options) {
  if (Outcome<void> checked = check(options); !checked) return tl::unexpected(checked.error());
  const std::array reading{files::FileUse{"FILE", options.file}, files::FileUse{"--token-file", options.token_file}};
  if (const auto conflict = files::find_conflict(reading, written_files(options.endpoint))) return cannot(*conflict);
  Outcome<CapturedConversations> captured = conversations_of(options.file, options.memory());
  if (!captured) return tl::unexpected(captured.error());
  std::vector<Conversation>& read = captured->conversations;
  std::erase_if(read, [&](const Conversation& conversation) { return !is_wanted(options, conversation); });
  check_memory(options, read);
  std::vector<const Conversation*> conversations;
  for (Conversation& conversation : read) {
    if (!options.dry_run) check_remote_memory(options, conversation);
    if (conversation.obstacles.empty()) conversations.push_back(&conversation);
  }
  const bool json = options.endpoint.json;
  OutputLimit limit{options.output_mib << 20U};
  bool is_all_said = print_obstacles(read, json, limit);
  print_left_out(captured->left_out, json);
  if (conversations.empty()) return cannot(fmt::format("{}: no RC connection in it can be done again", options.file));
  if (options.dry_run) {
    is_all_said = print_plan(conversations, json, limit) && is_all_said;
    if (options.details) {
      for (const Conversation* conversation : conversations) {
        is_all_said = print_details(*conversation, options.memory(), limit) && is_all_said;
      }
    }
    return is_all_said ? ExitCode::ok : ExitCode::failed;
  }
  std::vector<Played> played;
  const Outcome<void> done = run_conversations(options, conversations, played);
  print_played(played, json);
  if (!done) return tl::unexpected(done.error());
  const bool good = std::ranges::all_of(
      played, [](const Played& one) { return one.report.error.empty() && one.report.difference_count == 0; });
  return good ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_converse(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("converse", "Play one side of the captured RC connections against a live peer");
  auto options = std::make_shared<ConverseOptions>();
  options::add_endpoint_options(command, options->endpoint, false);
  command.add_option("file", options->file, "Capture file").required().type_name("FILE");
  command.add_option("--as", options->as, "Our side: requester sent the first request, responder is the other")
      .one_of({std::string{"requester"}, std::string{"responder"}})
      .capture_default_str();
  command.add_option("--control", options->control,
                     "The other side is a roce-gen peer: its control socket (a path with a /), or HOST:PORT");
  command.add_option("--token-file", options->token_file, "File with the secret of a peer on TCP").type_name("FILE");
  command.add_option("--to", options->to, "Address of the live peer").type_name("ADDRESS");
  command.add_option("--pingpong", options->pingpong_port, "Tell the queue pairs over TCP, as ibv_rc_pingpong does")
      .type_name("PORT")
      .range(1, 65535)
      .excludes("--control");
  command.add_option("--cm", options->cm_port, "Connect by RDMA CM at this RDMA port")
      .type_name("PORT")
      .range(1, 65535)
      .excludes("--control")
      .excludes("--pingpong");
  command
      .add_option("--remote-qp", options->remote_qp,
                  "The peer's queue pair, connected by other means (default: a line \"QPN PSN\" on standard input)")
      .range(1U, 0xFFFFFFU);
  command.add_option("--remote-psn", options->remote_psn, "The first PSN that it sends").range(0U, 0xFFFFFFU);
  command.add_flag("--listen", options->listen, "Wait for the peer to connect (the responder does anyway)");
  command.add_flag("--connect", options->connect, "Connect to the peer (the requester does anyway)")
      .excludes("--listen");
  command.add_option("--stream", options->stream, "Only this connection, as roce-analyze streams numbers them");
  command.add_option("--remote-memory", options->remote_memory,
                     "Where memory of the peer is that the capture has elsewhere: RKEY:ADDRESS=RKEY:ADDRESS");
  command
      .add_option("-m,--mtu", options->path_mtu,
                  "Path MTU (default: the captured one, as far as the interface takes it)")
      .one_of({256U, 512U, 1024U, 2048U, 4096U});
  command.add_option("--speed", options->speed, "Divide the times between requests by this; 0: no time between them")
      .range(0.0, 1e6)
      .capture_default_str();
  command.add_option("--silence", options->silence, "Seconds without any progress after which to give up")
      .range(0.1, 1e6)
      .capture_default_str();
  command.add_option("--memory", options->memory_mib, "MiB that all connections together may take")
      .range(std::uint64_t{1}, kMostMib)
      .capture_default_str()
      .type_name("MIB");
  command.add_option("--output", options->output_mib, "MiB that are printed at most of what can be done again")
      .range(std::uint64_t{1}, kMostMib)
      .capture_default_str()
      .type_name("MIB");
  command.add_flag("--dry-run", options->dry_run, "Only say what can be done again, and what not");
  command.add_flag("--details", options->details, "With --dry-run: all requests and memory with their data, as JSON");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-replay", run(*options)); });
}

}  // namespace roce::replay
