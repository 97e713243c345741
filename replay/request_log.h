// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "replay/psn_map.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Why the messages of a connection cannot be cut anew.
enum class Uncuttable : std::uint8_t {
  began_before,      ///< packets are to be joined, and where the first message began is not known
  packets_missing,   ///< packets are not in the capture, and not even how long their messages were is known
  payload_cut,       ///< the snap length cut payload off
  contradiction,     ///< the same PSN stands for different packets, or an operation ends as another one
  path_mtu_unknown,  ///< a READ was not answered, so that it is not known how many PSNs it takes
  path_mtu_odd,      ///< packets within messages have another length than a path MTU, or several
  not_joined,        ///< which answers belong to the requests is not known
};

/// `it had begun before the capture`
[[nodiscard]] std::string_view to_string(Uncuttable reason);

/// The requests of one QP as they were seen, each PSN once: from them follows which PSNs its messages take.
class RequestLog {
 public:
  /// `new_mtu`: what the messages are to be cut into; what has no more payload needs no PSN but its own.
  explicit RequestLog(std::uint32_t new_mtu) : new_mtu_(new_mtu) {}

  /// Takes a request packet that is whole, in the order of the capture.
  void add(const Packet& packet);

  /// Where the PSNs go if the path MTU was `old_mtu`. 0: no message has several packets, and the longest packet has
  /// `longest` bytes of payload.
  [[nodiscard]] tl::expected<PsnMap, Uncuttable> map(std::uint32_t old_mtu, std::uint32_t longest) const;

  [[nodiscard]] bool is_empty() const { return runs_.empty(); }

 private:
  enum class Kind : std::uint8_t { single, only, first, middle, last, read };
  /// Packets of one kind and length with PSNs that follow one another.
  struct Run {
    LongPsn psn = 0;
    std::uint32_t count = 1;
    std::uint32_t length = 0;  ///< payload; of a READ what it asks for, of a first WRITE packet its whole message
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
  std::vector<Run> runs_;  ///< by PSN
  bool is_contradictory_ = false;
};

}  // namespace roce::replay
