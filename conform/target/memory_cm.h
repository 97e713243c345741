// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "conform/target/cm_service.h"
#include "roce/cm/gsi_agent.h"

namespace roce::conform {

/// The communication manager of our own endpoint, and what an application does with its events.
class MemoryCm final : public CmService {
 public:
  /// Makes QP1 of a device, whose clock is `now`, and whose port has the address `sgid_index` of its table. Device,
  /// port and clock have to outlive this.
  MemoryCm(transport::Device& device, const Port& port, std::uint16_t sgid_index, const Time& now, std::uint64_t seed);

  TargetResult<void> listen(const CmListener& listener) override;
  TargetResult<void> accept(const CmTerms& terms) override;
  TargetResult<void> reject(const CmTerms& terms) override;
  TargetResult<void> delay(const CmTerms& terms) override;
  TargetResult<void> connect(const CmEnd& end, const CmTerms& terms) override;
  TargetResult<void> disconnect(const CmEnd& end) override;
  [[nodiscard]] std::optional<CmReport> poll_event() override;

  /// Takes what came in, and sends what is due.
  void step();
  [[nodiscard]] Time next_timeout() const { return agent_->next_timeout(); }

 private:
  struct Listening {
    CmListener listener;
    std::size_t used = 0;  ///< QPs that requests have got
  };

  void handle(const cm::Event& event);
  void take_request(CommId id);
  void take_reply(CommId id);
  [[nodiscard]] TargetResult<void> answer(CommId id, const CmTerms& terms);
  [[nodiscard]] TargetResult<void> resolve(CommId id, const CmEnd& end, const CmTerms& terms);
  [[nodiscard]] TargetResult<void> ready(CommId id, const CmEnd& end);
  void end(CommId id);

  transport::Device& device_;
  const Port& port_;
  std::uint16_t sgid_index_;  ///< of the port's address
  const Time& now_;
  std::unique_ptr<cm::GsiAgent> agent_;
  std::map<std::uint64_t, Listening> listeners_;  ///< by service
  std::map<std::uint32_t, CmEnd> ends_;           ///< of connections, by our communication ID
  std::deque<CommId> waiting_;                    ///< requests and replies that no verb has answered
  std::deque<CmReport> reports_;
};

}  // namespace roce::conform
