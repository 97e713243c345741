// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/verbs_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "command_line/number_text.h"
#include "conform/agent/agent_cm.h"

namespace roce::conform {

namespace {

constexpr std::size_t kMostGids = 1024;

struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device*, FreeList>;

[[nodiscard]] Outcome<Context> open_device(const std::string& name) {
  int count = 0;
  const DeviceList list{ibv_get_device_list(&count)};
  std::string known;
  for (int i = 0; list && i < count; ++i) {
    ibv_device* const device = list.get()[i];
    if (name == ibv_get_device_name(device)) {
      if (Context context{ibv_open_device(device)}) return context;
      return cannot(
          fmt::format("cannot open the RDMA device {}: {}; run this as root, or as a user who may use "
                      "/dev/infiniband/uverbs*",
                      name, std::strerror(errno)));
    }
    known += known.empty() ? "" : ", ";
    known += ibv_get_device_name(device);
  }
  const std::string quoted = command_line::quote(name);
  if (!known.empty()) return cannot(fmt::format("there is no RDMA device {}; there are: {}", quoted, known));
  return cannot(
      fmt::format("there is no RDMA device {}, nor any other; load the driver of the RNIC, or for Soft-RoCE: "
                  "rdma link add rxe0 type rxe netdev INTERFACE",
                  quoted));
}

[[nodiscard]] Gid gid_of(const ibv_gid& raw) {
  Gid gid;
  std::copy_n(raw.raw, gid.octets.size(), gid.octets.begin());
  return gid;
}

[[nodiscard]] bool is_link_local(const Gid& gid) {
  return gid.octets[0] == 0xFE && (gid.octets[1] & 0xC0) == 0x80;
}

/// Returns how much a GID is preferred; less is better.
[[nodiscard]] int rank(const Gid& gid) {
  if (gid.is_ipv4_mapped()) return 0;
  return is_link_local(gid) ? 2 : 1;
}

void read_counters(const std::filesystem::path& folder, std::map<std::string, std::uint64_t>& counters) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
    const std::string name = entry.path().filename();
    std::ifstream file{entry.path()};
    std::string text;
    // The age of the kernel's copies in milliseconds, which is not a counter.
    if (name == "lifespan" || !std::getline(file, text)) continue;
    if (const auto value = command_line::read_number<std::uint64_t>(text)) counters.emplace(name, *value);
  }
}

}  // namespace

Outcome<VerbsDevice> VerbsDevice::open(const DevicePlace& place) {
  Outcome<Context> context = open_device(place.device);
  if (!context) return tl::unexpected(context.error());
  VerbsDevice device{place, std::move(*context)};
  if (const int error = ibv_query_device(device.context_.get(), &device.attributes_); error != 0) {
    return cannot(fmt::format("{}: ibv_query_device: {}", place.device, std::strerror(error)));
  }
  if (Outcome<void> taken = device.take_port(); !taken) return tl::unexpected(taken.error());
  if (Outcome<void> chosen = device.choose_gid(); !chosen) return tl::unexpected(chosen.error());
  device.find_features();
  return device;
}

Outcome<void> VerbsDevice::take_port() {
  if (place_.port < 1 || place_.port > attributes_.phys_port_cnt) {
    return cannot(
        fmt::format("{} has the ports 1 to {}, and no port {}", place_.device, attributes_.phys_port_cnt, place_.port));
  }
  ibv_port_attr port{};
  if (const int error = ibv_query_port(context_.get(), place_.port, &port); error != 0) {
    return cannot(fmt::format("{}: ibv_query_port: {}", place_.device, std::strerror(error)));
  }
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
    return cannot(fmt::format("port {} of {} is not Ethernet, and RoCE needs that", place_.port, place_.device));
  }
  if (port.state != IBV_PORT_ACTIVE) {
    return cannot(fmt::format("port {} of {} is {}, needs PORT_ACTIVE; set its network interface up", place_.port,
                              place_.device, ibv_port_state_str(port.state)));
  }
  return {};
}

