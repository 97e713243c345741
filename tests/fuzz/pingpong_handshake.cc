// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "perftest/qp_line.h"
#include "roce/live/pingpong_message.h"

// The input is a message of an ibv_*_pingpong, and one with the keys of a perftest program in either form. Required:
// the values understood are the same after they are written and read again.

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roce;
  using namespace roce::live;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto message = parse_pingpong(text)) {
    const auto written = to_text(*message);
    check(parse_pingpong({written.data(), written.size()}) == message);
  }
  if (const auto keys = parse_perftest_keys(text)) {
    const auto again = parse_perftest_keys(to_text(*keys));
    check(again.has_value() && to_text(*again) == to_text(*keys));
  } else {
    check(keys.error().size() < 200);
  }
  if (const auto keys = parse_binary_perftest_keys(text)) {
    const auto again = parse_binary_perftest_keys(to_binary(*keys, size));
    check(again.has_value() && to_binary(*again) == to_binary(*keys));
  } else {
    check(keys.error().size() < 200);
  }
  return 0;
}
