// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/growing_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace roce::analyze {

bool GrowingFolder::look() {
  std::error_code error;
  std::filesystem::directory_iterator entry{path_, error};
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) look_at(entry->path());
  drop_removed();
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Waiting& a, const Waiting& b) { return comes_before(a.file, b.file); });
  return !waiting_.empty();
}

void GrowingFolder::look_at(const std::string& path) {
  struct stat status {};
  // Opening a pipe would wait for its writer.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const Identity identity{status.st_dev, status.st_ino};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto known = known_.find(identity);
  if (known != known_.end()) {
    const bool is_unchanged = known->second.is_capture ? size >= known->second.size : size == known->second.size;
    if (is_unchanged) return;
  }
  std::optional<InputFile> file = look_into(path, size);
  known_[identity] = {file ? 0 : size, file.has_value()};
  if (file) waiting_.push_back({*std::move(file), identity});
}

void GrowingFolder::drop_removed() {
  missed_ += std::erase_if(waiting_, [](const Waiting& each) {
    struct stat status {};
    return ::stat(each.file.path.c_str(), &status) != 0 || Identity{status.st_dev, status.st_ino} != each.identity;
  });
}

std::optional<InputFile> GrowingFolder::next() {
  if (!look()) return std::nullopt;
  InputFile file = std::move(waiting_.front().file);
  waiting_.erase(waiting_.begin());
  return file;
}

void GrowingFolder::note_read(const std::string& path, std::uint64_t bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  const auto known = known_.find({status.st_dev, status.st_ino});
  if (known != known_.end()) known->second.size = bytes;
}

}  // namespace roce::analyze
