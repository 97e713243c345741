// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/failure.h"
#include "replay/send_loop.h"
#include "replay/send_options.h"
#include "roce/link/link.h"
#include "roce/link/port_holder.h"

namespace roce::replay {

/// The interfaces that frames go out on, by side.
class SendLinks {
 public:
  /// Failures: an interface that is not there, is down or cannot be opened.
  [[nodiscard]] static Outcome<SendLinks> open(const SendOptions& options);

  [[nodiscard]] std::vector<SendLine> lines() const;
  /// Of `--link udp`, by side: from where datagrams can go.
  [[nodiscard]] const std::vector<std::vector<Gid>>& addresses() const { return addresses_; }
  /// `raw packet socket on eth0`
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
  /// The kernel would answer what a peer sends back.
  std::unique_ptr<link::PortHolder> port_holder_;
};

}  // namespace roce::replay
