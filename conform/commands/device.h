// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/outcome.h"
#include "conform/run/suite.h"
#include "conform/target/link_device.h"
#include "roce/link/port_holder.h"

namespace roce::conform {

/// The server program that a user names instead of an agent.
struct ServerChoice {
  std::string program{};  ///< such as ibv_rc_pingpong
  std::string host{};
  std::uint16_t port = 0;  ///< TCP; 0: the program's
  std::string command{};   ///< starts it for each instance
  Duration patience = std::chrono::seconds{10};
};

/// The device that a user names: our endpoint in memory, or one behind an interface with an agent beside it, or with a
/// server program.
struct DeviceChoice {
  std::string profile = "strict";  ///< of our endpoint
  std::string recovery{};          ///< of our endpoint, for `transport::parse_loss_recovery`
  std::string interface {};        ///< with `agent`: a device on a wire
  std::string agent{};
  std::string token_file{};
  ServerChoice server{};
  std::uint32_t jobs = 0;  ///< 0: as many as the device can use
  bool to_others = false;
  [[nodiscard]] bool has_agent() const { return !agent.empty(); }
  [[nodiscard]] bool has_server() const { return !server.program.empty(); }
};

/// The ways to one device on a wire, one for each thread.
class LinkWays {
 public:
  LinkWays(live::ControlAddress agent, std::string interface, std::uint32_t count, bool to_others)
      : agent_(std::move(agent)), interface_(std::move(interface)), count_(count), to_others_(to_others) {}

  /// Closes what is open, and opens all. Failures: those of `LinkDevice::open`.
  [[nodiscard]] live::Result<void> open();
  /// Returns a way; to be called only if all are open.
  [[nodiscard]] LinkDevice& at(std::size_t number) const { return *ways_.at(number); }

 private:
  live::ControlAddress agent_;
  std::string interface_;
  std::uint32_t count_;
  bool to_others_;
  std::vector<std::unique_ptr<LinkDevice>> ways_;
};

/// The device under test: what makes a target of it for each thread, and how long it may take.
struct Device {
  std::string text{};
  std::string link{};                ///< the way to it, for reports
  std::shared_ptr<LinkWays> ways{};  ///< on a wire
  std::unique_ptr<link::PortHolder> port_holder{};
  std::vector<TargetFactory> factories{};
  SuiteOptions suite{};
};

/// The most instances at the same time on a wire: an agent serves so many clients.
constexpr std::uint32_t kMostJobsOnLink = 64;

/// Opens the device. Failures, all with exit code 2: an interface without an agent or a server or the reverse, and all
/// that `LinkDevice::open` and `ServerDevice::open` name.
[[nodiscard]] Outcome<Device> open_device(const DeviceChoice& choice);

}  // namespace roce::conform
