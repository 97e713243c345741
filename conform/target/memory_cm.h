// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "conform/target/cm_service.h"
#include "roce/cm/gsi_agent.h"
#include "roce/live/cm_desk.h"

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
  /// Returns what an order came to, once what it led to was sent.
  TargetResult<void> sent(TargetResult<void> done);

  const Port& port_;
  const Time& now_;
  std::unique_ptr<cm::GsiAgent> agent_;
  live::CmDesk desk_;
};

}  // namespace roce::conform
