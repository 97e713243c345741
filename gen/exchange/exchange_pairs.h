// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gen/exchange/exchange_cm.h"
#include "gen/exchange/exchange_options.h"
#include "roce/live/control_client.h"
#include "roce/live/control_names.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"

namespace roce::gen {

/// A queue pair of an exchange, and how far it is.
struct ExchangePair {
  Qpn qpn{};
  Psn psn{};
  Qpn remote_qp{};
  transport::Ah ah{};              ///< for datagrams
  QKey q_key{live::kControlQKey};  ///< of the peer's datagram queue pair
  std::uint64_t posted = 0;        ///< messages
  std::uint64_t completed = 0;     ///< messages
  std::vector<Time> posted_at;     ///< time of posting, by slot
};

/// The queue pairs and the memory of an exchange, on both sides. Each queue pair has `depth` slots of memory, here and
/// at the peer; message number n uses slot n modulo `depth`.
class ExchangePairs {
 public:
  /// `cm` is needed with `options.cm_port` only. All have to outlive this object.
  ExchangePairs(live::Endpoint& endpoint, live::ControlClient& peer, const ExchangeOptions& options, live::RdmaCm* cm);
  ~ExchangePairs();
  ExchangePairs(const ExchangePairs&) = delete;
  ExchangePairs& operator=(const ExchangePairs&) = delete;

  /// Makes everything on both sides and connects the queue pairs. Failure: the sizes do not fit the path MTU, or one of
  /// the two sides refused.
  [[nodiscard]] Outcome<void> make();

  [[nodiscard]] std::span<ExchangePair> all() { return pairs_; }
  [[nodiscard]] transport::Cq cq() const { return cq_; }  ///< of all queue pairs
  /// The manager that connected the queue pairs; null without `cm_port`.
  [[nodiscard]] ExchangeCm* cm() { return cm_ ? &*cm_ : nullptr; }
  /// The data of message n of queue pair i is live::fill_pattern() with live::message_seed(seed(), i, n).
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  [[nodiscard]] std::span<std::byte> slot(std::uint32_t index, std::uint64_t number);   ///< of a message, here
  [[nodiscard]] transport::Sge local(std::uint32_t index, std::uint64_t number) const;  ///< a message, here
  [[nodiscard]] transport::RemoteAddress remote(std::uint32_t index,
                                                std::uint64_t number) const;  ///< its slot at the peer
  /// Bytes from the beginning of the memory to the slot of a message, on both sides.
  [[nodiscard]] std::size_t slot_offset(std::uint32_t index, std::uint64_t number) const;
  [[nodiscard]] std::uint32_t remote_memory() const { return remote_memory_; }  ///< the peer's number for its memory

 private:
  [[nodiscard]] Outcome<void> make_memory();
  [[nodiscard]] Outcome<void> make_pair(std::uint32_t index);
  [[nodiscard]] Outcome<void> connect_pair(ExchangePair& own, const Gid& gid, Psn remote_psn);
  [[nodiscard]] runtime::Rate rate_of_a_pair() const;

  live::Endpoint& endpoint_;
  transport::Device& device_;
  live::ControlClient& peer_;
  const ExchangeOptions& options_;
  std::optional<ExchangeCm> cm_;
  std::uint64_t seed_;
  std::size_t slot_bytes_ = 0;
  std::size_t sink_slot_bytes_ = 0;  // bytes of each of the peer's receives
  std::uint32_t sink_slots_ = 0;     // receives on each queue pair
  std::vector<std::byte> memory_;
  transport::Pd pd_{};
  transport::Cq cq_{};
  transport::Mr mr_{};
  transport::MrInfo region_{};
  std::vector<ExchangePair> pairs_;
  std::uint32_t remote_memory_ = 0;
  std::uint64_t remote_address_ = 0;
  RKey remote_key_{};
  std::uint32_t path_mtu_ = 0;
};

}  // namespace roce::gen
