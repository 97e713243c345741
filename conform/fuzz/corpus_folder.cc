// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/corpus_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "conform/fuzz/program_text.h"
#include "conform/fuzz/signature.h"
#include "roce/link/output_file.h"
#include "yaml/yaml_input.h"

namespace roce::conform::fuzz {

namespace {

namespace fs = std::filesystem;

// More than the longest program takes.
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
constexpr std::string_view kPrefix = "program-";
constexpr std::string_view kSuffix = ".yaml";

std::string name_of(std::string_view content) {
  return fmt::format("{}{:016x}{}", kPrefix, hash_of(content), kSuffix);
}

std::string file_text(const Program& program) {
  return fmt::format("program: {}\n{}", kProgramVersion, program_text(program));
}

/// Reads a program whose version may be another one; in that case there is none.
CaseResult<std::optional<Program>> read_file(const std::string& path, const std::string& text) {
  const CaseResult<SourceNode> root = read_source(path, text);
  if (!root) return tl::unexpected(root.error());
  if (!root->node.IsMap()) return root->error("expected a program");
  const YAML::Node version = root->node["program"];
  if (!version) return root->error("expected a program with its version");
  const CaseResult<std::uint64_t> number = read_count(root->with(version), "program");
  if (!number) return tl::unexpected(number.error());
  if (*number != kProgramVersion) return std::nullopt;
  CaseResult<Program> program = read_program(*root);
  if (!program) return tl::unexpected(program.error());
  return std::move(*program);
}

}  // namespace

FileResult<void> write_whole(const std::string& path, std::string_view content) {
  auto file = link::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error().message);
  if (const auto written = file->write(std::as_bytes(std::span{content})); !written) {
    return tl::unexpected(written.error().message);
  }
  if (const auto closed = file->close(); !closed) return tl::unexpected(closed.error().message);
  return {};
}

FileResult<CorpusFolder> CorpusFolder::open(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return tl::unexpected(fmt::format("{}: cannot be made a folder: {}", path, error.message()));
  return CorpusFolder{path};
}

FileResult<std::vector<Program>> CorpusFolder::read_new() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry{path_, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) || known_.contains(name)) continue;
    names.push_back(std::move(name));
  }
  if (error) return tl::unexpected(fmt::format("{}: cannot be read: {}", path_, error.message()));
  std::ranges::sort(names);
  std::vector<Program> programs;
  programs.reserve(names.size());
  for (const std::string& name : names) {
    const std::string path = path_of(name);
    const auto text = yaml_input::read_file(path, {.bytes = kMostBytes});
    // Another fuzzer may have merged the folder meanwhile.
    if (!text && !fs::exists(path)) continue;
    known_.insert(name);
    if (!text) {
      damages_.push_back(fmt::format("{}: {}", path, text.error().what));
      continue;
    }
    CaseResult<std::optional<Program>> program = read_file(path, *text);
    if (program && !*program) {
      return tl::unexpected(
          fmt::format("{}: the program is of another version of roce-conform, expected version {}; "
                      "use another folder",
                      path, kProgramVersion));
    }
    if (name != name_of(*text)) {
      damages_.push_back(
          fmt::format("{}: is damaged: its content should be that of {}; remove it", path, name_of(*text)));
    } else if (!program) {
      damages_.push_back(to_string(program.error()));
    } else {
      programs.push_back(std::move(**program));
    }
  }
  return programs;
}

FileResult<void> CorpusFolder::add(const Program& program) {
  const std::string text = file_text(program);
  const std::string name = name_of(text);
  if (!known_.insert(name).second) return {};
  if (fs::exists(path_of(name))) return {};
  return write_whole(path_of(name), text);
}

FileResult<void> CorpusFolder::remove(const Program& program) {
  const std::string path = path_of(name_of(file_text(program)));
  std::error_code error;
  fs::remove(path, error);
  if (error) return tl::unexpected(fmt::format("{}: cannot be removed: {}", path, error.message()));
  return {};
}

}  // namespace roce::conform::fuzz
