// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "replay/converse/played_end.h"
#include "roce/live/endpoint.h"
#include "roce/live/verbs.h"

namespace roce::replay {

/// The end that is ours: a queue pair of our endpoint.
class LocalEnd : public PlayedEnd {
 public:
  /// Makes queue pair and memory, in INIT with its receives posted. All arguments have to outlive
  /// the end. Failure: the verbs refuse something.
  [[nodiscard]] static Outcome<std::unique_ptr<LocalEnd>> make(live::Endpoint& endpoint,
                                                               const Conversation& conversation,
                                                               const CapturedMemory& memory, std::uint8_t side);

  [[nodiscard]] live::QueuePair& qp() { return qp_; }
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
  LocalEnd(live::Endpoint& endpoint, const Conversation& conversation, const CapturedMemory& memory, std::uint8_t side);
  void take_receive(const transport::Completion& completion);

  const Conversation& conversation_;
  EndPlan plan_;
  live::Domain domain_;
  live::Memory data_;
  live::Memory receives_;
  std::vector<std::unique_ptr<live::Memory>> regions_;
  live::QueuePair qp_;
  Psn psn_;
};

}  // namespace roce::replay
