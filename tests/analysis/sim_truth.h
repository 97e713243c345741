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

/// Seeded runs of the endpoint over bad links; what became of each packet is known.
namespace roce::sim_truth {

/// A PSN that does not wrap.
using LongPsn = std::int64_t;

inline constexpr std::size_t kNone = ~std::size_t{0};

/// A packet as a device sent it, and what became of it.
struct Sent {
  Time time{};
  bool from_b = false;
  std::size_t channel = kNone;  ///< channel of a request or response, otherwise `kNone`
  LongPsn psn = 0;
  std::uint32_t span = 1;         ///< number of PSNs: 1, for a READ those of its answer
  std::uint32_t read_length = 0;  ///< bytes that a READ requests
  Opcode opcode{};
  AethSyndrome syndrome{};
  bool is_request = false;
  bool is_response = false;
  bool ack_req = false;
  std::uint32_t transmission = 0;           ///< requests only: how often one of its PSNs had been sent before
  bool is_lost_before = true;               ///< it never reached the capture point intact
  bool is_lost = true;                      ///< it never reached its receiver intact
  Time left{};                              ///< time at which it first left for its receiver intact, unless it is lost
  std::size_t arrivals = 0;                 ///< number of intact arrivals
  std::size_t first_arrival = kNone;        ///< place of the first one among all intact arrivals
  std::vector<std::size_t> passages;        ///< intact ones
  std::vector<std::size_t> bad_passages{};  ///< ones with a wrong ICRC

  [[nodiscard]] LongPsn end() const { return psn + span; }
  [[nodiscard]] bool covers(LongPsn at) const { return psn <= at && at < end(); }
  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode); }
  [[nodiscard]] bool is_read() const { return info().operation == Operation::read_request; }
  /// True if only an answer of its own completes it.
  [[nodiscard]] bool needs_answer() const;
  /// True for a READ response or the answer to an atomic.
  [[nodiscard]] bool is_answer() const;
  [[nodiscard]] bool is_positive() const;  ///< true for a response that does not refuse anything
  [[nodiscard]] bool is_nak() const;
  [[nodiscard]] bool is_rnr() const;
};

/// A packet passing the capture point.
struct Passage {
  std::size_t sent = 0;
  Time time{};
  bool is_corrupted = false;
  bool is_ce = false;
  std::size_t copy = 0;    ///< number of intact passages of the same packet before this one
  bool is_behind = false;  ///< a packet of the same channel and kind that was sent later passed before it
  bool arrived = false;    ///< arrived intact
  std::size_t arrival = kNone;
  analysis::Observation observation{};
  sim::Frame frame;
};

/// The requests of one QP, and the responses of the other end to them.
struct Channel {
  bool from_b = false;
  LongPsn first = 0;
  std::uint32_t mtu = 0;
  std::size_t qp = 0;
  LongPsn highest = 0;                                       ///< PSN after the newest one sent
  std::vector<std::size_t> requests;                         ///< in the order they were sent
  std::vector<std::size_t> responses;                        ///< in the order they were sent
  std::map<LongPsn, std::vector<std::size_t>> requests_of;   ///< by each PSN that they cover
  std::map<LongPsn, std::vector<std::size_t>> responses_of;  ///< by PSN
};

struct Run {
  std::uint64_t seed = 0;
  std::string text;        ///< description of the run
  std::string failure;     ///< error of the simulation itself, or empty
  bool has_ip_id = false;  ///< the senders count IP identifications up
  Duration to_a{};         ///< least time from the capture point to A
  Duration to_b{};
  std::vector<Sent> sent;
  std::vector<Passage> passages;  ///< ordered by time
  std::vector<Channel> channels;

  [[nodiscard]] const Sent& sent_of(std::size_t passage) const { return sent[passages[passage].sent]; }
};

enum class Weather : std::uint8_t {
  faulty,      ///< packets are lost, copied, overtaken, damaged and marked
  overtaking,  ///< packets are overtaken, and nothing is lost
  clean,
};

/// Makes a random run under a profile ("rxe", "hardware_like").
[[nodiscard]] Run make_run(std::uint64_t seed, std::string_view profile, Weather weather);

/// Returns the passages that a capture has, in their order: all of them, or without `per_mille_withheld` of a thousand.
[[nodiscard]] std::vector<std::size_t> capture(const Run& run, std::uint32_t per_mille_withheld);

}  // namespace roce::sim_truth
