// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "capture_truth.h"
#include "captured_connection.h"
#include "roce/transport/device.h"

namespace roce::test {

/// A receive that completed, and the request that completed it.
struct NumberedReceipt {
  std::uint64_t number = 0;
  Receipt receipt{};
};

/// A device with one QP in the place of a captured responder: it has its addresses, QPN and PSN, memory at the
/// addresses that the captured requests name, and a receive whenever the real one had one.
///
/// The device assigns keys of its own, so the keys in the requests are replaced by them (and the ICRC is computed again
/// if it was right). A region spans everything that was accessed through a key without being refused; refused accesses
/// lie outside, or have a key that does not exist. A receive is posted unless the real responder answered exactly that
/// request with an RNR NAK.
class ReplayedResponder {
 public:
  /// Both the connection and its truth have to outlive the object.
  ReplayedResponder(const CapturedConnection& connection, const ResponderTruth& truth,
                    const transport::Profile& profile = transport::rxe_profile());

  /// Feeds a request as it arrived; the answers are then in `answers()`.
  void feed(const CapturedFrame& request);

  [[nodiscard]] const std::vector<NumberedAnswer>& answers() const { return answers_; }
  [[nodiscard]] const std::vector<NumberedReceipt>& receipts() const { return receipts_; }
  /// Returns the counters of the QP.
  [[nodiscard]] transport::Counters counters() const;

 private:
  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<std::byte> memory{};
    RKey r_key{};
  };

  void find_regions();
  void register_regions();
  void connect();
  [[nodiscard]] std::vector<std::byte> with_own_keys(const CapturedFrame& request) const;
  [[nodiscard]] RKey own_key(RKey captured) const;
  void provide_receive(const Packet& request);
  void provide_atomic_operand(const Packet& request);
  void collect(std::uint64_t number, Time now);

  const CapturedConnection& captured_;
  const ResponderTruth& truth_;
  transport::Device device_;
  transport::Pd pd_{};
  transport::Cq cq_{};
  Qpn qpn_{};
  std::map<RKey, Region> regions_;         ///< by captured key
  std::set<RKey> invalidated_keys_;        ///< keys that a SEND with invalidate named
  std::set<std::uint64_t> operands_;       ///< addresses that hold the same value as in the real responder
  std::map<std::uint32_t, int> rnr_left_;  ///< RNR NAKs that the real responder sent and ours has not sent yet, by PSN
  std::vector<std::byte> receive_memory_;
  LKey receive_key_{};
  std::uint64_t receives_posted_ = 0;
  std::vector<std::byte> transmit_buffer_;
  std::vector<NumberedAnswer> answers_;
  std::vector<NumberedReceipt> receipts_;
};

}  // namespace roce::test
