// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frame_draft.h"
#include "peer_memory.h"

namespace roce::attack {

/// Which queue pair of the peer is attacked, and in which role it is.
enum class Role : std::uint8_t { rc, uc, ud, requester };

/// What has to become of an attacking frame.
enum class Fate : std::uint8_t {
  may_execute,  ///< odd, but nothing forbids it
  dropped,      ///< it has no effect: a legal frame behind it is executed as if it had not been
  fatal,        ///< it is refused by a NAK, and the queue pair is in error
  silent_end,   ///< the queue pair is in error, and says nothing
};

/// What shows that the check at which a frame is aimed refused it.
struct Aim {
  std::optional<NakCode> nak{};
  std::array<std::string_view, 6> counters{};  ///< of the peer: any of these that went up
};

/// A request that the peer sent, as we heard it.
struct HeardRequest {
  Opcode opcode{};
  Psn psn{};
  std::uint32_t dma_length = 0;
  std::uint32_t packets = 1;  ///< of the answer to a READ
};

using Counts = std::map<std::string, std::uint64_t, std::less<>>;

/// A queue pair of the peer and our end of it.
struct Target {
  Role role = Role::rc;
  std::uint32_t index = 0;  ///< of its area and its slot
  Qpn own{};
  Qpn qpn{};
  Psn psn{};  ///< the next that the peer expects from us
  bool fresh = true;
  Counts counters;                      ///< of the peer, when last asked
  std::optional<HeardRequest> asked{};  ///< of a requester, the request without an answer
  std::uint32_t receives = 0;           ///< posted
};

struct Kind;

/// One attack on one queue pair.
struct Shot {
  enum class When : std::uint8_t { always, if_executed };
  struct Frame {
    std::vector<std::byte> bytes;
    bool attacks = false;
  };
  struct Change {
    std::uint64_t offset = 0;  ///< in the granted region
    std::vector<std::byte> bytes;
    When when = When::always;
  };

  const Kind* kind = nullptr;
  Target* target = nullptr;
  std::vector<Frame> frames;
  std::vector<Change> changes;
  std::optional<Psn> attack_psn{};
  std::uint32_t attacks = 0;
  std::uint32_t advance = 0;            ///< PSNs that legal frames took
  std::optional<Psn> follow_up{};       ///< of the legal frame behind it, which has to be acknowledged
  bool repeated = false;                ///< that frame went twice
  std::vector<std::string> requests{};  ///< of the control protocol, before the frames
};

/// What makes shots: places, keys and numbers.
class Workshop {
 public:
  Workshop(const Route& route, PeerMemory& memory, const std::deque<Target>& targets, std::uint64_t seed)
      : route_(route), memory_(memory), targets_(targets), random_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  [[nodiscard]] std::uint64_t number() { return random_(); }
  template <typename T>
  [[nodiscard]] T any_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  [[nodiscard]] std::vector<std::byte> bytes(std::size_t length);
  [[nodiscard]] const Route& route() const { return route_; }
  [[nodiscard]] PeerMemory& memory() { return memory_; }
  /// The target that has this QPN, or nullptr.
  [[nodiscard]] const Target* find(Qpn qpn) const;

  /// The next legal frame of an opcode for a target, without headers behind the BTH and without payload.
  [[nodiscard]] Draft frame(const Target& target, Opcode opcode);
  /// A legal WRITE of `length` bytes, at most the path MTU in this packet, somewhere in the target's area.
  [[nodiscard]] Draft write(const Target& target, Opcode opcode, std::uint32_t length);
  [[nodiscard]] Draft read(const Target& target, std::uint32_t length);
  [[nodiscard]] Draft atomic(const Target& target, Opcode opcode);
  [[nodiscard]] Draft flush(const Target& target);
  [[nodiscard]] Draft atomic_write(const Target& target);
  [[nodiscard]] Draft send(const Target& target, Opcode opcode, std::uint32_t length);
  /// Where a legal WRITE or READ may be: `length` bytes of the target's area, at a multiple of 8.
  [[nodiscard]] std::uint64_t place(const Target& target, std::uint32_t length);

  /// Adds a legal frame, which the peer executes.
  void legal(Shot& shot, Draft draft);
  /// Adds the frame that attacks. What it would write, should it be executed, is noted.
  void attack(Shot& shot, const Draft& draft);
  /// A receive for the target, of so many bytes of its slot.
  [[nodiscard]] std::string post_receive(const Target& target, std::uint32_t length);

  static constexpr std::uint32_t kPathMtu = 256;

 private:
  void note_change(Shot& shot, const Draft& draft, Shot::When when);

  const Route& route_;
  PeerMemory& memory_;
  const std::deque<Target>& targets_;
  std::mt19937_64 random_;
};

/// A way to attack.
struct Kind {
  std::string_view name;
  Role role;
  unsigned weight;
  Fate fate;
  Aim aim;
  void (*make)(Workshop&, Target&, Shot&);
};

[[nodiscard]] std::span<const Kind> connection_kinds();   ///< against the responder of an RC queue pair
[[nodiscard]] std::span<const Kind> network_kinds();      ///< below the BTH, and the BTH
[[nodiscard]] std::span<const Kind> unconnected_kinds();  ///< UC, UD, QP1
[[nodiscard]] std::span<const Kind> response_kinds();     ///< against the requester

}  // namespace roce::attack
