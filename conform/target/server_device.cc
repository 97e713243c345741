// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/server_device.h"

#include <utility>

#include "conform/target/server_target.h"
#include "roce/live/tcp.h"

namespace roce::conform {

live::Result<std::unique_ptr<ServerDevice>> ServerDevice::open(const ServerSettings& settings) {
  const live::Result<Gid> address = live::resolve_host(settings.host);
  if (!address) return tl::unexpected(address.error());
  auto wire = Wire::open({.interface = settings.interface, .device = *address, .to_others = settings.to_others});
  if (!wire) return tl::unexpected(wire.error());
  std::unique_ptr<ServerDevice> device{new ServerDevice{settings}};
  device->wire_ = std::move(*wire);
  ServerTarget trial{*device, 0};
  if (const live::Result<void> met = trial.meet(); !met) return tl::unexpected(met.error());
  return device;
}

live::Result<ServerSession> ServerDevice::meet(const OwnQp& own) {
  const ServerProgram& program = *settings_.program;
  started_.reset();
  if (!settings_.command.empty()) {
    TargetResult<ShellCommand> started = ShellCommand::start(settings_.command, {}, ShellCommand::Output::dropped);
    if (!started) return live::cannot(started.error());
    started_ = std::move(*started);
  }
  const std::uint16_t port = settings_.port != 0 ? settings_.port : program.port;
  if (program.kind == ServerKind::rdma_cm) {
    return connect(*wire_, {.program = std::string{program.name}, .port = port, .patience = settings_.patience}, own);
  }
  live::Result<TcpTalk> talk = TcpTalk::connect(
      {.program = std::string{program.name}, .host = settings_.host, .port = port, .patience = settings_.patience},
      started_ ? &*started_ : nullptr);
  if (!talk) return tl::unexpected(talk.error());
  return introduce(program, std::move(*talk), wire_->port(), own);
}

}  // namespace roce::conform
