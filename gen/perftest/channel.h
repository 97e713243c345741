// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "perftest/channel.h"
#include "roce/live/driver.h"
#include "roce/live/script.h"
#include "roce/live/tcp.h"

namespace roce::gen {

/// A channel over a TCP connection.
class TcpPerftestChannel final : public PerftestChannel {
 public:
  /// Takes a connection that was accepted, or begun and still needs `establish`. `driver` has to outlive the channel.
  TcpPerftestChannel(live::Driver& driver, live::Tcp tcp);
  ~TcpPerftestChannel() override;

  /// Waits until the connection that was begun is established. Throws: ScriptFailure if it is refused or not answered.
  [[nodiscard]] live::Task<> establish();
  void send(std::string_view message) override;
  [[nodiscard]] bool has(std::size_t size) override { return received_.size() >= size; }
  [[nodiscard]] bool is_closed() override { return closed_; }
  [[nodiscard]] std::string take(std::size_t size) override;
  void say_done() override;

 private:
  void read();

  live::Driver& driver_;
  live::Tcp tcp_;
  std::string received_;
  bool writable_ = false;
  bool closed_ = false;
};

}  // namespace roce::gen
