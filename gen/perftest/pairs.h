// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gen/perftest/options.h"
#include "perftest/handshake.h"
#include "perftest/qp_line.h"
#include "roce/live/endpoint.h"
#include "roce/live/verbs.h"

namespace roce::gen {

/// The queue pairs of one perftest program, and their memory. It has three parts: outgoing messages; incoming ones, the
/// only part that the peer can access, at the address in each QP's keys; the results of READs and atomics.
class PerftestPairs {
 public:
  /// READs and atomics that we accept at a time, and the most that we have outstanding.
  static constexpr std::uint16_t kOutReads = 16;

  /// Makes QPs in INIT. `options` are as `complete` returns them. Throws: ScriptFailure if the device refuses one.
  PerftestPairs(live::Endpoint& endpoint, const PerftestOptions& options, const PerftestAgreement& agreed);

  [[nodiscard]] std::size_t count() const { return pairs_.size(); }
  [[nodiscard]] live::QueuePair& qp(std::size_t index) { return *pairs_[index].qp; }
  /// Returns the path MTU that both ends agreed on, in bytes.
  [[nodiscard]] std::uint32_t path_mtu() const { return path_mtu_; }
  /// Returns the keys of a QP, which the peer has to know.
  [[nodiscard]] const PerftestKeys& own(std::size_t index) const { return pairs_[index].own; }
  /// Keeps the keys of the peer's QP that one of ours is connected to.
  void learn(std::size_t index, const PerftestKeys& remote) { pairs_[index].remote = remote; }
  /// Moves a QP to RTS, connected to the peer's QP that has the keys `remote`. Throws: ScriptFailure.
  void connect(std::size_t index, const PerftestKeys& remote, Time now);
  /// Returns the peer's memory on which a connected QP's requests act.
  [[nodiscard]] transport::RemoteAddress remote(std::size_t index) const {
    return {pairs_[index].remote.address, pairs_[index].remote.r_key};
  }

  /// Returns the bytes of a message, the same for all QPs: the pattern of seed 0.
  [[nodiscard]] std::span<std::byte> outgoing() { return outgoing_.bytes(0, options_.size); }
  [[nodiscard]] transport::Sge outgoing_sge() const { return outgoing_.sge(0, options_.size); }
  /// Returns a QP's memory that the peer can access, where messages arrive: at least a message or the cycle buffer.
  [[nodiscard]] std::span<std::byte> incoming(std::size_t index) { return incoming_.bytes(index * stride_, stride_); }
  [[nodiscard]] transport::Sge incoming_sge(std::size_t index) const {
    return incoming_.sge(index * stride_, options_.size);
  }
  /// Returns the place for the result of request `number` on a QP; places are used in turn. READs have two, the first
  /// for number 0 alone; atomics have as many as the send queue is deep.
  [[nodiscard]] std::span<std::byte> result(std::size_t index, std::uint64_t number) {
    return results_.bytes(result_offset(index, number), options_.size);
  }
  [[nodiscard]] transport::Sge result_sge(std::size_t index, std::uint64_t number) const {
    return results_.sge(result_offset(index, number), options_.size);
  }

  /// Returns the counters of all QPs together.
  [[nodiscard]] transport::Counters counters() const;
  /// Returns a number that changes as long as packets come that bring something new.
  [[nodiscard]] std::uint64_t progress() const;

 private:
  struct Pair {
    std::unique_ptr<live::QueuePair> qp;
    PerftestKeys own;
    PerftestKeys remote;
  };

  [[nodiscard]] std::size_t result_slots() const;
  [[nodiscard]] std::size_t result_offset(std::size_t index, std::uint64_t number) const;

  live::Endpoint& endpoint_;
  PerftestOptions options_;
  std::uint32_t path_mtu_;
  std::size_t stride_;
  live::Domain domain_;
  live::Memory outgoing_;
  live::Memory incoming_;
  live::Memory results_;
  std::vector<Pair> pairs_;
};

}  // namespace roce::gen
