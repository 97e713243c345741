// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pcap/pcap.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "link/byte_window.h"
#include "link/diagnostics.h"
#include "roce/link/capture_record.h"

namespace roce::link::detail {

/// Lets libpcap read the bytes at a cursor, for the formats that the walkers do not know.
class LibpcapInput {
 public:
  /// `window` and `cursor` (at the start of the file) must outlive this and not move. The error is libpcap's text.
  [[nodiscard]] static tl::expected<std::unique_ptr<LibpcapInput>, std::string> open(ByteWindow& window,
                                                                                     CaptureCursor& cursor);

  [[nodiscard]] CaptureInterface interface() const;

  /// Fills all of `record` but its number; false at the end and after an error.
  bool next(CaptureRecord& record, Diagnostics& diagnostics);

 private:
  struct Feed {
    ByteWindow& window;
    CaptureCursor& cursor;
  };
  struct Closer {
    void operator()(pcap_t* pcap) const { pcap_close(pcap); }
  };

  LibpcapInput(ByteWindow& window, CaptureCursor& cursor) : feed_{window, cursor} {}

  Feed feed_;
  std::unique_ptr<pcap_t, Closer> pcap_;
};

}  // namespace roce::link::detail
