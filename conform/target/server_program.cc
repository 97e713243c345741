// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/server_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conform/target/perftest_talk.h"
#include "perftest/handshake.h"
#include "roce/live/pingpong_message.h"

namespace roce::conform {

namespace {

constexpr std::uint16_t kPingpongPort = 18515;
constexpr std::uint32_t kPathMtu = 1024;  // of all these programs, if they are not told otherwise
constexpr std::uint64_t kPingpongBytes = 4096;
constexpr std::uint64_t kDatagramBytes = 1024;
constexpr QKey kPingpongQKey{0x1111'1111};
constexpr std::uint64_t kPerftestBytes = 65536;
constexpr std::uint16_t kUcmatosePort = 7471;
constexpr std::uint64_t kUcmatoseBytes = 100;
constexpr std::uint16_t kRpingPort = 7174;
constexpr std::uint64_t kRpingBytes = 16;

constexpr std::array kPrograms{
    ServerProgram{.kind = ServerKind::pingpong,
                  .name = "ibv_rc_pingpong",
                  .port = kPingpongPort,
                  .type = transport::QpType::rc,
                  .message_bytes = kPingpongBytes,
                  .takes_sends = true,
                  .answers = true},
    ServerProgram{.kind = ServerKind::pingpong,
                  .name = "ibv_uc_pingpong",
                  .port = kPingpongPort,
                  .type = transport::QpType::uc,
                  .message_bytes = kPingpongBytes,
                  .takes_sends = true,
                  .answers = true},
    ServerProgram{.kind = ServerKind::pingpong,
                  .name = "ibv_ud_pingpong",
                  .port = kPingpongPort,
                  .type = transport::QpType::ud,
                  .message_bytes = kDatagramBytes,
                  .takes_sends = true,
                  .answers = true,
                  .q_key = kPingpongQKey},
    ServerProgram{.kind = ServerKind::perftest,
                  .name = "ib_write_bw",
                  .port = kPerftestPort,
                  .type = transport::QpType::rc,
                  .message_bytes = kPerftestBytes,
                  .takes_writes = true},
    ServerProgram{.kind = ServerKind::rdma_cm,
                  .name = "ucmatose",
                  .port = kUcmatosePort,
                  .type = transport::QpType::rc,
                  .message_bytes = kUcmatoseBytes,
                  .takes_sends = true},
    ServerProgram{.kind = ServerKind::rdma_cm,
                  .name = "rping",
                  .port = kRpingPort,
                  .type = transport::QpType::rc,
                  .message_bytes = kRpingBytes},
};

live::Result<void> check_address(const TcpTalk& talk, const Gid& told, const Port& port) {
  if (told == port.device_gid) return {};
  if (told == Gid{}) return talk.failure("it told no GID; give it -g with the index of a RoCE v2 GID");
  return talk.failure(
      fmt::format("its RoCE address is {} and not {}; give it the GID of that one (-g), or name the "
                  "other with --server",
                  to_string(told), to_string(port.device_gid)));
}

live::Result<ServerSession> introduce_to_pingpong(TcpTalk talk, const Port& port, const OwnQp& own) {
  const auto text = to_text(live::PingpongMessage{.qpn = own.qpn, .psn = own.first, .gid = port.tester_gid});
  if (const auto told = talk.write({text.data(), text.size()}); !told) return tl::unexpected(told.error());
  const live::Result<std::string> answer = talk.read(live::PingpongMessage::kSize, "its queue pair");
  if (!answer) return tl::unexpected(answer.error());
  const std::optional<live::PingpongMessage> message = live::parse_pingpong(*answer);
  if (!message) {
    return talk.failure(fmt::format("expected the message of a pingpong program, got {}; is it another program?",
                                    quote(std::string_view{*answer}.substr(0, answer->find('\0')))));
  }
  if (const auto right = check_address(talk, message->gid, port); !right) return tl::unexpected(right.error());
  if (const auto done = talk.write(std::string_view{"done\0", 5}); !done) return tl::unexpected(done.error());
  return ServerSession{.qp = {.qpn = message->qpn, .first = message->psn, .path_mtu = kPathMtu}};
}

live::Result<ServerSession> introduce_to_perftest(const ServerProgram& program, TcpTalk talk, const Port& port,
                                                  const OwnQp& own) {
  // One for the QP, and one before the data.
  constexpr int barriers = 2;
  const live::Result<PerftestIntroduction> met = introduce_perftest(
      talk, PerftestKeys{.qpn = own.qpn, .psn = own.first, .gid = port.tester_gid}, kPathMtu, barriers);
  if (!met) return tl::unexpected(met.error());
  const PerftestKeys& keys = met->keys;
  if (const auto right = check_address(talk, keys.gid, port); !right) return tl::unexpected(right.error());
  ServerSession session{.qp = {.qpn = keys.qpn, .first = keys.psn, .path_mtu = met->path_mtu}};
  if (program.takes_writes) {
    session.qp.memory = Region{.address = keys.address, .length = program.message_bytes, .r_key = keys.r_key.value()};
  }
  session.talk = std::move(talk);
  return session;
}

}  // namespace

std::vector<std::string_view> server_program_names() {
  std::vector<std::string_view> names;
  names.reserve(kPrograms.size());
  for (const ServerProgram& program : kPrograms) names.push_back(program.name);
  return names;
}

const ServerProgram* find_server_program(std::string_view name) {
  const auto found = std::ranges::find(kPrograms, name, &ServerProgram::name);
  return found == kPrograms.end() ? nullptr : &*found;
}

live::Result<ServerSession> connect(Wire& wire, const CmServer& server, const OwnQp& own) {
  live::Result<std::unique_ptr<CmConnection>> connection = CmConnection::open(wire, server, own.qpn, PathMtu::mtu_1024);
  if (!connection) return tl::unexpected(connection.error());
  const cm::Agreement& agreed = (*connection)->agreement();
  return ServerSession{.qp = {.qpn = agreed.dest_qp,
                              .first = agreed.rq_psn,
                              .path_mtu = to_bytes(agreed.path_mtu),
                              .expected = agreed.sq_psn},
                       .connection = std::move(*connection)};
}

live::Result<ServerSession> introduce(const ServerProgram& program, TcpTalk talk, const Port& port, const OwnQp& own) {
  if (program.kind == ServerKind::pingpong) return introduce_to_pingpong(std::move(talk), port, own);
  return introduce_to_perftest(program, std::move(talk), port, own);
}

}  // namespace roce::conform
