// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/filter/filter.h"
#include "text/palette.h"

#include <cstdint>
#include <string>
#include <vector>

namespace roce::analyze {

/// The form in which lines show the time of a packet.
enum class TimeStyle : std::uint8_t {
  relative,  ///< seconds since the first packet of the file
  epoch,     ///< seconds since 1970
  utc,       ///< date and time, RFC 3339
};

/// The options of `roce-analyze decode`.
struct DecodeOptions {
  std::vector<std::string> inputs;  ///< files, "-" for standard input; with `hex` the words of one frame
  bool hex = false;

  bool verbose = false;
  bool json = false;
  bool payload = false;  ///< show the payload's bytes too
  bool explain = false;  ///< show which mistake would explain a wrong ICRC
  bool summary = false;
  TimeStyle time = TimeStyle::relative;
  text::ColourWhen colour = text::ColourWhen::automatic;

  bool all = false;  ///< include frames that are neither RoCE nor its link control
  bool only_bad_icrc = false;
  PacketSelection selection;
};

}  // namespace roce::analyze
