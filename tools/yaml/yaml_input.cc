// SPDX-License-Identifier: BSD-2-Clause
#include "yaml/yaml_input.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <vector>

namespace roce::yaml_input {

namespace {

/// Thrown to end the parsing of a text that is beyond its bounds.
struct BeyondBounds {
  YamlError error;
};

/// Counts the nodes of a document while it is parsed.
class Counter final : public YAML::EventHandler {
 public:
  explicit Counter(const Bounds& bounds) : bounds_(bounds) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, 1); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& /*value*/) override {
    add(mark, anchor, 1);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = sizes_.find(anchor);
    if (found == sizes_.end()) refuse(mark, "an alias stands inside of what it stands for");
    add(mark, 0, found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YAML::anchor_t anchor;
    std::size_t before;  // number of nodes before it
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& what) { throw BeyondBounds{{what, mark}}; }
  void add(const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t nodes) {
    if (nodes > bounds_.nodes - nodes_) {
      refuse(mark, fmt::format("it has more than {} values; split it", bounds_.nodes));
    }
    nodes_ += nodes;
    if (anchor != 0) sizes_[anchor] = nodes;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() == bounds_.depth) {
      refuse(mark, fmt::format("lists and maps are more than {} deep inside one another", bounds_.depth));
    }
    open_.push_back({anchor, nodes_});
    add(mark, 0, 1);
  }
  void close() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.anchor != 0) sizes_[closed.anchor] = nodes_ - closed.before;
  }

  Bounds bounds_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, std::size_t> sizes_;  // sizes of complete nodes that have an anchor
};

[[nodiscard]] YamlError too_long(const Bounds& bounds) {
  return {fmt::format("it is longer than {} bytes; split it", bounds.bytes)};
}

}  // namespace

tl::expected<YAML::Node, YamlError> load(const std::string& text, const Bounds& bounds) {
  if (text.size() > bounds.bytes) return tl::unexpected(too_long(bounds));
  try {
    // Counted first and kept only then: a document that is kept takes a hundred times its length.
    std::istringstream stream{text};
    Counter counter{bounds};
    YAML::Parser{stream}.HandleNextDocument(counter);
    return YAML::Load(text);
  } catch (const BeyondBounds& beyond) {
    return tl::unexpected(beyond.error);
  } catch (const YAML::Exception& error) {
    return tl::unexpected(YamlError{"this is no YAML: " + error.msg, error.mark});
  }
}

tl::expected<std::string, YamlError> read_file(const std::string& path, const Bounds& bounds) {
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  std::string content(bounds.bytes + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.is_open() || file.bad()) {
    return tl::unexpected(YamlError{std::strerror(errno)});
  }
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > bounds.bytes) return tl::unexpected(too_long(bounds));
  return content;
}

}  // namespace roce::yaml_input
