// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/converse_run.h"
#include "runtime/note.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "options/program_endpoint.h"
#include "replay/converse/connect.h"
#include "roce/live/control_target.h"

namespace roce::replay {

namespace {

constexpr std::uint32_t kUsualPathMtu = 1024;
/// The peer may still repeat what it sent last because our answer was lost.
constexpr Duration kLinger = std::chrono::seconds{1};
constexpr Duration kLiveInterval = std::chrono::milliseconds{500};

/// One conversation with all that it needs; the order of the members allows for their destruction.
struct Exchange {
  const Conversation* conversation = nullptr;
  std::array<CapturedMemory, 2> memories;
  std::unique_ptr<live::ControlClient> peer;
  std::unique_ptr<LocalEnd> own;
  std::unique_ptr<ControlEnd> remote;
  std::unique_ptr<live::CmConnection> connection;
  std::optional<Player> player;
};

class Run {
 public:
  Run(const ConverseOptions& options, live::Endpoint& endpoint) : options_(options), endpoint_(endpoint) {}

  [[nodiscard]] Outcome<void> open() {
    Outcome<std::vector<RemoteMemory>> remote = parse_remote_memory(options_.remote_memory);
    if (!remote) return tl::unexpected(remote.error());
    remote_ = std::move(*remote);
    if (options_.connect_by() == ConnectBy::cm) {
      live::Result<std::unique_ptr<live::RdmaCm>> cm = live::RdmaCm::open(endpoint_);
      if (!cm) return tl::unexpected(cm.error());
      cm_ = std::move(*cm);
    }
    if (options_.connect_by() == ConnectBy::pingpong && listens()) {
      live::Result<live::Tcp> listener = live::Tcp::listen(options_.pingpong_port);
      if (!listener) return tl::unexpected(listener.error());
      listener_.emplace(std::move(*listener));
    }
    return {};
  }

  [[nodiscard]] Outcome<void> connect(const Conversation& conversation) {
    exchanges_.push_back(std::make_unique<Exchange>());
    Exchange& exchange = *exchanges_.back();
    exchange.conversation = &conversation;
    const std::uint8_t side = options_.side();
    for (std::uint8_t i = 0; i < 2; ++i) {
      tl::expected<CapturedMemory, std::string> memory = memory_of(conversation, i, options_.memory());
      if (!memory) return cannot(fmt::format("stream {}: {}", conversation.stream, memory.error()));
      exchange.memories.at(i) = std::move(*memory);
    }
    Outcome<std::unique_ptr<LocalEnd>> own = LocalEnd::make(endpoint_, conversation, exchange.memories.at(side), side);
    if (!own) return tl::unexpected(own.error());
    exchange.own = std::move(*own);
    if (Outcome<void> done = connect(exchange); !done) return done;
    std::array<PlayedEnd*, 2> ends{};
    ends.at(side) = exchange.own.get();
    ends.at(1 - side) = exchange.remote.get();
    PlayOptions play;
    play.speed = options_.speed;
    play.silence = Duration{static_cast<Duration::rep>(options_.silence * 1e9)};
    exchange.player.emplace(conversation, ends,
                            std::array<const CapturedMemory*, 2>{&exchange.memories[0], &exchange.memories[1]}, remote_,
                            play);
    return {};
  }

  [[nodiscard]] Outcome<void> play() {
    Time next_live = endpoint_.now() + kLiveInterval;
    const bool live = !options_.endpoint.json && ::isatty(STDERR_FILENO) != 0;
    const live::Result<bool> ran = endpoint_.driver().run([&](Time now) {
      bool moved = cm_ && cm_->step(now);
      bool is_over = true;
      for (const std::unique_ptr<Exchange>& exchange : exchanges_) {
        moved = exchange->player->step(now) || moved;
        is_over = is_over && exchange->player->is_over();
        endpoint_.driver().wake_at(wake_of(*exchange));
      }
      while (endpoint_.port().poll_event(now)) {
      }
      if (live && now >= next_live) {
        show_live();
        next_live = now + kLiveInterval;
      }
      if (live) endpoint_.driver().wake_at(next_live);
      if (is_over) return live::Driver::Step::done;
      return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
    });
    if (live) fmt::print(stderr, "\r\x1b[K");
    if (!ran) return tl::unexpected(ran.error());
    if (!*ran) return failed("interrupted");
    return end();
  }

