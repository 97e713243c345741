// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/send/send_loop.h"
#include "replay/send/send_options.h"
#include "roce/link/link.h"
#include "roce/link/port_holder.h"

namespace roce::replay {

/// The interfaces on which frames are sent, by side.
class SendLinks {
 public:
  /// Opens the interfaces. Failures: an interface does not exist, is down or cannot be opened.
  [[nodiscard]] static Outcome<SendLinks> open(const SendOptions& options);

  [[nodiscard]] std::vector<SendLine> lines() const;
  /// Returns, by side, the addresses from which `--link udp` can send datagrams; empty with other links.
  [[nodiscard]] const std::vector<std::vector<Gid>>& addresses() const { return addresses_; }
  /// Returns a text like `raw packet socket on eth0`.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  struct Opened {
    std::unique_ptr<link::Link> link;
    std::string interface;
  };

  SendLinks() = default;
  [[nodiscard]] Outcome<void> open_one(const SendOptions& options, const std::string& name);

  std::vector<Opened> links_;
  std::vector<std::vector<Gid>> addresses_;
  std::string description_;
  /// Keeps the kernel from answering what a peer sends back.
  std::unique_ptr<link::PortHolder> port_holder_;
};

}  // namespace roce::replay
