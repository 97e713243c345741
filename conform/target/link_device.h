// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "conform/target/target.h"
#include "roce/link/raw_link.h"
#include "roce/live/clock.h"
#include "roce/live/control_client.h"
#include "roce/live/control_server.h"

namespace roce::conform {

/// The way to a device behind an Ethernet interface, and to the program beside it that serves the control protocol.
struct LinkSettings {
  std::string interface {};      ///< the tester's
  live::ControlAddress agent{};  ///< the program beside the device: roce-gen peer or roce-agent
  std::uint32_t number = 0;      ///< of the devices that the tester has open at the same time; below 256
  bool to_others = false;        ///< frames to other addresses than the device's leave too
};

/// A device that is connected, with all that the instances of one thread use one after the other: the link, the control
/// connection, and the tester's QPNs, each of which is used once.
class LinkDevice {
 public:
  /// Opens the link and the control connection, and finds the device's Ethernet address. Failures: no such interface,
  /// no permission, no agent, a wrong token, an agent without version 2, a device of another address family.
  [[nodiscard]] static live::Result<std::unique_ptr<LinkDevice>> open(const LinkSettings& settings);

  [[nodiscard]] const Port& port() const { return port_; }
  [[nodiscard]] bool has(std::string_view feature) const { return features_.contains(feature); }
  /// Returns the largest path MTU that the device and the way to it can have, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const { return max_path_mtu_; }
  [[nodiscard]] Time now() const { return clock_.now(); }

  /// Makes the agent carry out a request; returns its answer, or why it was refused. Throws DeviceGone.
  TargetResult<nlohmann::json> ask(std::string_view op, nlohmann::ordered_json request = {});
  /// As `ask`, for what a working agent does not refuse: a refusal throws DeviceGone too.
  nlohmann::json tell(std::string_view op, nlohmann::ordered_json request = {});

  /// The memory in which instances make their regions, one after the other.
  struct Memory {
    std::uint32_t number = 0;   ///< at the agent
    std::uint64_t address = 0;  ///< of its first byte
    std::size_t length = 0;     ///< bytes
  };
  /// Returns the memory; makes it when it is asked for the first time. All its bytes are then kUntouched.
  const Memory& memory();
  /// Destroys all objects of an instance, and makes the first `used` bytes of the memory as they were before it.
  void clean_up(std::size_t used);

  /// Ends the QPNs of the instance before, and returns the first of the next one, which has 256.
  Qpn next_peers();
  /// True if the frame goes to the device and to nobody else, or may go to others.
  [[nodiscard]] bool may_send(std::span<const std::byte> frame) const;
  /// Sends a frame. Throws DeviceGone if the link is gone.
  void send(std::span<const std::byte> frame);
  /// Waits until the device sends a frame to one of the present QPNs, or it is `until`; empty in that case.
  [[nodiscard]] std::optional<SeenFrame> receive(Time until);
  /// Returns how many frames came since `next_peers` for which the link had no room.
  [[nodiscard]] std::uint64_t lost_frames() const { return link_->counters().receive_drops - lost_before_; }

 private:
  LinkDevice() = default;
  void fill_untouched(std::size_t length);
  /// Takes all frames that have come.
  void collect();
  void take(const link::RxFrame& frame, Time time);
  /// Throws DeviceGone because the agent does not answer.
  [[noreturn]] void give_up_agent(const std::string& why) const;

  std::string interface_;
  live::Clock clock_;
  Port port_{};
  std::uint32_t max_path_mtu_ = 0;
  std::unique_ptr<link::RawLink> link_;
  std::unique_ptr<live::ControlClient> agent_;
  std::set<std::string, std::less<>> features_;
  std::optional<Memory> memory_{};
  std::uint32_t first_qpn_ = 0;  ///< of this device
  std::uint32_t instances_ = 0;
  std::uint32_t peers_ = 0;        ///< the first QPN of the present instance
  std::uint64_t lost_before_ = 0;  ///< frames that instances before this one lost
  bool to_others_ = false;
  std::deque<SeenFrame> came_;
};

}  // namespace roce::conform
