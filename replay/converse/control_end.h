// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "replay/converse/played_end.h"
#include "roce/live/control_client.h"

namespace roce::replay {

/// An end that a `roce-gen peer` plays for us, controlled by the control protocol.
class ControlEnd : public PlayedEnd {
 public:
  /// Makes queue pair and memory at the peer, in INIT with its receives posted. All arguments have to
  /// outlive the end. Failure: the peer refuses something.
  [[nodiscard]] static Outcome<std::unique_ptr<ControlEnd>> make(live::ControlClient& peer,
                                                                 const Conversation& conversation,
                                                                 const CapturedMemory& memory, std::uint8_t side);

  /// Return the number of its queue pair, and the first PSN that this queue pair sends.
  [[nodiscard]] Qpn qpn() const { return qpn_; }
  [[nodiscard]] Psn psn() const { return psn_; }

  [[nodiscard]] Outcome<void> post(std::size_t index, const LivePlace& place) override;
  [[nodiscard]] Outcome<void> poll() override;
  [[nodiscard]] std::optional<std::uint32_t> carried_out() const override { return std::nullopt; }
  [[nodiscard]] LivePlace place(std::size_t region) const override { return regions_[region].place; }
  [[nodiscard]] Outcome<void> write_memory(std::size_t region, std::size_t offset,
                                           const std::vector<std::byte>& data) override;
  [[nodiscard]] Outcome<std::vector<std::byte>> read_memory(std::size_t region) override;

 private:
  struct Region {
    std::uint32_t memory = 0;  ///< its number at the peer
    std::size_t bytes = 0;
    LivePlace place;
  };

  ControlEnd(live::ControlClient& peer, const Conversation& conversation, std::uint8_t side)
      : peer_(peer), conversation_(conversation), side_(side), plan_(plan_end(conversation, side)) {}
  [[nodiscard]] Outcome<void> set_up(const CapturedMemory& memory);
  [[nodiscard]] Outcome<Region> make_region(std::size_t bytes, bool invalidatable = false);
  [[nodiscard]] Outcome<void> post_receive(std::size_t slot);
  [[nodiscard]] Outcome<void> write(const Region& region, std::size_t offset, std::span<const std::byte> data);
  [[nodiscard]] Outcome<std::vector<std::byte>> read(const Region& region, std::size_t offset, std::size_t bytes);
  [[nodiscard]] Outcome<void> take(const nlohmann::json& completion);

  live::ControlClient& peer_;
  const Conversation& conversation_;
  std::uint8_t side_;
  EndPlan plan_;
  Region data_;
  Region receives_;
  std::vector<Region> regions_;
  Qpn qpn_;
  Psn psn_;
  std::size_t under_way_ = 0;  ///< number of requests and receives that have not completed
};

}  // namespace roce::replay
