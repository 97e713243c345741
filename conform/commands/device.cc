// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "conform/target/link_target.h"
#include "conform/target/memory_target.h"
#include "conform/target/server_target.h"
#include "roce/live/control_target.h"

namespace roce::conform {

namespace {

// Instances mostly wait for the device.
constexpr std::uint32_t kJobsOnLink = 16;
constexpr Timing kTimingOnLink{.answer = std::chrono::seconds{1},
                               .quiet = std::chrono::milliseconds{10},
                               .early = std::chrono::milliseconds{1},
                               .late = std::chrono::milliseconds{50}};

Outcome<Device> endpoint_in_memory(const DeviceChoice& choice) {
  const std::uint32_t jobs = choice.jobs != 0 ? choice.jobs : std::max(1U, std::thread::hardware_concurrency());
  const TargetResult<transport::Profile> profile = endpoint_profile(choice.profile, choice.recovery);
  if (!profile) return cannot("--recovery: " + profile.error());
  Device device{.text = "endpoint, profile " + choice.profile, .link = "memory"};
  if (!choice.recovery.empty()) device.text += ", recovery " + choice.recovery;
  device.factories.assign(
      jobs, [profile = *profile](std::uint64_t seed) { return std::make_unique<MemoryTarget>(profile, seed); });
  return device;
}

Outcome<Device> device_on_link(const DeviceChoice& choice) {
  const live::Result<live::ControlAddress> address = live::control_target(choice.agent, choice.token_file);
  if (!address) return cannot(address.error().message);
  Device device;
  // The kernel of this host would answer the device's packets with ICMP.
  device.port_holder = std::make_unique<link::PortHolder>();
  const std::uint32_t jobs = choice.jobs != 0 ? choice.jobs : kJobsOnLink;
  device.ways = std::make_shared<LinkWays>(*address, choice.interface, jobs, choice.to_others);
  if (const live::Result<void> opened = device.ways->open(); !opened) return cannot(opened.error().message);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    device.factories.push_back(
        [ways = device.ways, i](std::uint64_t) { return std::make_unique<LinkTarget>(ways->at(i)); });
  }
  device.text = fmt::format("{} through {}", to_string(device.ways->at(0).port().device_gid), choice.interface);
  device.link = fmt::format("interface {}, agent {}", choice.interface, choice.agent);
  device.suite = {.timing = kTimingOnLink, .is_one_device = true, .tries = plan_without_loss()};
  return device;
}

/// Instances meet one server after the other: no program serves several clients.
Outcome<Device> device_of_server(const DeviceChoice& choice) {
  const ServerChoice& server = choice.server;
  const ServerProgram* const program = find_server_program(server.program);
  if (program == nullptr) {
    return cannot(fmt::format("there is no server {}; the programs that are known: {}", server.program,
                              fmt::join(server_program_names(), ", ")));
  }
  Device device;
  device.port_holder = std::make_unique<link::PortHolder>();
  auto opened = ServerDevice::open({.interface = choice.interface,
                                    .program = program,
                                    .host = server.host,
                                    .port = server.port,
                                    .command = server.command,
                                    .patience = std::chrono::duration_cast<std::chrono::milliseconds>(server.patience),
                                    .to_others = choice.to_others});
  if (!opened) return cannot(opened.error().message);
  const std::shared_ptr<ServerDevice> met = std::move(*opened);
  device.text = fmt::format("{} through {}", to_string(met->wire().port().device_gid), choice.interface);
  device.link =
      fmt::format("interface {}, {} without an agent: seen on the wire only", choice.interface, program->name);
  device.factories.push_back([met](std::uint64_t seed) { return std::make_unique<ServerTarget>(*met, seed); });
  device.suite = {.timing = kTimingOnLink, .tries = plan_without_loss()};
  return device;
}

}  // namespace

live::Result<void> LinkWays::open() {
  ways_.clear();
  ways_.reserve(count_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    auto opened = LinkDevice::open({.interface = interface_, .agent = agent_, .number = i, .to_others = to_others_});
    if (!opened) return tl::unexpected(opened.error());
    ways_.push_back(std::move(*opened));
  }
  return {};
}

Outcome<Device> open_device(const DeviceChoice& choice) {
  if (!choice.has_agent() && !choice.has_server() && choice.interface.empty()) return endpoint_in_memory(choice);
  if (choice.has_agent() == choice.has_server() || choice.interface.empty()) {
    return cannot(
        "a device on a wire needs both --interface, the way to it, and --agent, the program beside it, or --server, a "
        "program that it runs anyway");
  }
  return choice.has_agent() ? device_on_link(choice) : device_of_server(choice);
}

}  // namespace roce::conform
