// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/wire/opcode.h"
#include "sim/frame_tools.h"

/// Seeded runs of the endpoint over bad links, of which is known what became of every packet.
namespace roce::sim_truth {

/// A PSN that does not wrap.
using LongPsn = std::int64_t;

inline constexpr std::size_t kNone = ~std::size_t{0};

/// A packet as a device sent it, and what became of it.
struct Sent {
  Time time{};
  bool from_b = false;
  std::size_t channel = kNone;  ///< of requests and responses
  LongPsn psn = 0;
  std::uint32_t span = 1;         ///< PSNs: 1, or those of a READ's answer
  std::uint32_t read_length = 0;  ///< what a READ asks for
  Opcode opcode{};
  AethSyndrome syndrome{};
  bool is_request = false;
  bool is_response = false;
  bool ack_req = false;
  std::uint32_t transmission = 0;           ///< of a request: how often one of its PSNs had been sent before
  bool is_lost_before = true;               ///< it never came to the capture point intact
  bool is_lost = true;                      ///< it never came to its receiver intact
  Time left{};                              ///< when it first left for its receiver intact, unless it is lost
  std::size_t arrivals = 0;                 ///< intact
  std::size_t first_arrival = kNone;        ///< its place among all intact arrivals of its receiver
  std::vector<std::size_t> passages;        ///< the intact ones
  std::vector<std::size_t> bad_passages{};  ///< those with a wrong ICRC

  [[nodiscard]] LongPsn end() const { return psn + span; }
  [[nodiscard]] bool covers(LongPsn at) const { return psn <= at && at < end(); }
  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode); }
  [[nodiscard]] bool is_read() const { return info().operation == Operation::read_request; }
  /// Whether only an answer of its own completes it.
  [[nodiscard]] bool needs_answer() const;
  /// A READ response or the answer to an atomic.
  [[nodiscard]] bool is_answer() const;
  [[nodiscard]] bool is_positive() const;  ///< of a response: it refuses nothing
  [[nodiscard]] bool is_nak() const;
  [[nodiscard]] bool is_rnr() const;
};

/// A packet that came by the capture point.
struct Passage {
  std::size_t sent = 0;
  Time time{};
  bool is_corrupted = false;
  bool is_ce = false;
  std::size_t copy = 0;    ///< how many intact passages of the same packet were before it
  bool is_behind = false;  ///< a packet of the same channel and sort that was sent later came by before it
  bool arrived = false;    ///< intact
  std::size_t arrival = kNone;
  analysis::Observation observation{};
  sim::Frame frame;
};

/// The requests of one QP, and what the other end answers to them.
struct Channel {
  bool from_b = false;
  LongPsn first = 0;
  std::uint32_t mtu = 0;
  std::size_t qp = 0;
  LongPsn highest = 0;                                       ///< behind the newest PSN sent
  std::vector<std::size_t> requests;                         ///< in the order they were sent
  std::vector<std::size_t> responses;                        ///< likewise
  std::map<LongPsn, std::vector<std::size_t>> requests_of;   ///< by each PSN they cover
  std::map<LongPsn, std::vector<std::size_t>> responses_of;  ///< by PSN
};

struct Run {
  std::uint64_t seed = 0;
  std::string text;        ///< what it consists of
  std::string failure;     ///< of the simulation itself
  bool has_ip_id = false;  ///< the senders number their packets
  Duration to_a{};         ///< the least time from the capture point to A
  Duration to_b{};
  std::vector<Sent> sent;
  std::vector<Passage> passages;  ///< in the order of time
  std::vector<Channel> channels;

  [[nodiscard]] const Sent& sent_of(std::size_t passage) const { return sent[passages[passage].sent]; }
};

enum class Weather : std::uint8_t { faulty, clean };

/// A random run under a profile ("rxe", "hardware_like").
[[nodiscard]] Run make_run(std::uint64_t seed, std::string_view profile, Weather weather);

/// The passages that a capture has, in their order: all, or without `per_mille` of a thousand.
[[nodiscard]] std::vector<std::size_t> capture(const Run& run, std::uint32_t per_mille_withheld);

}  // namespace roce::sim_truth
