// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "gen/driver.h"
#include "gen/script.h"
#include "gen/tcp.h"

namespace roce::gen {

/// How long a peer of a perftest program may be silent.
inline constexpr Duration kPerftestSilence = std::chrono::seconds{10};

/// What the two ends of a perftest program tell each other beside their data goes through: messages whose sizes both
/// know, in order.
class PerftestChannel {
 public:
  PerftestChannel() = default;
  PerftestChannel(const PerftestChannel&) = delete;
  PerftestChannel& operator=(const PerftestChannel&) = delete;
  virtual ~PerftestChannel() = default;

  /// Sends a message. Throws: ScriptFailure when the peer is gone.
  virtual void send(std::string_view message) = 0;
  /// Whether a message of `size` bytes is there.
  [[nodiscard]] virtual bool has(std::size_t size) = 0;
  /// Whether no more will come than what is there.
  [[nodiscard]] virtual bool is_closed() = 0;
  /// Takes `size` bytes, or all there are if these are fewer. Where the channel keeps messages apart: the next one, of
  /// whatever size.
  [[nodiscard]] virtual std::string take(std::size_t size) = 0;
  /// Whether the keys of QPs go through it in their binary form.
  [[nodiscard]] virtual bool has_binary_keys() const { return false; }
  /// Tells the peer that all was said, where the programs do; a peer that is gone does no harm.
  virtual void say_done() {}

  /// The next message. `what` names it in failures and has to live as long as the task. Throws: ScriptFailure when the
  /// channel is closed or silent for 10 s before it is complete.
  [[nodiscard]] Task<std::string> receive(std::size_t size, std::string_view what);
};

/// What a peer sent, as a failure shows it: its beginning in quotes, with dots for what cannot be printed.
[[nodiscard]] std::string quote(std::string_view bytes);

/// A channel that is a TCP connection.
class TcpPerftestChannel final : public PerftestChannel {
 public:
  /// A connection accepted, or begun and to be waited for with `establish`. `driver` has to outlive the channel.
  TcpPerftestChannel(Driver& driver, Tcp tcp);
  ~TcpPerftestChannel() override;

  /// Ends once the connection that was begun is there. Throws: ScriptFailure when nobody answers.
  [[nodiscard]] Task<> establish();
  void send(std::string_view message) override;
  [[nodiscard]] bool has(std::size_t size) override { return received_.size() >= size; }
  [[nodiscard]] bool is_closed() override { return closed_; }
  [[nodiscard]] std::string take(std::size_t size) override;
  void say_done() override;

 private:
  void read();

  Driver& driver_;
  Tcp tcp_;
  std::string received_;
  bool writable_ = false;
  bool closed_ = false;
};

}  // namespace roce::gen
