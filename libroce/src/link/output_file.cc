// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "link/byte_source.h"

namespace roce::link {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".partial";
// Files beyond this number are removed when their objects are destroyed, but not by a signal.
constexpr std::size_t kRemembered = 16;
std::array<std::atomic<const char*>, kRemembered> unfinished{};

void remember(const char* name) {
  for (std::atomic<const char*>& place : unfinished) {
    const char* free = nullptr;
    if (place.compare_exchange_strong(free, name)) return;
  }
}

void forget(const char* name) {
  for (std::atomic<const char*>& place : unfinished) {
    const char* known = name;
    if (place.compare_exchange_strong(known, nullptr)) return;
  }
}

/// Holds back the signals of this thread while it exists, so that a new file is remembered before a signal can end the
/// process.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

/// Returns the open file of this process that a path in /proc names; none if it names something else.
std::optional<int> descriptor_of(const fs::path& path) {
  const std::string name = path.filename();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  std::error_code ignored;
  const bool is_own = fs::equivalent(path.parent_path(), "/proc/self/fd", ignored);
  return is_own ? std::optional{number} : std::nullopt;
}

/// True if opening a path in this folder bypasses all names and reaches a file that a process has open.
bool is_proc(const fs::path& folder) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

/// The place where the bytes go.
struct Place {
  fs::path path;              ///< with all links resolved
  std::optional<int> own;     ///< a descriptor of this process
  bool is_open_file = false;  ///< an open file of this or another process
  std::optional<struct stat> old{};
};

Place find_place(const std::string& path) {
  constexpr int kMostLinks = 40;
  Place place{path, {}, false, {}};
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat status {};
    if (::lstat(place.path.c_str(), &status) != 0) return place;
    if (!S_ISLNK(status.st_mode)) {
      place.old = status;
      return place;
    }
    if (is_proc(folder_of(place.path))) {
      place.own = descriptor_of(place.path);
      place.is_open_file = true;
      // A folder such as /proc/self is an ordinary link.
      std::error_code ignored;
      if (place.own || !fs::is_directory(place.path, ignored)) return place;
      place.is_open_file = false;
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(place.path, error);
    if (error) return place;
    place.path = target.is_absolute() ? target : folder_of(place.path) / target;
  }
  return place;
}

}  // namespace

struct OutputFile::Impl {
  std::string name;     ///< the path as it was given
  std::string place;    ///< the path with all links resolved
  std::string partial;  ///< empty: `place` is written directly
  detail::FileDescriptor file;
  std::optional<CaptureError> failure;
  bool had_old = false;
  bool closed = false;

  ~Impl() { discard(); }

  void discard() {
    if (partial.empty()) return;
    ::unlink(partial.c_str());
    forget(partial.c_str());
    partial.clear();
  }

  [[nodiscard]] tl::unexpected<CaptureError> refuse(const std::string& text) const {
    return tl::unexpected(CaptureError{name + ": " + text, std::nullopt});
  }

  tl::unexpected<CaptureError> fail(const char* what) {
    std::string text = std::string{what} + ": " + std::strerror(errno);
    text += partial.empty() ? "; the output is not whole"
            : had_old       ? "; the old file stays as it was"
                            : "; no file was written";
    discard();
    failure = refuse(text).value();
    return tl::unexpected(*failure);
  }

  Result<void> open_at_once(const Place& found) {
    const int fd = found.own ? ::fcntl(*found.own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                             : ::open(found.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return refuse("cannot write: " + std::string(std::strerror(errno)));
    file = detail::FileDescriptor(fd);
    struct stat status {};
    const bool is_regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!found.own && is_regular && ::ftruncate(fd, 0) != 0) return fail("cannot empty it");
    return {};
  }

  Result<void> open_beside(const Place& found) {
    place = found.path;
    had_old = found.old.has_value();
    if (had_old && ::faccessat(AT_FDCWD, place.c_str(), W_OK, AT_EACCESS) != 0) {
      return refuse("cannot write: " + std::string(std::strerror(errno)));
    }
    constexpr mode_t kMode = 0666;
    constexpr int kMostTries = 1000;
    const fs::path folder = folder_of(found.path);
    const std::string base = found.path.filename().string().substr(0, NAME_MAX - 16);
    const SignalsHeld held;
    for (int i = 0; i < kMostTries; ++i) {
      std::string tried = folder / (base + (i == 0 ? "" : "." + std::to_string(i)) + std::string{kSuffix});
      const int fd = ::open(tried.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
      if (fd >= 0) {
        file = detail::FileDescriptor(fd);
        partial = std::move(tried);
        remember(partial.c_str());
        break;
      }
      if (errno != EEXIST) break;
    }
    if (partial.empty()) return refuse("cannot create: " + std::string(std::strerror(errno)));
    if (!had_old) return {};
    // Only root may give files away; anyone else keeps the new file.
    if (::fchown(file.get(), found.old->st_uid, found.old->st_gid) != 0) errno = 0;
    constexpr mode_t kPermissions = 0777;
    if (::fchmod(file.get(), found.old->st_mode & kPermissions) != 0) return fail("cannot set its mode");
    return {};
  }
};

OutputFile::OutputFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  if (path == "-") {
    impl->name = "(standard output)";
    impl->file = detail::FileDescriptor(STDOUT_FILENO);
    return OutputFile{std::move(impl)};
  }
  impl->name = path;
  const Place place = find_place(path);
  if (place.old && S_ISDIR(place.old->st_mode)) return impl->refuse("is a directory, expected the name of a file");
  const bool is_at_once = place.is_open_file || (place.old && !S_ISREG(place.old->st_mode));
  const Result<void> opened = is_at_once ? impl->open_at_once(place) : impl->open_beside(place);
  if (!opened) return tl::unexpected(opened.error());
  return OutputFile{std::move(impl)};
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  Impl& impl = *impl_;
  if (impl.failure) return tl::unexpected(*impl.failure);
  if (impl.closed) return impl.refuse("already closed, nothing more can be written");
  while (!bytes.empty()) {
    const ssize_t count = ::write(impl.file.get(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      // Another user of the descriptor has made it non-blocking.
      pollfd ready{impl.file.get(), POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return impl.fail("cannot write");
    }
  }
  return {};
}

Result<void> OutputFile::close() {
  Impl& impl = *impl_;
  if (impl.failure) return tl::unexpected(*impl.failure);
  if (impl.closed) return {};
  impl.closed = true;
  // Network file systems report a full disk only here. Standard streams stay open for others.
  if (impl.file.get() > STDERR_FILENO && ::close(impl.file.release()) != 0) return impl.fail("cannot close");
  if (impl.partial.empty()) return {};
  if (::rename(impl.partial.c_str(), impl.place.c_str()) != 0) return impl.fail("cannot be put in its place");
  forget(impl.partial.c_str());
  impl.partial.clear();
  return {};
}

void OutputFile::remove_unfinished() noexcept {
  for (const std::atomic<const char*>& place : unfinished) {
    if (const char* name = place.load()) ::unlink(name);
  }
}

}  // namespace roce::link