Outcome<void> VerbsDevice::choose_gid() {
  std::vector<ibv_gid_entry> entries(kMostGids);
  const ssize_t count = ibv_query_gid_table(context_.get(), entries.data(), entries.size(), 0);
  if (count < 0) {
    return cannot(fmt::format("{}: ibv_query_gid_table: {}", place_.device, std::strerror(static_cast<int>(-count))));
  }
  const ibv_gid_entry* best = nullptr;
  std::string known;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const ibv_gid_entry& entry = entries[i];
    if (entry.port_num != place_.port || entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", entry.gid_index, to_string(gid_of(entry.gid)));
    if (place_.gid_index ? entry.gid_index == *place_.gid_index
                         : best == nullptr || rank(gid_of(entry.gid)) < rank(gid_of(best->gid))) {
      best = &entry;
    }
  }
  if (known.empty()) {
    return cannot(fmt::format("port {} of {} has no GID of RoCE v2; give its network interface an IP address",
                              place_.port, place_.device));
  }
  if (best == nullptr) {
    return cannot(fmt::format("port {} of {} has no GID of RoCE v2 at index {}; there are: {}", place_.port,
                              place_.device, *place_.gid_index, known));
  }
  constexpr std::uint32_t kLargest = 255;
  if (best->gid_index > kLargest) return cannot("verbs take GIDs up to index 255; give another with --gid-index");
  place_.gid_index = best->gid_index;
  gid_ = gid_of(best->gid);
  return {};
}

bool VerbsDevice::can_create(ibv_pd& pd, ibv_cq& cq, ibv_qp_type type) const {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = &cq;
  init.qp_type = type;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  return Qp{ibv_create_qp(&pd, &init)} != nullptr;
}

bool VerbsDevice::can_share_receives(ibv_pd& pd) {
  ibv_srq_init_attr init{.srq_context = nullptr, .attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0}};
  return Srq{ibv_create_srq(&pd, &init)} != nullptr;
}

void VerbsDevice::find_features() {
  const Pd pd{ibv_alloc_pd(context_.get())};
  const Cq cq{pd ? ibv_create_cq(context_.get(), 2, nullptr, nullptr, 0) : nullptr};
  if (!cq) return;
  const auto add_if = [this](bool is_there, std::string_view name) {
    if (is_there) features_.push_back(name);
  };
  const auto has_window = [&](ibv_mw_type type) { return Mw{ibv_alloc_mw(pd.get(), type)} != nullptr; };
  const unsigned flags = attributes_.device_cap_flags;
  add_if(can_create(*pd, *cq, IBV_QPT_RC), "rc");
  add_if(can_create(*pd, *cq, IBV_QPT_UC), "uc");
  add_if(can_create(*pd, *cq, IBV_QPT_UD), "ud");
  add_if(attributes_.atomic_cap != IBV_ATOMIC_NONE, "atomics");
  add_if((flags & IBV_DEVICE_MEM_WINDOW) != 0 && has_window(IBV_MW_TYPE_1), "windows_1");
  add_if((flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)) != 0 && has_window(IBV_MW_TYPE_2),
         "windows_2");
  add_if((flags & IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0, "invalidate");
  add_if(!counters().empty(), "counters");
  add_if(true, "cq_events");
  add_if(true, "service_level");
  add_if(true, "memory_digest");
  add_if(AgentCm::is_there(*this), "cm");
  add_if(attributes_.max_srq > 0 && can_share_receives(*pd), "srq");
}

bool VerbsDevice::has(std::string_view feature) const {
  return std::ranges::find(features_, feature) != features_.end();
}

Context VerbsDevice::open_again() const {
  return Context{ibv_open_device(context_->device)};
}

std::uint32_t VerbsDevice::max_path_mtu() const {
  ibv_port_attr port{};
  constexpr std::uint32_t kSmallest = 256;
  if (ibv_query_port(context_.get(), place_.port, &port) != 0 || port.active_mtu < IBV_MTU_256) return kSmallest;
  return kSmallest << (port.active_mtu - IBV_MTU_256);
}

std::map<std::string, std::uint64_t> VerbsDevice::counters() const {
  const std::filesystem::path port =
      std::filesystem::path{context_->device->ibdev_path} / "ports" / std::to_string(place_.port);
  std::map<std::string, std::uint64_t> counters;
  read_counters(port / "hw_counters", counters);
  read_counters(port / "counters", counters);
  return counters;
}

std::string VerbsDevice::description() const {
  return fmt::format("{} port {}, GID {} = {}, path MTU {}", place_.device, place_.port, *place_.gid_index,
                     to_string(gid_), max_path_mtu());
}

}  // namespace roce::conform