  void report(std::vector<Played>& played) const {
    for (const std::unique_ptr<Exchange>& exchange : exchanges_) {
      if (!exchange->player) continue;
      Played one;
      one.conversation = exchange->conversation;
      one.qpn = exchange->own->qp().qpn();
      one.report = exchange->player->report();
      if (one.report.error.empty() && !exchange->player->is_over()) one.report.error = "interrupted";
      one.counters = exchange->own->qp().counters();
      one.all = exchange->player->all();
      played.push_back(std::move(one));
    }
  }

 private:
  /// A control connection reports completions only when it is asked.
  static constexpr Duration kAskInterval = std::chrono::milliseconds{1};

  [[nodiscard]] Time wake_of(const Exchange& exchange) const {
    if (exchange.player->is_over()) return kNever;
    const Time next = exchange.player->next_timeout();
    return exchange.remote ? std::min(next, endpoint_.now() + kAskInterval) : next;
  }

  [[nodiscard]] Outcome<void> end() {
    Duration patience = kLinger;
    for (const std::unique_ptr<Exchange>& exchange : exchanges_) {
      if (!exchange->connection) continue;
      if (Outcome<void> ended = end_by_cm(*cm_, *exchange->connection, patience); !ended) return ended;
      patience = Duration{0};
    }
    // A peer that is asked for its progress has reported that it missed nothing.
    const bool is_all_known =
        std::ranges::all_of(exchanges_, [](const auto& exchange) { return exchange->remote != nullptr; });
    if (!is_all_known) return linger();
    endpoint_.driver().settle(endpoint_.now() + kLinger);
    return {};
  }

  /// Answers what the peer repeats, for a while.
  [[nodiscard]] Outcome<void> linger() {
    const Time end = endpoint_.now() + kLinger;
    const live::Result<bool> ran = endpoint_.driver().run([&](Time now) {
      const bool moved = cm_ && cm_->step(now);
      while (endpoint_.port().poll_event(now)) {
      }
      if (now >= end) return live::Driver::Step::done;
      endpoint_.driver().wake_at(end);
      return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
    });
    return ran ? Outcome<void>{} : tl::unexpected(ran.error());
  }

  [[nodiscard]] bool listens() const { return options_.listen || (options_.side() == 1 && !options_.connect); }

  void note(std::string_view event, const std::string& text) const {
    runtime::print_note(event, text, options_.endpoint.json);
  }

  [[nodiscard]] std::uint32_t path_mtu(const Conversation& conversation) const {
    const std::uint32_t wanted = options_.path_mtu != 0       ? options_.path_mtu
                                 : conversation.path_mtu != 0 ? conversation.path_mtu
                                                              : kUsualPathMtu;
    return std::min(wanted, endpoint_.max_path_mtu());
  }

  [[nodiscard]] Outcome<void> connect(Exchange& exchange) {
    const std::uint32_t mtu = path_mtu(*exchange.conversation);
    LocalEnd& own = *exchange.own;
    for (std::size_t i = 0; i < exchange.memories.at(options_.side()).regions.size(); ++i) {
      if (options_.connect_by() == ConnectBy::control) break;
      const CapturedRegion& region = exchange.memories.at(options_.side()).regions[i];
      print_memory(*exchange.conversation, region, own.place(i), options_.endpoint.json);
    }
    switch (options_.connect_by()) {
      case ConnectBy::control:
        return connect_with_peer(exchange, mtu);
      case ConnectBy::pingpong:
        if (!listens()) return connect_by_pingpong(endpoint_, own, options_.to, options_.pingpong_port, mtu);
        note("listening",
             fmt::format("stream {}: waits at TCP port {}", exchange.conversation->stream, options_.pingpong_port));
        return accept_by_pingpong(endpoint_, own, *listener_, mtu);
      case ConnectBy::cm: {
        if (!listens()) {
          exchange.connection = std::make_unique<live::CmConnection>(*cm_);
          return connect_by_cm(*cm_, *exchange.connection, own, options_.to, options_.cm_port, mtu);
        }
        note("listening",
             fmt::format("stream {}: waits at RDMA port {}", exchange.conversation->stream, options_.cm_port));
        Outcome<std::unique_ptr<live::CmConnection>> connection = accept_by_cm(*cm_, own, options_.cm_port);
        if (!connection) return tl::unexpected(connection.error());
        exchange.connection = std::move(*connection);
        return {};
      }
      case ConnectBy::numbers:
        break;
    }
    const live::Result<Gid> to = live::resolve_host(options_.to);
    if (!to) return tl::unexpected(to.error());
    print_queue_pair(*exchange.conversation, own.qp().qpn(), own.psn(), endpoint_.gid(), options_.endpoint.json);
    RemoteQueuePair remote{*to, Qpn{options_.remote_qp}, Psn{options_.remote_psn}};
    if (options_.remote_qp == 0) {
      Outcome<RemoteQueuePair> told = read_queue_pair(endpoint_, *to);
      if (!told) return tl::unexpected(told.error());
      remote = *told;
    }
    return connect_to(endpoint_, own, remote, mtu);
  }

