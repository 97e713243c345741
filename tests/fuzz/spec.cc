// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "roce/wire/packet_spec.h"

// The input is a specification as text and, read again, a frame. Text: all that from_text accepts is built, and the
// result survives another round. Frame: its specification builds the same bytes, also by way of text.

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_text(std::string_view text) {
  const roce::SpecResult<roce::PacketSpec> spec = roce::PacketSpec::from_text(text);
  if (!spec) {
    check(!spec.error().message.empty());
    return;
  }
  const auto bytes = spec->build();
  if (!bytes) {
    check(!bytes.error().message.empty());
    return;
  }
  const auto again = roce::PacketSpec::from_text(spec->to_text());
  check(again.has_value() && again->build() == bytes);
  for (const std::string& name : spec->names()) check(spec->get(name).has_value());
}

void check_frame(roce::Bytes frame, roce::LinkType link_type, std::uint32_t reported_length) {
  const roce::PacketSpec spec = roce::PacketSpec::from_packet(roce::parse_frame(frame, link_type, reported_length));
  const auto bytes = spec.build();
  check(bytes.has_value() && std::equal(bytes->begin(), bytes->end(), frame.begin(), frame.end()));
  const auto from_text = roce::PacketSpec::from_text(spec.to_text());
  check(from_text.has_value() && from_text->build() == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  check_text({reinterpret_cast<const char*>(data), size});
  const roce::Bytes frame{reinterpret_cast<const std::byte*>(data), size};
  check_frame(frame, roce::LinkType::ethernet, 0);
  check_frame(frame, roce::LinkType::raw_ip, static_cast<std::uint32_t>(size) + 64);
  return 0;
}
