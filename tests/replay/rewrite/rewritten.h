// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "capture/link_types.h"
#include "replay/rewrite/rewriter.h"
#include "replay/rules/rewrite_text.h"
#include "roce/wire/packet_spec.h"
#include "support/captures.h"
#include "support/source_tree.h"

namespace roce::replay::test {

/// A frame of a capture.
struct Frame {
  std::vector<std::byte> bytes;
  LinkType link_type = LinkType::ethernet;
  std::uint32_t reported_length = 0;

  [[nodiscard]] Packet parse() const { return parse_frame(bytes, link_type, reported_length); }
  friend bool operator==(const Frame&, const Frame&) = default;
};

inline std::vector<Frame> frames_of(const std::filesystem::path& path) {
  std::vector<Frame> frames;
  roce::test::for_each_record(path, [&](const link::CaptureRecord& record) {
    frames.push_back({{record.bytes.begin(), record.bytes.end()},
                      capture::known_link_type(record.link_type).value(),
                      record.original_length});
  });
  return frames;
}

/// Returns the frames of all captures of the source tree.
inline const std::vector<Frame>& all_frames() {
  static const std::vector<Frame> frames = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(roce::test::captures_folder())) {
      const std::string suffix = entry.path().extension().string();
      if (suffix == ".pcap" || suffix == ".pcapng") paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    std::vector<Frame> all;
    for (const auto& path : paths) {
      for (Frame& frame : frames_of(path)) all.push_back(std::move(frame));
    }
    return all;
  }();
  return frames;
}

/// A reader of rules and the text that it is to read.
struct Text {
  ReadResult<> (*read)(std::string_view, RewriteRules&);
  std::string text;
};

/// Returns the rules of some texts; wrong ICRCs and checksums are kept, and so are addresses that no map covers.
inline RewriteRules rules_of(const std::vector<Text>& texts) {
  RewriteRules rules;
  rules.keep_unmapped = true;
  rules.keep_bad_icrc = true;
  rules.keep_bad_checksums = true;
  for (const Text& text : texts) {
    if (const ReadResult<> read = text.read(text.text, rules); !read) throw std::runtime_error(read.error());
  }
  return rules;
}

/// Returns what one frame becomes; throws the error of `Rewriter::rewrite`.
inline std::vector<Frame> rewritten(Rewriter& rewriter, const Frame& frame) {
  const auto out = rewriter.rewrite(frame.parse(), frame.link_type);
  if (!out) throw std::runtime_error(out.error());
  std::vector<Frame> frames;
  for (const RewrittenFrame& one : *out) {
    frames.push_back({{one.bytes.begin(), one.bytes.end()}, frame.link_type, one.reported_length});
  }
  return frames;
}

/// Returns the values of a packet, without those whose names `without` lists. Lengths and check
/// values are among them only if they are wrong.
inline std::vector<std::string> values_of(const Packet& packet, const std::vector<std::string>& without) {
  std::vector<std::string> values;
  const PacketSpec spec = PacketSpec::from_packet(packet);
  for (const std::string& name : spec.names()) {
    if (std::ranges::find(without, name) == without.end()) values.push_back(name + ": " + *spec.get(name));
  }
  return values;
}

}  // namespace roce::replay::test
