// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/growing_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace roce::analyze {

namespace {

bool is_same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

bool is_compressed_name(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".zst");
}

bool GrowingFolder::look() {
  std::error_code error;
  std::filesystem::directory_iterator entry{path_, error};
  std::set<Identity> present;
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    look_at(entry->path(), present);
  }
  // The number of a file that was removed may be given to the next one.
  if (!error) {
    std::erase_if(known_, [&](const auto& each) { return !present.contains(each.first); });
    missed_ += std::erase_if(waiting_, [&](const Waiting& each) { return !present.contains(each.identity); });
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Waiting& a, const Waiting& b) { return comes_before(a.file, b.file); });
  return !waiting_.empty();
}

void GrowingFolder::look_at(const std::string& path, std::set<Identity>& present) {
  struct stat status {};
  // Opening a pipe would wait for its writer.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const Identity identity{status.st_dev, status.st_ino};
  present.insert(identity);
  const auto [known, is_new] = known_.try_emplace(identity);
  Known& now = known->second;
  if (!is_new && is_same(now.changed, status.st_mtim)) return;
  now.changed = status.st_mtim;
  // A copy of a piece that its writer has compressed.
  if (is_compressed_name(path) && names_.contains(path.substr(0, path.rfind('.')))) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  auto file = look_into(path, size);
  if (!file) return;
  const bool is_begun_anew = now.first_ns && file->first_ns && *now.first_ns != *file->first_ns;
  if (now.is_capture && !is_begun_anew) {
    if (now.left_at && size > *now.left_at) {
      ++left_early_;
      now.left_at = size;
    }
    if (now.first_ns || !file->first_ns) return;
    now.first_ns = file->first_ns;
    for (Waiting& each : waiting_) {
      if (each.identity == identity) each.file.first_ns = file->first_ns;
    }
    return;
  }
  if (is_begun_anew) {
    missed_ += std::erase_if(waiting_, [&](const Waiting& each) { return each.identity == identity; });
  }
  now = {status.st_mtim, true, file->first_ns, std::nullopt};
  names_.insert(path);
  waiting_.push_back({*std::move(file), identity});
}

std::optional<InputFile> GrowingFolder::next() {
  if (!look()) return std::nullopt;
  InputFile file = std::move(waiting_.front().file);
  current_ = waiting_.front().identity;
  waiting_.erase(waiting_.begin());
  return file;
}

void GrowingFolder::leave(std::uint64_t bytes) {
  const auto known = current_ ? known_.find(*current_) : known_.end();
  if (known != known_.end()) known->second.left_at = bytes;
  current_.reset();
}

}  // namespace roce::analyze
