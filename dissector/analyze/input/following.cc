// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/following.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/input/report.h"
#include "runtime/clock.h"

namespace roce::analyze {

namespace {

// File systems of other machines do not tell what is written to them.
constexpr Duration kLongestWait = std::chrono::milliseconds{200};

int watch_changes(const Following::Source& source) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  // Without it what is new is found after `kLongestWait`.
  if (fd >= 0) ::inotify_add_watch(fd, source.name.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE);
  return fd;
}

}  // namespace

Following::Following(Source source) : source_(std::move(source)), due_(runtime::now() + kInterval) {
  if (source_.kind == Source::Kind::folder) folder_.emplace(source_.name);
  if (source_.kind != Source::Kind::interface && source_.name != "-") changes_ = watch_changes(source_);
}

Following::~Following() {
  if (changes_ >= 0) ::close(changes_);
}

std::optional<InputFile> Following::next_file() {
  if (!folder_) {
    if (std::exchange(was_given_, true)) {
      while (stays_ && !is_stopped_) pause(-1);
      return std::nullopt;
    }
    InputFile file;
    file.path = source_.name;
    return file;
  }
  has_newer_ = false;
  while (!is_stopped_) {
    if (auto file = folder_->next()) return file;
    pause(-1);
  }
  return std::nullopt;
}

link::Result<link::CaptureReader> Following::open(const InputFile& file) {
  const auto waiting = [this](int fd) { return wait(fd); };
  if (source_.kind == Source::Kind::interface) {
    auto reader = link::CaptureReader::capture(file.path, waiting);
    if (reader) report(fmt::format("captures on {} until Ctrl-C", file.path));
    return reader;
  }
  // Only the latest file of a folder still grows; the ones before it may have been compressed.
  if (folder_ && (is_compressed_name(file.path) || folder_->look())) return link::CaptureReader::open(file.path);
  return link::CaptureReader::follow(file.path, waiting);
}

std::optional<std::string> Following::close(const InputFile& file, std::uint64_t bytes) {
  if (!folder_) return std::nullopt;
  folder_->leave(bytes);
  struct stat status {};
  if (!has_newer_ || ::stat(file.path.c_str(), &status) != 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size <= bytes) return std::nullopt;
  return fmt::format(
      "{}: byte {}: the file ends inside a packet: {} bytes of it are there; the packets before it were read",
      file.path, bytes, size - bytes);
}

std::vector<std::string> Following::problems() const {
  std::vector<std::string> all;
  if (!folder_) return all;
  if (const std::uint64_t missed = folder_->missed(); missed != 0) {
    all.push_back(fmt::format("{} removed or written over before they were read; keep more of them, or larger ones",
                              missed == 1 ? "1 file was" : fmt::format("{} files were", missed)));
  }
  if (const std::uint64_t left = folder_->left_early(); left != 0) {
    all.push_back(
        fmt::format("{} after a newer file had come, and the rest was not read; follow a folder for each capture",
                    left == 1 ? "1 file has grown" : fmt::format("{} files have grown", left)));
  }
  return all;
}

bool Following::has_next() {
  // A writer that flushes each packet wakes us for each.
  constexpr Duration kBetweenLooks = std::chrono::milliseconds{50};
  const Time now = runtime::now();
  if (now < looked_ + kBetweenLooks) return false;
  looked_ = now;
  return folder_->look();
}

bool Following::wait(int fd) {
  if (is_stopped_ || has_newer_) return false;
  if (folder_ && has_next()) {
    has_newer_ = true;
    return true;
  }
  pause(fd);
  return !is_stopped_;
}

void Following::pause(int fd) {
  // All that was there at first is shown at once.
  if (!shown_ || is_asked_ || runtime::now() >= due_) show();
  const Duration left = std::clamp(due_ - runtime::now(), Duration{}, kLongestWait);
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  std::array<pollfd, 4> events{pollfd{stop_.fd(), POLLIN, 0}, pollfd{changes_, POLLIN, 0}, pollfd{watched_, POLLIN, 0},
                               pollfd{fd, POLLIN, 0}};
  static_cast<void>(::poll(events.data(), events.size(), static_cast<int>(milliseconds)));
  if (stop_.take()) is_stopped_ = true;
  std::array<char, 4096> told{};
  while (changes_ >= 0 && ::read(changes_, told.data(), told.size()) > 0) {
  }
  if (serve_) serve_();
}

void Following::look_at_clock() {
  if (stop_.take()) is_stopped_ = true;
  if (serve_) serve_();
  if (!is_asked_ && runtime::now() < due_) return;
  if (folder_) static_cast<void>(folder_->look());
  show();
}

void Following::show() {
  const Time begun = runtime::now();
  if (tick_ && (is_asked_ || shown_ != frames_)) tick_();
  is_asked_ = false;
  shown_ = frames_;
  const Time now = runtime::now();
  due_ = now + std::max<Duration>(kInterval, 9 * (now - begun));
}

}  // namespace roce::analyze
