// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/ranks/job_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "roce/link/output_file.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kShare = "roce share 1\n";

/// Returns the bytes of a file; nothing if it cannot be read.
std::optional<std::string> bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

/// Returns why a file cannot be written; empty if it was.
std::string write_whole(const std::string& path, std::string_view bytes) {
  auto file = link::OutputFile::create(path);
  if (!file) return file.error().message;
  if (const auto written = file->write(std::as_bytes(std::span{bytes})); !written) return written.error().message;
  if (const auto closed = file->close(); !closed) return closed.error().message;
  return {};
}

/// Returns the first line in which two texts differ, of each.
std::pair<std::string, std::string> first_difference(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return std::string{line.empty() ? "nothing more" : line};
  };
  while (true) {
    std::pair lines{next(a), next(b)};
    if (lines.first != lines.second || (a.empty() && b.empty())) return lines;
  }
}

}  // namespace

std::uint64_t digest_of(std::string_view bytes) {
  std::uint64_t digest = 0xCBF2'9CE4'8422'2325;
  for (const char each : bytes) digest = (digest ^ static_cast<unsigned char>(each)) * 0x100'0000'01B3;
  return digest;
}

JobState::~JobState() {
  if (lock_ >= 0) ::close(lock_);
}

std::string JobState::path_of(unsigned share) const {
  return fmt::format("{}/share-{}", folder_, share);
}

std::vector<unsigned> JobState::missing() const {
  std::vector<unsigned> missing;
  for (unsigned share = 1; share < shares_; ++share) {
    try {
      static_cast<void>(load(share));
    } catch (const std::runtime_error&) {
      missing.push_back(share);
    }
  }
  return missing;
}

std::string JobState::claim(const std::string& job) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return fmt::format("the folder {} cannot be made: {}", folder_, error.message());
  const std::string lock = folder_ + "/lock";
  lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) return fmt::format("{} cannot be written: {}", lock, std::strerror(errno));
  // The end of the process, whatever it is, ends the lock.
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fmt::format("{} cannot be locked: {}", lock, std::strerror(errno));
    return fmt::format("another job works in {}: wait for it, or give another --state", folder_);
  }
  const std::string path = folder_ + "/job";
  const std::optional<std::string> earlier = bytes_of(path);
  if (!earlier) return write_whole(path, job);
  if (*earlier == job) return {};
  const auto [expected, found] = first_difference(job, *earlier);
  return fmt::format("{} is of another job: expected {}, found {}; give another --state, or remove it", folder_,
                     expected, found);
}

void JobState::save(unsigned share, std::string_view packed) const {
  const std::uint64_t digest = digest_of(packed);
  std::string bytes{kShare};
  bytes.append(reinterpret_cast<const char*>(&digest), sizeof(digest));
  bytes.append(packed);
  if (const std::string why = write_whole(path_of(share), bytes); !why.empty()) throw std::runtime_error(why);
}

std::string JobState::load(unsigned share) const {
  std::optional<std::string> bytes = bytes_of(path_of(share));
  std::uint64_t digest = 0;
  constexpr std::size_t kHeader = kShare.size() + sizeof(digest);
  if (bytes && bytes->size() >= kHeader && bytes->starts_with(kShare)) {
    std::memcpy(&digest, bytes->data() + kShare.size(), sizeof(digest));
    bytes->erase(0, kHeader);
    if (digest_of(*bytes) == digest) return *std::move(bytes);
  }
  throw std::runtime_error(
      fmt::format("{} is {}: start the job again, which makes it anew", path_of(share), bytes ? "damaged" : "missing"));
}

}  // namespace roce::analyze
