// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "roce/link/capture_reader.h"

namespace roce::analyze {

namespace {

std::optional<std::int64_t> first_time(link::CaptureReader& reader) {
  // Records without a time may come first; searching all of a large file would take too long.
  constexpr int kLookedAt = 1000;
  link::CaptureRecord record;
  for (int i = 0; i < kLookedAt && reader.next(record); ++i) {
    if (record.timestamp_ns != link::kNoTimestamp) return record.timestamp_ns;
  }
  return std::nullopt;
}

class Expansion {
 public:
  explicit Expansion(const InputOptions& options) : options_(options) {}

  /// The arguments that follow belong to this point; empty: to none that has a name.
  void go_to(std::string_view point) { point_ = point; }

  void add(const std::string& argument) {
    struct stat status {};
    const bool is_input = argument == "-";
    if ((is_input ? ::fstat(STDIN_FILENO, &status) : ::stat(argument.c_str(), &status)) != 0) {
      result_.errors.push_back(is_input ? fmt::format("cannot read standard input: {}", std::strerror(errno))
                                        : fmt::format("cannot read '{}': {}", argument, std::strerror(errno)));
    } else if (S_ISDIR(status.st_mode) && !is_input) {
      add_directory(argument);
    } else {
      add_file(argument, status);
    }
  }

  InputFiles finish() && {
    if (options_.sort_by_time) std::stable_sort(result_.files.begin(), result_.files.end(), &keeps_pipes_behind);
    return std::move(result_);
  }

 private:
  /// Orders files by time; pipes come last, in the order in which they were given.
  static bool keeps_pipes_behind(const InputFile& a, const InputFile& b) {
    if (!a.is_regular || !b.is_regular) return a.is_regular && !b.is_regular;
    return comes_before(a, b);
  }

  /// True if the file was not given before; otherwise a warning names both paths.
  bool is_first(const std::string& path, const struct stat& status) {
    const auto [place, is_new] = seen_.try_emplace({status.st_dev, status.st_ino}, path, point_);
    if (is_new) return true;
    const auto& [other, point] = place->second;
    if (point != point_) {
      const auto text = [](const std::string& name) {
        return name.empty() ? std::string{"no --point"} : fmt::format("the point '{}'", name);
      };
      result_.errors.push_back(fmt::format("'{}' was given for {} and for {}; it is read once, for {}", path,
                                           text(point), text(point_), text(point)));
      return false;
    }
    result_.warnings.push_back(other == path
                                   ? fmt::format("'{}' was given twice; it is read once", path)
                                   : fmt::format("'{}' and '{}' are the same file; it is read once", other, path));
    return false;
  }

  void add_file(const std::string& path, const struct stat& status) {
    // For a device such as /dev/null, equal inode numbers mean nothing.
    const bool is_regular = S_ISREG(status.st_mode);
    if ((is_regular || S_ISFIFO(status.st_mode)) && !is_first(path, status)) return;
    InputFile file{
        path, is_regular && path != "-", is_regular ? static_cast<std::uint64_t>(status.st_size) : 0, {}, point_};
    if (options_.sort_by_time && file.is_regular) {
      // A file that cannot be opened is reported later, when it is read.
      if (auto reader = link::CaptureReader::open(path)) file.first_ns = first_time(*reader);
    }
    result_.files.push_back(std::move(file));
  }

  void add_directory(const std::string& directory) {
    std::error_code error;
    std::filesystem::directory_iterator entry{directory, error};
    std::vector<InputFile> found;
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
      add_entry(entry->path(), found);
    }
    if (error) result_.errors.push_back(fmt::format("cannot read the directory '{}': {}", directory, error.message()));
    warn_of_others(directory);
    if (found.empty() && !error) {
      result_.errors.push_back(
          fmt::format("'{}' holds no capture file (pcap or pcapng, also compressed by gzip or zstd)", directory));
    }
    std::sort(found.begin(), found.end(), comes_before);
    for (InputFile& file : found) {
      struct stat status {};
      if (::stat(file.path.c_str(), &status) == 0 && is_first(file.path, status)) {
        result_.files.push_back(std::move(file));
      }
    }
  }

  void add_entry(const std::filesystem::path& path, std::vector<InputFile>& found) {
    struct stat status {};
    // Opening a pipe would wait for its writer.
    const bool is_regular = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular && ::access(path.c_str(), R_OK) != 0) {
      result_.errors.push_back(fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)));
      return;
    }
    if (auto file = is_regular ? look_into(path.string(), static_cast<std::uint64_t>(status.st_size)) : std::nullopt) {
      file->point = point_;
      found.push_back(*std::move(file));
      return;
    }
    others_.push_back(path.filename().string());
  }

  void warn_of_others(const std::string& directory) {
    if (others_.empty()) return;
    constexpr std::size_t kNamed = 5;
    const std::size_t count = others_.size();
    std::sort(others_.begin(), others_.end());
    others_.resize(std::min(count, kNamed));
    std::string names = fmt::format("{}", fmt::join(others_, ", "));
    if (count > kNamed) names += fmt::format(" and {} more", count - kNamed);
    result_.warnings.push_back(fmt::format("'{}': passed over what is no capture file: {}", directory, names));
    others_.clear();
  }

  InputOptions options_;
  InputFiles result_;
  std::string point_;
  std::map<std::pair<dev_t, ino_t>, std::pair<std::string, std::string>> seen_;  ///< path and point of each file
  std::vector<std::string> others_;  ///< names in the current directory that are not captures
};

/// Returns the paths that fit a pattern, in their order; the pattern itself if it is none or nothing fits, so that the
/// error about the file that cannot be read names it.
std::vector<std::string> paths_of(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths{pattern};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

}  // namespace

std::optional<InputFile> look_into(const std::string& path, std::uint64_t size_bytes) {
  auto reader = link::CaptureReader::open(path);
  if (!reader) return std::nullopt;
  return InputFile{path, true, size_bytes, first_time(*reader), {}};
}

bool comes_before(const InputFile& a, const InputFile& b) {
  if (a.first_ns.has_value() != b.first_ns.has_value()) return a.first_ns.has_value();
  if (a.first_ns != b.first_ns) return a.first_ns < b.first_ns;
  return a.path < b.path;
}

tl::expected<NamedPoint, std::string> parse_point(std::string_view text) {
  const std::size_t end = text.find('=');
  if (end == 0 || end == std::string_view::npos || end + 1 == text.size()) {
    return tl::unexpected(
        fmt::format("--point takes NAME=FILE[,FILE...], such as leaf1=leaf1_*.pcapng, not '{}'", text));
  }
  NamedPoint point{std::string{text.substr(0, end)}, {}};
  for (std::string_view rest = text.substr(end + 1); !rest.empty();) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    for (std::string& path : paths_of(std::string{rest.substr(0, length)})) point.arguments.push_back(std::move(path));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return point;
}

InputFiles expand_inputs(std::span<const std::string> arguments, const InputOptions& options,
                         std::span<const NamedPoint> points) {
  Expansion expansion{options};
  for (const std::string& argument : arguments) expansion.add(argument);
  for (const NamedPoint& point : points) {
    expansion.go_to(point.name);
    for (const std::string& argument : point.arguments) expansion.add(argument);
  }
  return std::move(expansion).finish();
}

}  // namespace roce::analyze
