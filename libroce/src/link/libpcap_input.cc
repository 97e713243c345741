// SPDX-License-Identifier: BSD-2-Clause
#include "link/libpcap_input.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "link/pcap_packet.h"

namespace roce::link::detail {

tl::expected<std::unique_ptr<LibpcapInput>, std::string> LibpcapInput::open(ByteWindow& window, CaptureCursor& cursor) {
  std::unique_ptr<LibpcapInput> input(new LibpcapInput(window, cursor));
  cookie_io_functions_t functions{};
  functions.read = [](void* cookie, char* out, std::size_t size) -> ssize_t {
    auto& feed = *static_cast<Feed*>(cookie);
    if (feed.cursor.available() == 0 && !feed.window.fill(feed.cursor, 1)) {
      if (!feed.window.failure()) return 0;
      errno = EIO;
      return -1;
    }
    const std::size_t count = size < feed.cursor.available() ? size : feed.cursor.available();
    std::memcpy(out, feed.cursor.next, count);
    feed.cursor.next += count;
    return static_cast<ssize_t>(count);
  };
  std::FILE* file = fopencookie(&input->feed_, "r", functions);
  if (file == nullptr) return tl::unexpected(std::string(std::strerror(errno)));
  // Without a buffer, the cursor is where the next record begins.
  std::setvbuf(file, nullptr, _IONBF, 0);
  char error[PCAP_ERRBUF_SIZE] = "";
  input->pcap_.reset(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error));
  if (!input->pcap_) {
    std::fclose(file);
    return tl::unexpected(std::string(error));
  }
  return input;
}

CaptureInterface LibpcapInput::interface() const {
  CaptureInterface interface;
  interface.link_type = to_link_type(pcap_datalink(pcap_.get()));
  interface.snaplen = static_cast<std::uint32_t>(pcap_snapshot(pcap_.get()));
  interface.timestamp_resolution = 9;
  return interface;
}

bool LibpcapInput::next(CaptureRecord& record, Diagnostics& diagnostics) {
  const std::uint64_t offset = feed_.cursor.offset();
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int status = pcap_next_ex(pcap_.get(), &header, &data);
  if (status == 1) {
    record = to_record(pcap_.get(), *header, data);
    record.file_offset = offset;
    return true;
  }
  if (status == PCAP_ERROR && !feed_.window.failure()) {
    const std::string_view text = pcap_geterr(pcap_.get());
    if (text.starts_with("truncated dump file")) {
      diagnostics.fail(offset, "the file ends inside a record: " + std::string(text));
    } else {
      diagnostics.fail(offset, "libpcap cannot read on: " + std::string(text) + "; the packets before it were read");
    }
  }
  return false;
}

}  // namespace roce::link::detail
