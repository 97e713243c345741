// SPDX-License-Identifier: BSD-2-Clause
#include "capture/capture_merge.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace roce::capture {

Outcome<CaptureMerge> CaptureMerge::open(const std::vector<std::string>& paths) {
  if (paths.empty()) return cannot("which capture file? name one at least");
  CaptureMerge merge;
  for (const std::string& path : paths) {
    link::Result<link::CaptureReader> reader = link::CaptureReader::open(path);
    if (!reader) return failed(reader.error().message);
    merge.inputs_.push_back({path, std::move(*reader)});
  }
  return merge;
}

Outcome<void> CaptureMerge::fill(Input& input) {
  if (!input.reader.next(input.record)) {
    input.is_over = true;
    if (input.reader.error()) return failed(input.reader.error()->message);
    return {};
  }
  if (input.record.link_type != link::kLinkTypeEthernet) {
    return cannot(
        fmt::format("{}: frame {} has link type {}, and only Ethernet (1) can be sent; roce-analyze shows such a "
                    "file, and roce-replay rewrite does not change its kind",
                    input.path, input.record.number, input.record.link_type));
  }
  const auto& interfaces = input.reader.interfaces();
  if (input.record.interface_id < interfaces.size()) {
    const std::size_t fcs = interfaces[input.record.interface_id].fcs_length.value_or(0);
    // The sending interface appends an FCS of its own.
    if (fcs != 0 && input.record.original_length >= fcs) {
      input.record.original_length -= static_cast<std::uint32_t>(fcs);
      input.record.bytes =
          input.record.bytes.first(std::min<std::size_t>(input.record.bytes.size(), input.record.original_length));
    }
  }
  if (input.record.timestamp_ns != link::kNoTimestamp) input.time = input.record.timestamp_ns;
  input.is_read = true;
  return {};
}

Outcome<const link::CaptureRecord*> CaptureMerge::next() {
  const Input* first = nullptr;
  for (Input& input : inputs_) {
    if (!input.is_read && !input.is_over) {
      if (Outcome<void> filled = fill(input); !filled) return tl::unexpected(filled.error());
    }
    if (input.is_read && (first == nullptr || input.time < first->time)) first = &input;
  }
  if (first == nullptr) return nullptr;
  last_ = static_cast<std::size_t>(first - inputs_.data());
  inputs_[last_].is_read = false;
  return &inputs_[last_].record;
}

std::uint64_t CaptureMerge::size_bytes() const {
  std::uint64_t size = 0;
  for (const Input& input : inputs_) {
    if (input.reader.size_bytes() == 0) return 0;
    size += input.reader.size_bytes();
  }
  return size;
}

std::uint64_t CaptureMerge::position_bytes() const {
  std::uint64_t position = 0;
  for (const Input& input : inputs_) position += input.reader.position_bytes();
  return position;
}

std::vector<std::string> CaptureMerge::warnings() const {
  std::vector<std::string> texts;
  for (const Input& input : inputs_) {
    for (const link::CaptureWarning& warning : input.reader.warnings()) texts.push_back(warning.message);
  }
  return texts;
}

}  // namespace roce::capture
