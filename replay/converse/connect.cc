// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/connect.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "roce/live/control_names.h"
#include "roce/live/pingpong_message.h"
#include "roce/live/run_script.h"
#include "roce/port/address_text.h"

namespace roce::replay {

namespace {

constexpr std::uint8_t kRdAtomic = 16;
constexpr std::uint8_t kRetries = 7;
constexpr Duration kHandshakeTime = std::chrono::seconds{10};
constexpr std::string_view kDone{"done\0", 5};

/// Makes the event loop wake up for a socket while this object lives.
class Watch {
 public:
  Watch(live::Endpoint& endpoint, int fd, short events) : endpoint_(endpoint), fd_(fd) {
    endpoint_.driver().watch(fd, events, [](short) {});
  }
  ~Watch() { endpoint_.driver().forget(fd_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  live::Endpoint& endpoint_;
  int fd_;
};

[[nodiscard]] Outcome<void> run(live::Endpoint& endpoint, live::Task<> task) {
  live::Script script{std::move(task)};
  const live::Result<bool> ran =
      endpoint.driver().run([&](Time now) { return live::step_script(endpoint, script, now); });
  if (!ran) return tl::unexpected(ran.error());
  if (!*ran) return failed("interrupted");
  if (!script.error().empty()) return failed(script.error());
  return {};
}

void granted(const Outcome<void>& outcome) {
  if (!outcome) throw live::ScriptFailure(outcome.error().message);
}

/// The handshake of the pingpong programs: the client sends its queue pair, the server connects its own
/// and answers with it, the client sends `done`.
class PingpongHandshake {
 public:
  PingpongHandshake(live::Endpoint& endpoint, LocalEnd& own, std::uint32_t path_mtu)
      : endpoint_(endpoint), own_(own), path_mtu_(path_mtu) {}

  live::Task<> be_client(live::Tcp& tcp) {
    {
      const Watch watch{endpoint_, tcp.fd(), POLLOUT};
      const Time deadline = (co_await live::this_time{}) + kHandshakeTime;
      const bool is_there = co_await live::until([&] { return is_connected(tcp); }, deadline);
      if (!is_there) throw live::ScriptFailure("nobody accepted the TCP connection in 10 s");
      tell(tcp);
    }
    co_await hear(tcp);
    if (!tcp.write(kDone)) throw live::ScriptFailure(kClosed);
    granted(connect_to(endpoint_, own_, remote_, path_mtu_));
  }

  live::Task<> be_server(live::Tcp& listener) {
    std::optional<live::Tcp> tcp;
    {
      const Watch watch{endpoint_, listener.fd(), POLLIN};
      co_await live::until([&] {
        live::Tcp accepted = listener.accept();
        if (accepted.fd() < 0) return false;
        tcp.emplace(std::move(accepted));
        return true;
      });
    }
    co_await hear(*tcp);
    granted(connect_to(endpoint_, own_, remote_, path_mtu_));
    tell(*tcp);
    co_await await_bytes(*tcp, kDone.size());
    if (text_ != kDone) throw live::ScriptFailure(fmt::format("expected \"done\" on TCP, got \"{}\"", text_));
  }

 private:
  static constexpr const char* kClosed = "the peer closed the TCP connection before the exchange was complete";

  [[nodiscard]] static bool is_connected(const live::Tcp& tcp) {
    if (const int error = tcp.connected(); error != 0) {
      throw live::ScriptFailure(
          fmt::format("cannot connect: {}; is the pingpong program running there?", std::strerror(error)));
    }
    pollfd waiting{tcp.fd(), POLLOUT, 0};
    return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLOUT) != 0;
  }

  void tell(live::Tcp& tcp) {
    const auto text = live::to_text({own_.qp().qpn(), own_.psn(), endpoint_.gid()});
    if (!tcp.write({text.data(), text.size()})) throw live::ScriptFailure(kClosed);
  }

  live::Task<> await_bytes(live::Tcp& tcp, std::size_t count) {
    const Watch watch{endpoint_, tcp.fd(), POLLIN};
    const Time deadline = (co_await live::this_time{}) + kHandshakeTime;
    const bool came = co_await live::until(
        [&] {
          if (text_.size() < count && tcp.read(text_, count) == live::Tcp::Read::closed)
            throw live::ScriptFailure(kClosed);
          return text_.size() >= count;
        },
        deadline);
    if (!came) throw live::ScriptFailure("the peer did not complete the exchange of queue pairs in 10 s");
  }

  live::Task<> hear(live::Tcp& tcp) {
    co_await await_bytes(tcp, live::PingpongMessage::kSize);
    const std::optional<live::PingpongMessage> message = live::parse_pingpong(text_);
    if (!message) {
      throw live::ScriptFailure(
          fmt::format("expected the message of a pingpong program on TCP, got \"{}\"", text_.c_str()));
    }
    if (message->gid == Gid{}) {
      throw live::ScriptFailure("the peer told no GID; give it -g with the index of a RoCE v2 GID");
    }
    remote_ = {message->gid, message->qpn, message->psn};
    text_.clear();
  }

  live::Endpoint& endpoint_;
  LocalEnd& own_;
  std::uint32_t path_mtu_;
  RemoteQueuePair remote_;
  std::string text_;
};

live::Task<> await_line(live::Endpoint& endpoint, std::string& line) {
  bool is_over = false;
  const auto read_some = [&](short) {
    std::array<char, 64> part{};
    const ssize_t count = ::read(STDIN_FILENO, part.data(), part.size());
    line.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    is_over = count <= 0 || line.find('\n') != std::string::npos;
  };
  endpoint.driver().watch(STDIN_FILENO, POLLIN, read_some);
  co_await live::until([&] { return is_over; });
  endpoint.driver().forget(STDIN_FILENO);
}

live::Task<> accept_next(live::RdmaCm& cm, LocalEnd& own, const std::optional<CommId>& wanted,
                         std::unique_ptr<live::CmConnection>& connection) {
  co_await live::until([&] { return wanted.has_value(); });
  const Time now = co_await live::this_time{};
  connection = std::make_unique<live::CmConnection>(cm, *wanted);
  connection->accept(own.qp().qpn(), kRdAtomic, kRetries, now);
  co_await connection->established(own.qp());
}

live::Task<> end_connection(live::CmConnection& connection, Duration patience) {
  const Time deadline = (co_await live::this_time{}) + patience;
  co_await live::until([&] { return connection.is_over(); }, deadline);
  co_await connection.disconnect();
}

}  // namespace

Outcome<void> connect_to(live::Endpoint& endpoint, LocalEnd& own, const RemoteQueuePair& remote,
                         std::uint32_t path_mtu) {
  live::ConnectOptions options;
  options.sgid_index = endpoint.sgid_index();
  options.gid = remote.gid;
  options.remote_qp = remote.qpn;
  options.remote_psn = remote.psn;
  options.psn = own.psn();
  options.path_mtu = path_mtu;
  const transport::VerbResult<void> connected =
      live::connect(endpoint.device(), own.qp().qpn(), transport::QpType::rc, options, endpoint.now());
  if (!connected) return failed(fmt::format("cannot connect the queue pair: {}", to_string(connected.error())));
  return {};
}

Outcome<RemoteQueuePair> read_queue_pair(live::Endpoint& endpoint, const Gid& gid) {
  std::string line;
  if (Outcome<void> read = run(endpoint, await_line(endpoint, line)); !read) return tl::unexpected(read.error());
  const char* at = line.c_str();
  char* end = nullptr;
  const unsigned long qpn = std::strtoul(at, &end, 0);
  const bool has_qpn = end != at && qpn != 0 && qpn <= Qpn::kMax;
  at = end;
  const unsigned long psn = std::strtoul(at, &end, 0);
  if (!has_qpn || end == at || psn > Psn::kMax) {
    return failed(fmt::format("expected \"QPN PSN\" on standard input, each at most 0xFFFFFF, got \"{}\"",
                              line.substr(0, line.find('\n'))));
  }
  return RemoteQueuePair{gid, Qpn{static_cast<std::uint32_t>(qpn)}, Psn{static_cast<std::uint32_t>(psn)}};
}

Outcome<void> connect_by_control(live::Endpoint& endpoint, live::ControlClient& peer, LocalEnd& own,
                                 const ControlEnd& remote, std::uint32_t path_mtu) {
  const std::optional<Gid> gid = port::parse_ip(peer.hello().value("gid", ""));
  if (!gid) return failed("the peer told no address; is it a roce-gen peer?");
  const Outcome<nlohmann::json> there = peer.call("connect_qp", {{"qp", remote.qpn().value()},
                                                                 {"gid", to_string(endpoint.gid())},
                                                                 {"remote_qp", own.qp().qpn().value()},
                                                                 {"remote_psn", own.psn().value()},
                                                                 {"psn", remote.psn().value()},
                                                                 {"path_mtu", path_mtu},
                                                                 {"rd_atomic", kRdAtomic}});
  if (!there) return tl::unexpected(there.error());
  return connect_to(endpoint, own, {*gid, remote.qpn(), remote.psn()}, path_mtu);
}

Outcome<void> connect_by_pingpong(live::Endpoint& endpoint, LocalEnd& own, const std::string& host, std::uint16_t port,
                                  std::uint32_t path_mtu) {
  live::Result<live::Tcp> tcp = live::Tcp::connect(host, port);
  if (!tcp) return tl::unexpected(tcp.error());
  PingpongHandshake handshake{endpoint, own, path_mtu};
  return run(endpoint, handshake.be_client(*tcp));
}

Outcome<void> accept_by_pingpong(live::Endpoint& endpoint, LocalEnd& own, live::Tcp& listener, std::uint32_t path_mtu) {
  PingpongHandshake handshake{endpoint, own, path_mtu};
  return run(endpoint, handshake.be_server(listener));
}

Outcome<void> connect_by_cm(live::RdmaCm& cm, live::CmConnection& connection, LocalEnd& own, const std::string& host,
                            std::uint16_t port, std::uint32_t path_mtu) {
  const live::Result<Gid> to = live::resolve_host(host);
  if (!to) return tl::unexpected(to.error());
  live::ConnectPlan plan;
  plan.to = *to;
  plan.port = port;
  plan.responder_resources = plan.initiator_depth = kRdAtomic;
  plan.path_mtu = path_mtu;
  return outcome_of(live::run_script(cm, connection.connect(own.qp().qpn(), plan)));
}

Outcome<std::unique_ptr<live::CmConnection>> accept_by_cm(live::RdmaCm& cm, LocalEnd& own, std::uint16_t port) {
  const ServiceId service{PortSpace::tcp, port};
  std::optional<CommId> wanted;
  if (const live::Result<void> listens = cm.listen(service, [&](CommId id, Time) { wanted = id; }); !listens) {
    return tl::unexpected(listens.error());
  }
  std::unique_ptr<live::CmConnection> connection;
  live::Result<void> accepted = live::run_script(cm, accept_next(cm, own, wanted, connection));
  cm.stop_listening(service);
  if (!accepted) return tl::unexpected(accepted.error());
  return connection;
}

Outcome<void> end_by_cm(live::RdmaCm& cm, live::CmConnection& connection, Duration patience) {
  return outcome_of(live::run_script(cm, end_connection(connection, patience)));
}

}  // namespace roce::replay
