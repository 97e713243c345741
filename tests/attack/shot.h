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

/// The type of the queue pair under attack, or its role as a requester.
enum class Role : std::uint8_t { rc, uc, ud, requester };

/// The required outcome of an attacking frame.
enum class Fate : std::uint8_t {
  may_execute,  ///< odd, but not forbidden
  dropped,      ///< without effect: the legal frame after it is executed as if the attack had not been sent
  fatal,        ///< refused by a NAK, and the queue pair is in error
  silent_end,   ///< the queue pair is in error and sends nothing
};

/// The signs that a frame was refused by the check at which it is aimed.
struct Aim {
  std::optional<NakCode> nak{};
  std::array<std::string_view, 6> counters{};  ///< counters of the peer, any of which may have risen
};

/// A request of the peer, as we received it.
struct HeardRequest {
  Opcode opcode{};
  Psn psn{};
  std::uint32_t dma_length = 0;
  std::uint32_t packets = 1;  ///< packets of the response to a READ
};

using Counts = std::map<std::string, std::uint64_t, std::less<>>;

/// A queue pair of the peer, and our end of it.
struct Target {
  Role role = Role::rc;
  std::uint32_t index = 0;  ///< index of its area and its slot
  Qpn own{};
  Qpn qpn{};
  Psn psn{};  ///< the next PSN that the peer expects from us
  bool fresh = true;
  Counts counters;                      ///< counters of the peer when last asked for
  std::optional<HeardRequest> asked{};  ///< for a requester, the request that has no response yet
  std::uint32_t receives = 0;           ///< receives posted
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
    std::uint64_t offset = 0;  ///< offset in the granted region
    std::vector<std::byte> bytes;
    When when = When::always;
  };

  const Kind* kind = nullptr;
  Target* target = nullptr;
  std::vector<Frame> frames;
  std::vector<Change> changes;
  std::optional<Psn> attack_psn{};
  std::uint32_t attacks = 0;
  std::uint32_t advance = 0;            ///< PSNs that the legal frames used
  std::optional<Psn> follow_up{};       ///< PSN of the legal frame after the attack, which has to be acknowledged
  bool repeated = false;                ///< the legal frame after the attack was sent twice
  std::vector<std::string> requests{};  ///< requests of the control protocol to send before the frames
};

/// Makes shots: chooses places, keys and numbers.
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
  /// Returns the target that has this QPN, or nullptr.
  [[nodiscard]] const Target* find(Qpn qpn) const;

  /// Returns the next legal frame of an opcode for a target, without headers behind the BTH and without payload.
  [[nodiscard]] Draft frame(const Target& target, Opcode opcode);
  /// Returns a legal WRITE of `length` bytes, at most the path MTU in this packet, somewhere in the target's area.
  [[nodiscard]] Draft write(const Target& target, Opcode opcode, std::uint32_t length);
  [[nodiscard]] Draft read(const Target& target, std::uint32_t length);
  [[nodiscard]] Draft atomic(const Target& target, Opcode opcode);
  [[nodiscard]] Draft flush(const Target& target);
  [[nodiscard]] Draft atomic_write(const Target& target);
  [[nodiscard]] Draft send(const Target& target, Opcode opcode, std::uint32_t length);
  /// Returns the address for a legal WRITE or READ: `length` bytes of the target's area, at a multiple of 8.
  [[nodiscard]] std::uint64_t place(const Target& target, std::uint32_t length);

  /// Adds a legal frame, which the peer executes.
  void legal(Shot& shot, Draft draft);
  /// Adds the attacking frame, and notes the bytes that it would write if it were executed.
  void attack(Shot& shot, const Draft& draft);
  /// Returns the request that posts a receive for the target, of `length` bytes of its slot.
  [[nodiscard]] std::string post_receive(const Target& target, std::uint32_t length);

  static constexpr std::uint32_t kPathMtu = 256;

 private:
  void note_change(Shot& shot, const Draft& draft, Shot::When when);

  const Route& route_;
  PeerMemory& memory_;
  const std::deque<Target>& targets_;
  std::mt19937_64 random_;
};

/// A kind of attack.
struct Kind {
  std::string_view name;
  Role role;
  unsigned weight;
  Fate fate;
  Aim aim;
  void (*make)(Workshop&, Target&, Shot&);
};

[[nodiscard]] std::span<const Kind> connection_kinds();   ///< against the responder of an RC queue pair
[[nodiscard]] std::span<const Kind> network_kinds();      ///< against the layers below the BTH, and the BTH
[[nodiscard]] std::span<const Kind> unconnected_kinds();  ///< UC, UD, QP1
[[nodiscard]] std::span<const Kind> response_kinds();     ///< against the requester

}  // namespace roce::attack
