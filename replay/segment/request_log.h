// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "replay/segment/psn_map.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Reason why the messages of a connection cannot be cut anew.
enum class Uncuttable : std::uint8_t {
  began_before,      ///< packets are to be joined, and it is not known where the first message began
  packets_missing,   ///< packets are not in the capture, nor is it known how long their messages were
  payload_cut,       ///< the snap length cut payload off
  contradiction,     ///< the same PSN stands for different packets, or a message changes its operation
  path_mtu_unknown,  ///< a READ was not answered, so it is not known how many PSNs it takes
  path_mtu_odd,      ///< the lengths of packets inside messages differ, or are not a path MTU
  not_joined,        ///< it is not known which answers belong to the requests
};

/// Returns a text for people, such as `it had begun before the capture`.
[[nodiscard]] std::string_view to_string(Uncuttable reason);

/// The requests of one QP as they were seen, each PSN once: they determine which PSNs its messages take.
class RequestLog {
 public:
  /// `new_mtu`: bytes that messages are to be cut into; a request with no more payload takes only its own PSN.
  explicit RequestLog(std::uint32_t new_mtu) : new_mtu_(new_mtu) {}

  /// Takes the next request packet of the capture; it has to be whole.
  void add(const Packet& packet);

  /// Returns where the PSNs go if the path MTU was `old_mtu`. With 0, no message has several packets, and
  /// the longest packet has `longest` bytes of payload.
  [[nodiscard]] tl::expected<PsnMap, Uncuttable> map(std::uint32_t old_mtu, std::uint32_t longest) const;

  [[nodiscard]] bool is_empty() const { return runs_.empty(); }

 private:
  enum class Kind : std::uint8_t { single, only, first, middle, last, read };
  /// Packets of one kind and length with consecutive PSNs.
  struct Run {
    LongPsn psn = 0;
    std::uint32_t count = 1;
    std::uint32_t length = 0;  ///< payload; READ: bytes asked for; first packet of a WRITE: bytes of the message
    Kind kind = Kind::single;
    Operation operation{};

    [[nodiscard]] LongPsn end() const { return psn + count; }
    [[nodiscard]] bool is_like(const Run& other) const {
      return kind == other.kind && length == other.length && operation == other.operation;
    }
  };
  class Walk;

  [[nodiscard]] Run run_of(const Packet& packet) const;

  std::uint32_t new_mtu_;
  PsnCounter counter_;
  std::vector<Run> runs_;  ///< ordered by PSN
  bool is_contradictory_ = false;
};

}  // namespace roce::replay
