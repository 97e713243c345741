// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gen/frames/frame_source.h"
#include "gen/frames/packet_file.h"
#include "impair/rule_yaml.h"
#include "yaml/yaml_input.h"

// The input is a YAML text after a byte for its purpose: the packets of craft, or rules. Required: accepted text is
// within its bounds for any code that walks it; packets come out as frames or are refused by name; and rules can be
// read again from the text that they print.

namespace {

using namespace roce;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr yaml_input::Bounds kBounds{.bytes = 4096, .nodes = 1000, .depth = 6};

/// Walks a node and counts the nodes that it meets.
void walk(const YAML::Node& node, std::size_t depth, std::size_t& nodes) {
  check(++nodes <= kBounds.nodes);
  if (node.IsSequence() || node.IsMap()) check(depth < kBounds.depth);
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) walk(item, depth + 1, nodes);
  } else if (node.IsMap()) {
    for (const auto& entry : node) {
      walk(entry.first, depth + 1, nodes);
      walk(entry.second, depth + 1, nodes);
    }
  }
}

void check_packets(const std::string& text) {
  const auto packets = gen::read_packets("packets", text, {});
  if (!packets) {
    check(packets.error().message.starts_with("packets"));
    return;
  }
  check(!packets->empty());
  auto source = gen::FrameSource::make(*packets, 1);
  if (!source) {
    check(!source.error().message.empty());
    return;
  }
  constexpr int frames = 20;
  for (int i = 0; i < frames; ++i) {
    const auto frame = source->next();
    if (!frame) {
      check(!frame.error().message.empty());
      return;
    }
    static_cast<void>(parse_frame(*frame, LinkType::ethernet).layers());
  }
}

void check_rules(const YAML::Node& list) {
  const auto rules = impair::test::rules_of_yaml(list);
  if (!rules) {
    check(!rules.error().message.empty());
    return;
  }
  const auto again = impair::RuleSet::from_text(rules->to_text());
  check(again.has_value() && *again == *rules);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto root = yaml_input::load(text, kBounds);
  if (root) {
    std::size_t nodes = 0;
    walk(*root, 0, nodes);
  } else {
    check(!root.error().what.empty());
  }
  if (data[0] != 'r') {
    check_packets(text);
  } else if (root) {
    check_rules(*root);
  }
  return 0;
}
