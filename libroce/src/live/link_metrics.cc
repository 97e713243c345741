// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/link_metrics.h"

#include <array>

namespace roce::live {

std::span<const CounterRow<link::LinkCounters>> link_counter_rows() {
  using link::LinkCounters;
  static constexpr std::array kRows{
      CounterRow<LinkCounters>{&LinkCounters::received, "received", "link_received_frames", "Frames received."},
      CounterRow<LinkCounters>{&LinkCounters::received_bytes, "received_bytes", "link_received_bytes",
                               "Bytes of frames received; with --link udp from the BTH on."},
      CounterRow<LinkCounters>{&LinkCounters::receive_drops, "receive_drops", "link_receive_drops",
                               "Frames lost before they were read, for want of room."},
      CounterRow<LinkCounters>{&LinkCounters::sent, "sent", "link_sent_frames",
                               "Frames that the kernel took; a super-frame is one."},
      CounterRow<LinkCounters>{&LinkCounters::sent_bytes, "sent_bytes", "link_sent_bytes", "Bytes of these frames."},
      CounterRow<LinkCounters>{&LinkCounters::send_errors, "send_errors", "link_send_errors",
                               "Frames that the kernel refused; they are lost."},
  };
  static_assert(kRows.size() * sizeof(std::uint64_t) == sizeof(LinkCounters), "every counter has a row");
  return kRows;
}

}  // namespace roce::live
