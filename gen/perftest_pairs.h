// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gen/endpoint.h"
#include "gen/perftest_handshake.h"
#include "gen/perftest_keys.h"
#include "gen/perftest_options.h"
#include "gen/verbs.h"

namespace roce::gen {

/// The queue pairs of one perftest program, and their memory. Of the memory one part goes out; the peer reaches only
/// the part that comes in, at the address in each QP's keys; what a READ or an atomic brings back is a third part.
class PerftestPairs {
 public:
  /// READs and atomics that we accept at a time, and that we have under way at most.
  static constexpr std::uint16_t kOutReads = 16;

  /// Makes QPs in INIT. `options` are complete. Throws: ScriptFailure for what the device refuses.
  PerftestPairs(Endpoint& endpoint, const PerftestOptions& options, const PerftestAgreement& agreed);

  [[nodiscard]] std::size_t count() const { return pairs_.size(); }
  [[nodiscard]] QueuePair& qp(std::size_t index) { return *pairs_[index].qp; }
  /// Bytes, as both ends agreed.
  [[nodiscard]] std::uint32_t path_mtu() const { return path_mtu_; }
  /// What to tell the peer of a QP.
  [[nodiscard]] const PerftestKeys& own(std::size_t index) const { return pairs_[index].own; }
  /// Keeps what the peer told of the QP that one of ours is connected to.
  void learn(std::size_t index, const PerftestKeys& remote) { pairs_[index].remote = remote; }
  /// Moves a QP to RTS, towards what the peer told of its own. Throws: ScriptFailure.
  void connect(std::size_t index, const PerftestKeys& remote, Time now);
  /// Where a connected QP's requests act.
  [[nodiscard]] transport::RemoteAddress remote(std::size_t index) const {
    return {pairs_[index].remote.address, pairs_[index].remote.r_key};
  }

  /// A message's bytes, the same for all QPs: the pattern of seed 0.
  [[nodiscard]] std::span<std::byte> outgoing() { return outgoing_.bytes(0, options_.size); }
  [[nodiscard]] transport::Sge outgoing_sge() const { return outgoing_.sge(0, options_.size); }
  /// What the peer may reach by a QP, and where its messages come in: at least a message or the cycle buffer.
  [[nodiscard]] std::span<std::byte> incoming(std::size_t index) { return incoming_.bytes(index * stride_, stride_); }
  [[nodiscard]] transport::Sge incoming_sge(std::size_t index) const {
    return incoming_.sge(index * stride_, options_.size);
  }
  /// One of the places of a QP for what its requests bring back, taken in turn by their number. READs: two, the first
  /// for number 0 alone. Atomics: the depth of the send queue.
  [[nodiscard]] std::span<std::byte> result(std::size_t index, std::uint64_t number) {
    return results_.bytes(result_offset(index, number), options_.size);
  }
  [[nodiscard]] transport::Sge result_sge(std::size_t index, std::uint64_t number) const {
    return results_.sge(result_offset(index, number), options_.size);
  }

  /// Of all QPs together.
  [[nodiscard]] transport::Counters counters() const;
  /// Changes as long as packets come that bring something new.
  [[nodiscard]] std::uint64_t progress() const;

 private:
  struct Pair {
    std::unique_ptr<QueuePair> qp;
    PerftestKeys own;
    PerftestKeys remote;
  };

  [[nodiscard]] std::size_t result_slots() const;
  [[nodiscard]] std::size_t result_offset(std::size_t index, std::uint64_t number) const;

  Endpoint& endpoint_;
  PerftestOptions options_;
  std::uint32_t path_mtu_;
  std::size_t stride_;
  Domain domain_;
  Memory outgoing_;
  Memory incoming_;
  Memory results_;
  std::vector<Pair> pairs_;
};

}  // namespace roce::gen
