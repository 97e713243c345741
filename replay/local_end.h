// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "gen/endpoint.h"
#include "gen/verbs.h"
#include "replay/played_end.h"

namespace roce::replay {

/// The end that is ours: a queue pair of our endpoint.
class LocalEnd : public PlayedEnd {
 public:
  /// Makes queue pair and memory, in INIT with its receives posted. All arguments have to outlive
  /// the end. Failure: the verbs refuse something.
  [[nodiscard]] static Outcome<std::unique_ptr<LocalEnd>> make(gen::Endpoint& endpoint,
                                                               const Conversation& conversation,
                                                               const CapturedMemory& memory, std::uint8_t side);

  [[nodiscard]] gen::QueuePair& qp() { return qp_; }
  /// Returns the first PSN that it sends.
  [[nodiscard]] Psn psn() const { return psn_; }

  [[nodiscard]] Outcome<void> post(std::size_t index, const LivePlace& place) override;
  [[nodiscard]] Outcome<void> poll() override;
  [[nodiscard]] std::optional<std::uint32_t> carried_out() const override;
  [[nodiscard]] LivePlace place(std::size_t region) const override;
  [[nodiscard]] Outcome<void> write_memory(std::size_t region, std::size_t offset,
                                           const std::vector<std::byte>& data) override;
  [[nodiscard]] Outcome<std::vector<std::byte>> read_memory(std::size_t region) override;

 private:
  LocalEnd(gen::Endpoint& endpoint, const Conversation& conversation, const CapturedMemory& memory, std::uint8_t side);
  void take_receive(const transport::Completion& completion);

  const Conversation& conversation_;
  EndPlan plan_;
  gen::Domain domain_;
  gen::Memory data_;
  gen::Memory receives_;
  std::vector<std::unique_ptr<gen::Memory>> regions_;
  gen::QueuePair qp_;
  Psn psn_;
};

}  // namespace roce::replay
