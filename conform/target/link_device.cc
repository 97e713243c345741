// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/link_device.h"

#include <algorithm>
#include <utility>

#include "conform/target/agent_answer.h"
#include "roce/port/address_text.h"

namespace roce::conform {

namespace {

constexpr std::uint64_t kMemory = 1U << 20U;

}  // namespace

live::Result<std::unique_ptr<LinkDevice>> LinkDevice::open(const LinkSettings& settings) {
  std::unique_ptr<LinkDevice> device{new LinkDevice};
  auto agent = live::ControlClient::open(settings.agent, nullptr);
  if (!agent) return tl::unexpected(agent.error());
  device->agent_ = std::move(*agent);
  const nlohmann::json& hello = device->agent_->hello();
  const auto features = hello.find("features");
  const auto address = hello.find("gid");
  const auto path_mtu = hello.find("max_path_mtu");
  if (features == hello.end() || !features->is_array() || address == hello.end() || !address->is_string() ||
      path_mtu == hello.end() || !path_mtu->is_number_unsigned()) {
    return live::cannot("the agent does not speak version 2 of the control protocol; use the one of this roce-conform");
  }
  for (const nlohmann::json& feature : *features) {
    if (feature.is_string()) device->features_.insert(feature.get<std::string>());
  }
  if (const auto speed = hello.find("speed"); speed != hello.end() && speed->is_number_unsigned() && *speed != 0) {
    device->speed_ = speed->get<std::uint64_t>();
  }
  const std::optional<Gid> gid = port::parse_ip(address->get<std::string>());
  if (!gid) return live::cannot("the agent does not say the address of its device; use the one of this roce-conform");
  auto wire = Wire::open(
      {.interface = settings.interface, .device = *gid, .number = settings.number, .to_others = settings.to_others});
  if (!wire) return tl::unexpected(wire.error());
  device->wire_ = std::move(*wire);
  device->max_path_mtu_ = std::min(path_mtu->get<std::uint32_t>(), device->wire_->max_path_mtu());
  return device;
}

TargetResult<nlohmann::json> LinkDevice::ask(std::string_view op, nlohmann::ordered_json request) {
  live::Result<nlohmann::json> answer = agent_->call(op, std::move(request));
  if (answer) return std::move(*answer);
  if (agent_->is_over()) give_up_agent(answer.error().message);
  return tl::unexpected(std::move(answer.error().message));
}

void LinkDevice::give_up_agent(const std::string& why) const {
  throw DeviceGone(why, wire_->is_up() ? Damage::agent_gone : Damage::no_link);
}

nlohmann::json LinkDevice::tell(std::string_view op, nlohmann::ordered_json request) {
  TargetResult<nlohmann::json> answer = ask(op, std::move(request));
  if (!answer) throw DeviceGone(answer.error());
  return std::move(*answer);
}

const LinkDevice::Memory& LinkDevice::memory() {
  if (!memory_) {
    const nlohmann::json made = tell("create_memory", {{"length", kMemory}});
    memory_ = {.number = answered_number<std::uint32_t>(made, "memory"),
               .address = answered_number<std::uint64_t>(made, "address"),
               .length = kMemory};
    fill_untouched(kMemory);
  }
  return *memory_;
}

void LinkDevice::clean_up(std::size_t used) {
  (void)tell("destroy_all", {{"keep_memory", true}});
  if (memory_ && used != 0) fill_untouched(used);
}

void LinkDevice::fill_untouched(std::size_t length) {
  (void)tell("fill_memory",
             {{"memory", memory_->number}, {"length", length}, {"byte", std::to_integer<unsigned>(kUntouched)}});
}

}  // namespace roce::conform
