// SPDX-License-Identifier: BSD-2-Clause
#include "link/live_input.h"

#include <utility>

#include "link/capture_format.h"
#include "link/pcap_packet.h"

namespace roce::link::detail {

namespace {

// Takes 50 ms of 10 Gbit/s, for which a reader may be held up.
constexpr int kRingBytes = 64 << 20;
constexpr int kBlockMilliseconds = 20;
// A reader that is late never waits.
constexpr std::uint64_t kPacketsBetweenCounts = 1U << 16U;

std::string what_to_do(int status) {
  switch (status) {
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
      return "; capturing needs the capability CAP_NET_RAW: run it as root, or let tcpdump capture "
             "(tcpdump -i INTERFACE -U -w - | roce-analyze --follow -)";
    case PCAP_ERROR_NO_SUCH_DEVICE:
      return "; ip link lists the interfaces";
    default:
      return {};
  }
}

}  // namespace

tl::expected<std::unique_ptr<LiveInput>, std::string> LiveInput::open(const std::string& interface, WaitForMore wait) {
  std::unique_ptr<LiveInput> input(new LiveInput(std::move(wait)));
  input->name_ = interface;
  char error[PCAP_ERRBUF_SIZE] = "";
  input->pcap_.reset(pcap_create(interface.c_str(), error));
  pcap_t* const pcap = input->pcap_.get();
  if (pcap == nullptr) return tl::unexpected("cannot capture: " + std::string(error));
  for (const int status : {pcap_set_snaplen(pcap, static_cast<int>(kUsualSnaplen)), pcap_set_promisc(pcap, 1),
                           pcap_set_timeout(pcap, kBlockMilliseconds), pcap_set_buffer_size(pcap, kRingBytes),
                           pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO)}) {
    // An interface without nanoseconds has microseconds, which each record takes into account.
    if (status != 0 && status != PCAP_ERROR_TSTAMP_PRECISION_NOTSUP) {
      return tl::unexpected("cannot capture: " + std::string(pcap_statustostr(status)));
    }
  }
  const int status = pcap_activate(pcap);
  if (status < 0) {
    const std::string_view text = pcap_geterr(pcap);
    return tl::unexpected("cannot capture: " + std::string(text.empty() ? pcap_statustostr(status) : text) +
                          what_to_do(status));
  }
  if (pcap_setnonblock(pcap, 1, error) != 0) return tl::unexpected("cannot capture: " + std::string(error));
  return input;
}

CaptureInterface LiveInput::interface() const {
  CaptureInterface interface;
  interface.link_type = to_link_type(pcap_datalink(pcap_.get()));
  interface.snaplen = static_cast<std::uint32_t>(pcap_snapshot(pcap_.get()));
  interface.name = name_;
  interface.timestamp_resolution = 9;
  return interface;
}

void LiveInput::count(CaptureInterface& interface) {
  pcap_stat counted{};
  if (pcap_stats(pcap_.get(), &counted) != 0) return;
  CaptureStatistics& statistics = interface.statistics ? *interface.statistics : interface.statistics.emplace();
  // Its counters have 32 bits.
  const auto add = [](std::optional<std::uint64_t>& sum, unsigned now, unsigned& before) {
    sum = sum.value_or(0) + (now - std::exchange(before, now));
  };
  add(statistics.received, counted.ps_recv, counted_.ps_recv);
  add(statistics.dropped_os, counted.ps_drop, counted_.ps_drop);
  add(statistics.dropped_interface, counted.ps_ifdrop, counted_.ps_ifdrop);
}

bool LiveInput::next(CaptureRecord& record, CaptureInterface& interface, Diagnostics& diagnostics) {
  for (;;) {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int status = pcap_next_ex(pcap_.get(), &header, &data);
    if (status == 1) {
      record = to_record(pcap_.get(), *header, data);
      if (++packets_ % kPacketsBetweenCounts == 0) count(interface);
      return true;
    }
    count(interface);
    if (status != 0) {
      diagnostics.fail("the capture ended: " + std::string(pcap_geterr(pcap_.get())));
      return false;
    }
    if (!wait_(pcap_get_selectable_fd(pcap_.get()))) return false;
  }
}

}  // namespace roce::link::detail
