// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/rdmacm/device.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "verbs/port/port_share.h"
#include "verbs/report/complain.h"

namespace roce::verbs {

namespace {

constexpr std::string_view kDevicePrefix = "roce_";

[[nodiscard]] std::vector<CmDevice*> open_devices() {
  std::vector<CmDevice*> opened;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    ibv_context* const context = ibv_open_device(list[i]);
    ibv_gid gid{};
    if (context == nullptr || ibv_query_gid(context, 1, 0, &gid) != 0) continue;
    Gid address;
    std::memcpy(address.octets.data(), gid.raw, address.octets.size());
    opened.push_back(new CmDevice{context, address});
  }
  if (list != nullptr) ibv_free_device_list(list);
  return opened;
}

}  // namespace

CmDevice::CmDevice(ibv_context* opened, const Gid& at) : context(opened), address(at) {
  const std::string_view name = ibv_get_device_name(opened->device);
  interface_ = name.substr(name.starts_with(kDevicePrefix) ? kDevicePrefix.size() : 0);
}

bool CmDevice::connect() {
  if (commands_ || is_gone_) return static_cast<bool>(commands_);
  if (takes_whole_port()) {
    complain("librdmacm needs roce-portd, and ROCE_VERBS_PORTD=inside does without it; unset it");
    return false;
  }
  auto joined = join_cm(address, interface_, daemon_beside_library(), {.purpose = JoinPurpose::cm_commands});
  if (!joined) {
    complain(joined.error().message);
    return false;
  }
  commands_ = std::move(joined->connection);
  process_ = joined->process;
  return true;
}

int CmDevice::call(const CmCommand& command, CmAnswer* answer) {
  const std::scoped_lock lock{mutex_};
  if (!connect()) return ENODEV;
  CmAnswer own;
  CmAnswer& got = answer != nullptr ? *answer : own;
  ssize_t size = ::send(commands_.get(), &command, sizeof command, MSG_NOSIGNAL);
  if (size == sizeof command) {
    do {
      size = ::recv(commands_.get(), &got, sizeof got, 0);
    } while (size < 0 && errno == EINTR);
  }
  if (size == sizeof got) return got.error;
  complain("roce-portd, which managed the connections of this program, has ended");
  commands_ = {};
  is_gone_ = true;
  return ENODEV;
}

link::FileDescriptor CmDevice::connect_channel(std::uint32_t channel) {
  const std::scoped_lock lock{mutex_};
  if (!connect()) return {};
  auto joined = join_cm(address, interface_, daemon_beside_library(),
                        {.purpose = JoinPurpose::cm_channel, .process = process_, .channel = channel});
  if (joined) return std::move(joined->connection);
  complain(joined.error().message);
  return {};
}

ibv_pd* CmDevice::default_pd() {
  const std::scoped_lock lock{mutex_};
  if (pd_ == nullptr) pd_ = ibv_alloc_pd(context);
  return pd_;
}

const std::vector<CmDevice*>& devices() {
  static std::mutex mutex;
  static std::vector<CmDevice*>* opened = nullptr;
  static pid_t process = 0;
  const std::scoped_lock lock{mutex};
  // A child that was forked has none of its parent's connections.
  if (process != ::getpid()) {
    opened = new std::vector<CmDevice*>(open_devices());
    process = ::getpid();
  }
  return *opened;
}

CmDevice* device_at(const Gid& address) {
  const auto found = std::ranges::find(devices(), address, &CmDevice::address);
  return found != devices().end() ? *found : nullptr;
}

}  // namespace roce::verbs
