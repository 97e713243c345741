// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "roce/live/script.h"
#include "roce/wire/time.h"

namespace roce {

/// How long a peer of a perftest program may be silent.
inline constexpr Duration kPerftestSilence = std::chrono::seconds{10};

/// The channel on which the two ends of a perftest program exchange
/// everything but their data: messages in order, whose sizes both ends know.
class PerftestChannel {
 public:
  PerftestChannel() = default;
  PerftestChannel(const PerftestChannel&) = delete;
  PerftestChannel& operator=(const PerftestChannel&) = delete;
  virtual ~PerftestChannel() = default;

  /// Sends a message. Throws: ScriptFailure if the peer is gone.
  virtual void send(std::string_view message) = 0;
  /// True if a message of `size` bytes has arrived.
  [[nodiscard]] virtual bool has(std::size_t size) = 0;
  /// True if nothing will come after what has arrived.
  [[nodiscard]] virtual bool is_closed() = 0;
  /// Takes `size` bytes, or all that have arrived if they are fewer. A
  /// channel that keeps messages apart takes the next one, whatever its size.
  [[nodiscard]] virtual std::string take(std::size_t size) = 0;
  /// True if the keys of QPs are exchanged in their binary form.
  [[nodiscard]] virtual bool has_binary_keys() const { return false; }
  /// Tells the peer that the exchange is over, if the programs do that; does not fail if the peer is gone.
  virtual void say_done() {}

  /// Returns the next message. `what` names it in failures and has to live as long as the task. Throws: ScriptFailure
  /// if the channel is closed before the message is complete, or it is not complete after 10 s.
  [[nodiscard]] live::Task<std::string> receive(std::size_t size, std::string_view what);
};

/// Returns bytes from a peer as a failure shows them: their beginning in quotes, with dots for what cannot be printed.
[[nodiscard]] std::string quote(std::string_view bytes);

}  // namespace roce
