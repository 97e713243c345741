// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "roce/link/file_descriptor.h"
#include "roce/wire/types.h"
#include "verbs/cm/cm_records.h"
#include "verbs/rdmacm/rdmacm_api.h"

namespace roce::verbs {

/// A device of this process, opened once and never closed, and the connection manager at its address.
class CmDevice {
 public:
  CmDevice(ibv_context* opened, const Gid& at);

  /// Carries out a command; returns a number of errno.h, ENODEV if there is no roce-portd. Only one thread at a time
  /// gets through.
  [[nodiscard]] int call(const CmCommand& command, CmAnswer* answer = nullptr);
  /// Returns a connection on which the manager reports to a channel of this process. Error: empty, after a complaint.
  [[nodiscard]] link::FileDescriptor connect_channel(std::uint32_t channel);
  /// Returns the protection domain for programs that bring none; nullptr with errno.
  [[nodiscard]] ibv_pd* default_pd();

  ibv_context* const context;
  const Gid address;

 private:
  [[nodiscard]] bool connect();

  std::string interface_;
  std::mutex mutex_;
  link::FileDescriptor commands_;
  std::uint32_t process_ = 0;
  bool is_gone_ = false;  // with all that was known of its connections
  ibv_pd* pd_ = nullptr;
};

/// Returns the devices of this process, or of the child that was forked and asks; they live as long as it does.
[[nodiscard]] const std::vector<CmDevice*>& devices();
/// Returns the device at an address; nullptr if there is none.
[[nodiscard]] CmDevice* device_at(const Gid& address);

}  // namespace roce::verbs
