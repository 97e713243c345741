// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "gen/perftest/channel.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/script.h"
#include "roce/live/verbs.h"

namespace roce::gen {

/// The channel of perftest's -R: an RC connection by RDMA CM whose SENDs are the messages.
class RdmaPerftestChannel final : public PerftestChannel {
 public:
  /// Makes its QP; then `connect` or `accept` has to be called. `cm` has to outlive the channel. Throws: ScriptFailure.
  RdmaPerftestChannel(live::RdmaCm& cm, Time now);

  /// Client: connects to the server that `plan` names. Throws: ScriptFailure.
  live::Task<> connect(live::ConnectPlan plan);
  /// Server: accepts a connection with the identifier that `RdmaCm::listen` reports. Throws: ScriptFailure.
  live::Task<> accept(CommId wanted);

  void send(std::string_view message) override;
  [[nodiscard]] bool has(std::size_t size) override;
  [[nodiscard]] bool is_closed() override;
  [[nodiscard]] std::string take(std::size_t size) override;
  [[nodiscard]] bool has_binary_keys() const override { return true; }

 private:
  struct Received {
    std::size_t slot = 0;
    std::size_t bytes = 0;
  };

  void poll();
  void post_receive(std::size_t slot);

  live::RdmaCm& cm_;
  live::Domain domain_;
  live::Memory memory_;  // slots to send from, then slots to receive in
  live::QueuePair qp_;
  std::optional<live::CmConnection> connection_;
  std::deque<Received> received_;
  std::size_t sent_ = 0;       // in total
  std::size_t under_way_ = 0;  // sent and not completed
  bool broken_ = false;
};

}  // namespace roce::gen
