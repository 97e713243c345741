// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "link/diagnostics.h"
#include "roce/link/capture_reader.h"

namespace roce::link::detail {

/// Captures on a network interface through libpcap.
class LiveInput {
 public:
  /// The error says what the kernel or libpcap refused, and what to do.
  [[nodiscard]] static tl::expected<std::unique_ptr<LiveInput>, std::string> open(const std::string& interface,
                                                                                  WaitForMore wait);

  [[nodiscard]] CaptureInterface interface() const;

  /// Fills all of `record` but its number; false after `wait` returned false, and after an error. Brings the statistics
  /// of `interface` up to date before it waits, and now and then.
  bool next(CaptureRecord& record, CaptureInterface& interface, Diagnostics& diagnostics);

 private:
  struct Closer {
    void operator()(pcap_t* pcap) const { pcap_close(pcap); }
  };

  explicit LiveInput(WaitForMore wait) : wait_(std::move(wait)) {}
  void count(CaptureInterface& interface);

  WaitForMore wait_;
  std::unique_ptr<pcap_t, Closer> pcap_;
  std::string name_;
  std::uint64_t packets_ = 0;
  pcap_stat counted_{};  ///< as they were when they were last asked for
};

}  // namespace roce::link::detail