  [[nodiscard]] Outcome<void> connect_with_peer(Exchange& exchange, std::uint32_t mtu) {
    const live::Result<live::ControlAddress> address = live::control_target(options_.control, options_.token_file);
    if (!address) return tl::unexpected(address.error());
    live::Result<std::unique_ptr<live::ControlClient>> peer = live::ControlClient::open(endpoint_, *address, nullptr);
    if (!peer) return tl::unexpected(peer.error());
    exchange.peer = std::move(*peer);
    const std::uint8_t theirs = 1 - options_.side();
    Outcome<std::unique_ptr<ControlEnd>> remote =
        ControlEnd::make(*exchange.peer, *exchange.conversation, exchange.memories.at(theirs), theirs);
    if (!remote) return tl::unexpected(remote.error());
    exchange.remote = std::move(*remote);
    const std::uint32_t most = exchange.peer->hello().value("max_path_mtu", mtu);
    return connect_by_control(endpoint_, *exchange.peer, *exchange.own, *exchange.remote, std::min(mtu, most));
  }

  void show_live() const {
    std::size_t done = 0;
    std::size_t all = 0;
    for (const std::unique_ptr<Exchange>& exchange : exchanges_) {
      done += exchange->player->done();
      all += exchange->player->all();
    }
    fmt::print(stderr, "\r{} of {} requests and messages \x1b[K", done, all);
    std::fflush(stderr);
  }

  const ConverseOptions& options_;
  live::Endpoint& endpoint_;
  std::vector<RemoteMemory> remote_;
  std::unique_ptr<live::RdmaCm> cm_;
  std::optional<live::Tcp> listener_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
};

/// Parses `RKEY:ADDRESS`, each decimal or hexadecimal with 0x.
[[nodiscard]] bool parse_place(const std::string& text, LivePlace& place) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  char* end = nullptr;
  const std::string key = text.substr(0, colon);
  const std::string address = text.substr(colon + 1);
  const unsigned long long number = std::strtoull(key.c_str(), &end, 0);
  if (key.empty() || *end != '\0' || number > UINT32_MAX) return false;
  place.r_key = RKey{static_cast<std::uint32_t>(number)};
  place.address = std::strtoull(address.c_str(), &end, 0);
  return !address.empty() && *end == '\0';
}

}  // namespace

Outcome<std::vector<RemoteMemory>> parse_remote_memory(const std::vector<std::string>& texts) {
  std::vector<RemoteMemory> memories;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    LivePlace captured;
    RemoteMemory memory;
    if (equals == std::string::npos || !parse_place(text.substr(0, equals), captured) ||
        !parse_place(text.substr(equals + 1), memory.place)) {
      return cannot(fmt::format(
          "\"{}\" names no memory; write RKEY:ADDRESS=RKEY:ADDRESS, first as captured and then as it is now", text));
    }
    memory.captured = captured.r_key;
    memory.captured_address = captured.address;
    memories.push_back(memory);
  }
  return memories;
}

Outcome<void> run_conversations(const ConverseOptions& options, const std::vector<const Conversation*>& conversations,
                                std::vector<Played>& played) {
  Outcome<std::unique_ptr<options::ProgramEndpoint>> program = options::ProgramEndpoint::open(options.endpoint);
  if (!program) return tl::unexpected(program.error());
  live::Endpoint& endpoint = (*program)->first();
  runtime::print_note("ready", endpoint.description(), options.endpoint.json);
  Outcome<void> done{};
  {
    Run run{options, endpoint};
    done = run.open();
    for (const Conversation* conversation : conversations) {
      if (done) done = run.connect(*conversation);
    }
    if (done) done = run.play();
    run.report(played);
  }
  const Outcome<void> closed = (*program)->close();
  return done ? closed : done;
}

}  // namespace roce::replay
