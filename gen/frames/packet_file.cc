// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/packet_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "yaml/yaml_input.h"

namespace roce::gen {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint64_t kMostRepeats = 1'000'000'000;

/// The state while a file is read.
class PacketFile {
 public:
  explicit PacketFile(const std::string& path) : path_(path) {}

  [[nodiscard]] Outcome<VaryingPacket> read(const YAML::Node& node, const Values& overrides) {
    values_.clear();
    marks_.clear();
    repeat_ = 1;
    if (!node.IsMap() || node.size() == 0) {
      return wrong(node.Mark(), "expected a packet: a map such as {opcode: RC_SEND_ONLY, bth.psn: +1}");
    }
    for (const auto& entry : node) {
      if (Outcome<void> taken = take("", entry.first, entry.second); !taken) return tl::unexpected(taken.error());
    }
    for (const auto& value : overrides) {
      const auto own = std::find_if(values_.begin(), values_.end(), [&](auto& v) { return v.first == value.first; });
      if (own != values_.end()) {
        own->second = value.second;
        marks_.erase(value.first);
      } else {
        values_.push_back(value);
      }
    }
    SpecResult<VaryingPacket> packet = read_packet(values_);
    if (packet) {
      packet->repeat = repeat_;
      return std::move(*packet);
    }
    const auto mark = marks_.find(packet.error().name);
    if (mark != marks_.end()) return wrong(mark->second, packet.error().message);
    return cannot(fmt::format("{}: {}", path_, packet.error().message));
  }

  [[nodiscard]] tl::unexpected<Failure> wrong(const YAML::Mark& mark, const std::string& what) const {
    if (mark.is_null()) return cannot(fmt::format("{}: {}", path_, what));
    return cannot(fmt::format("{}, line {}, column {}: {}", path_, mark.line + 1, mark.column + 1, what));
  }

 private:
  [[nodiscard]] Outcome<void> take(const std::string& prefix, const YAML::Node& key, const YAML::Node& value) {
    if (!key.IsScalar()) return wrong(key.Mark(), "expected a name such as bth.psn");
    const std::string name = prefix + key.Scalar();
    if (name == "repeat") return take_repeat(value);
    if (value.IsMap() && prefix.empty()) {
      for (const auto& entry : value) {
        if (Outcome<void> taken = take(name + '.', entry.first, entry.second); !taken) return taken;
      }
      return {};
    }
    std::string text;
    if (value.IsSequence()) {
      if (value.size() == 0) return wrong(value.Mark(), name + ": the list is empty");
      for (const YAML::Node& item : value) {
        if (!item.IsScalar()) return wrong(item.Mark(), name + ": expected a value");
        text += (text.empty() ? "" : name == "headers" ? " " : "/") + item.Scalar();
      }
    } else if (value.IsScalar() || value.IsNull()) {
      text = value.IsNull() ? "" : value.Scalar();
    } else {
      return wrong(value.Mark(), name + ": expected a value or a list of values");
    }
    if (!marks_.emplace(name, value.Mark()).second) return wrong(key.Mark(), name + ": it is there twice");
    values_.emplace_back(name, text);
    return {};
  }

  [[nodiscard]] Outcome<void> take_repeat(const YAML::Node& value) {
    const std::string text = value.IsScalar() ? value.Scalar() : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), repeat_);
    if (error == std::errc{} && end == text.data() + text.size() && repeat_ >= 1 && repeat_ <= kMostRepeats) return {};
    return wrong(value.Mark(), fmt::format("repeat: expected 1 … {}, found '{}'", kMostRepeats, text));
  }

  const std::string& path_;
  Values values_;
  std::map<std::string, YAML::Mark> marks_;
  std::uint64_t repeat_ = 1;
};

}  // namespace

Outcome<Values> split_values(const std::vector<std::string>& words) {
  Values values;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return cannot(fmt::format("expected NAME=VALUE such as bth.psn=+1, found '{}'", word));
    }
    const std::string name = word.substr(0, equals);
    if (std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.first == name; })) {
      return cannot(fmt::format("{} is there twice", name));
    }
    values.emplace_back(name, word.substr(equals + 1));
  }
  return values;
}

Outcome<std::vector<VaryingPacket>> read_packets(const std::string& name, const std::string& text,
                                                 const Values& values) {
  PacketFile file{name};
  const tl::expected<YAML::Node, yaml_input::YamlError> root = yaml_input::load(text);
  if (!root) return file.wrong(root.error().mark, root.error().what);
  std::vector<VaryingPacket> packets;
  if (!root->IsSequence()) {
    Outcome<VaryingPacket> packet = file.read(*root, values);
    if (!packet) return tl::unexpected(packet.error());
    packets.push_back(std::move(*packet));
    return packets;
  }
  if (root->size() == 0) return file.wrong(root->Mark(), "there is no packet in it");
  for (const YAML::Node& node : *root) {
    Outcome<VaryingPacket> packet = file.read(node, values);
    if (!packet) return tl::unexpected(packet.error());
    packets.push_back(std::move(*packet));
  }
  return packets;
}

Outcome<std::vector<VaryingPacket>> read_packet_file(const std::string& path, const Values& values) {
  const tl::expected<std::string, yaml_input::YamlError> content = yaml_input::read_file(path);
  if (!content) return failed(fmt::format("cannot read the packets in {}: {}", path, content.error().what));
  return read_packets(path, *content, values);
}

}  // namespace roce::gen
