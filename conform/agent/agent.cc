// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/agent.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "command_line/number_text.h"
#include "conform/agent/agent_server.h"
#include "conform/agent/listener.h"
#include "roce/live/token_file.h"
#include "roce/port/address_text.h"
#include "runtime/note.h"
#include "runtime/stop_signal.h"

namespace roce::conform {

namespace {

/// Where clients come in, as the command line has it, checked.
struct Entrance {
  std::optional<TcpAddress> tcp;  // none: the Unix socket
  std::string path;
  std::optional<Gid> peer;
  std::string token;

  [[nodiscard]] Outcome<Listener> open() const {
    return tcp ? Listener::at_address(*tcp, peer) : Listener::at_path(path);
  }
  [[nodiscard]] std::string description() const {
    if (!tcp) return fmt::format("{} (this user and root)", path);
    return fmt::format("TCP {} port {} ({} that {} the token; not encrypted)", to_string(tcp->address), tcp->port,
                       peer ? to_string(*peer) : "hosts", peer ? "knows" : "know");
  }
};

[[nodiscard]] std::string default_path(const std::string& device) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return fmt::format("{}/roce-agent-{}.sock", runtime, device);
  return fmt::format("/tmp/roce-agent-{}-{}.sock", ::getuid(), device);
}

[[nodiscard]] Outcome<Entrance> entrance_of(const AgentOptions& options) {
  Entrance entrance;
  if (options.listen.empty()) {
    if (!options.token_file.empty() || !options.peer.empty() || options.any_address) {
      return cannot("--token-file, --peer and --any-address belong to TCP; give an address with --listen");
    }
    entrance.path = options.control.empty() ? default_path(options.place.device) : options.control;
    return entrance;
  }
  entrance.tcp = TcpAddress::parse(options.listen);
  if (!entrance.tcp) {
    return cannot(fmt::format("--listen: expected ADDRESS:PORT, such as 192.0.2.1:4790 or [2001:db8::1]:4790, found {}",
                              command_line::quote(options.listen)));
  }
  if (entrance.tcp->is_any() && !options.any_address) {
    return cannot(
        fmt::format("--listen {} takes clients on every network of this machine; give one of its addresses, "
                    "or add --any-address if that is meant",
                    options.listen));
  }
  if (options.token_file.empty()) {
    return cannot("clients on TCP use the device and this program's memory; give them a secret with --token-file");
  }
  if (!options.peer.empty()) {
    entrance.peer = port::parse_ip(options.peer);
    if (!entrance.peer) {
      return cannot(fmt::format("--peer: expected an IP address, found {}", command_line::quote(options.peer)));
    }
  }
  live::Result<std::string> token = live::read_token(options.token_file);
  if (!token) return tl::unexpected(Failure{token.error()});
  entrance.token = std::move(*token);
  return entrance;
}

/// Returns what to say if less memory can be registered than clients are allowed; empty if that is not so.
[[nodiscard]] std::string too_little_memory(std::uint64_t wanted) {
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (::geteuid() == 0 || !is_limited || limit.rlim_cur >= wanted) return {};
  return fmt::format(
      "the limit of locked memory is {} bytes, less than --memory-limit ({}): raise it (ulimit -l), or "
      "run this as root",
      limit.rlim_cur, wanted);
}

}  // namespace

Outcome<ExitCode> run_agent(const AgentOptions& options) {
  const std::optional<std::uint64_t> memory = command_line::read_size(options.memory_limit);
  if (!memory) return cannot(command_line::size_mistake("--memory-limit", options.memory_limit));
  const Outcome<Entrance> entrance = entrance_of(options);
  if (!entrance) return tl::unexpected(entrance.error());
  const Outcome<VerbsDevice> device = VerbsDevice::open(options.place);
  if (!device) return tl::unexpected(device.error());
  Outcome<Listener> listener = entrance->open();
  if (!listener) return tl::unexpected(listener.error());
  const runtime::StopSignal stop;
  AgentLimits limits{.memory = live::MemoryBudget{*memory}, .max_qps = options.max_qps, .token = entrance->token};
  AgentServer server{*device, limits, std::move(*listener),
                     [json = options.json](const std::string& text) { runtime::print_note("refused", text, json); }};
  if (const std::string advice = too_little_memory(*memory); !advice.empty()) {
    runtime::print_note("memory", advice, options.json);
  }
  runtime::print_note(
      "ready",
      fmt::format("{}; control on {}; clients can use up to {} of this program's memory and {} queue "
                  "pairs, and send what they like from this address",
                  device->description(), entrance->description(), options.memory_limit, options.max_qps),
      options.json);
  if (Outcome<void> served = server.run(stop.fd()); !served) return tl::unexpected(served.error());
  return ExitCode::ok;
}

}  // namespace roce::conform
