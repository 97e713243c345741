// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "conform/target/target.h"
#include "conform/target/wire.h"
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

  [[nodiscard]] Wire& wire() const { return *wire_; }
  [[nodiscard]] const Port& port() const { return wire_->port(); }
  [[nodiscard]] bool has(std::string_view feature) const { return features_.contains(feature); }
  /// Returns the largest path MTU that the device and the way to it can have, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const { return max_path_mtu_; }
  /// Returns the speed of the device's port in bits a second, as its agent says it.
  [[nodiscard]] std::uint64_t speed() const { return speed_; }

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

 private:
  LinkDevice() = default;
  void fill_untouched(std::size_t length);
  /// Throws DeviceGone because the agent does not answer.
  [[noreturn]] void give_up_agent(const std::string& why) const;

  std::unique_ptr<Wire> wire_;
  std::uint32_t max_path_mtu_ = 0;
  std::uint64_t speed_ = 10'000'000'000;  ///< if the agent says nothing: what most ports have
  std::unique_ptr<live::ControlClient> agent_;
  std::set<std::string, std::less<>> features_;
  std::optional<Memory> memory_{};
};

}  // namespace roce::conform
