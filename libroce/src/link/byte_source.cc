// SPDX-License-Identifier: BSD-2-Clause
#include "link/byte_source.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace roce::link::detail {

namespace {

constexpr std::size_t kMagicBytes = 4;

class DescriptorSource final : public ByteSource {
 public:
  explicit DescriptorSource(FileDescriptor fd) : fd_(std::move(fd)) {}

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), out.data(), out.size());
      if (got >= 0) {
        position_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return tl::unexpected("cannot read: " + std::string(std::strerror(errno)));
    }
  }
  std::uint64_t position() const override { return position_; }

 private:
  FileDescriptor fd_;
  std::uint64_t position_ = 0;
};

class FileSource final : public ByteSource {
 public:
  FileSource(FileDescriptor fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - position_));
    if (wanted == 0) return 0;
    ssize_t got = 0;
    do {
      got = ::pread(fd_.get(), out.data(), wanted, static_cast<off_t>(position_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return tl::unexpected("cannot read: " + std::string(std::strerror(errno)));
    struct stat status {};
    const bool is_known = ::fstat(fd_.get(), &status) == 0;
    const std::uint64_t left = is_known ? static_cast<std::uint64_t>(status.st_size) : position_;
    // Checked after the read: if the file was emptied and rewritten, even the bytes just read may be new.
    if (got == 0 || left < size_) {
      return tl::unexpected("the file was cut while it was read: it had " + std::to_string(size_) +
                            " bytes when it was opened, it has " + std::to_string(left) +
                            "; read a copy that nobody writes to");
    }
    position_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  std::uint64_t position() const override { return position_; }

 private:
  FileDescriptor fd_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

class FollowedSource final : public ByteSource {
 public:
  FollowedSource(FileDescriptor fd, bool is_regular, WaitForMore wait)
      : fd_(std::move(fd)), is_regular_(is_regular), wait_(std::move(wait)) {}

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    for (;;) {
      if (is_regular_ || is_readable()) {
        const ssize_t got = is_regular_ ? ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(position_))
                                        : ::read(fd_.get(), out.data(), out.size());
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
          return tl::unexpected("cannot read: " + std::string(std::strerror(errno)));
        }
        if (const auto shorter = why_shorter()) return tl::unexpected(*shorter);
        if (got > 0) {
          position_ += static_cast<std::uint64_t>(got);
          return static_cast<std::size_t>(got);
        }
        if (got == 0 && (!is_regular_ || is_removed())) return 0;
      }
      if (!wait_(is_regular_ ? -1 : fd_.get())) return 0;
    }
  }
  std::uint64_t position() const override { return position_; }

 private:
  [[nodiscard]] bool is_readable() const {
    pollfd state{fd_.get(), POLLIN, 0};
    return ::poll(&state, 1, 0) > 0;
  }
  [[nodiscard]] bool is_removed() const {
    struct stat status {};
    return ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 0;
  }
  [[nodiscard]] std::optional<std::string> why_shorter() const {
    struct stat status {};
    if (!is_regular_ || ::fstat(fd_.get(), &status) != 0) return std::nullopt;
    const auto left = static_cast<std::uint64_t>(status.st_size);
    if (left >= position_) return std::nullopt;
    return "the file was cut while it was followed: " + std::to_string(position_) + " bytes of it were read, it has " +
           std::to_string(left);
  }

  FileDescriptor fd_;
  bool is_regular_;
  WaitForMore wait_;
  std::uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - position_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, out.begin());
    position_ += count;
    return count;
  }
  std::uint64_t position() const override { return position_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

// Gives out again the bytes that were read to recognise the format.
class PeekedSource final : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  tl::expected<std::span<const std::byte>, std::string> peek() {
    while (size_ < kMagicBytes) {
      const auto got = source_->read(std::span(bytes_).subspan(size_));
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      size_ += *got;
    }
    return std::span(bytes_).first(size_);
  }

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    if (given_ == size_) return source_->read(out);
    const std::size_t count = std::min(out.size(), size_ - given_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(given_), count, out.begin());
    given_ += count;
    return count;
  }
  std::uint64_t position() const override { return source_->position(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::array<std::byte, kMagicBytes> bytes_{};
  std::size_t size_ = 0;
  std::size_t given_ = 0;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

std::unique_ptr<ByteSource> make_file_source(FileDescriptor fd, std::uint64_t size) {
  return std::make_unique<FileSource>(std::move(fd), size);
}

std::unique_ptr<ByteSource> make_descriptor_source(FileDescriptor fd) {
  return std::make_unique<DescriptorSource>(std::move(fd));
}

std::unique_ptr<ByteSource> make_followed_source(FileDescriptor fd, WaitForMore wait) {
  struct stat status {};
  const bool is_regular = ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
  return std::make_unique<FollowedSource>(std::move(fd), is_regular, std::move(wait));
}

std::unique_ptr<ByteSource> make_memory_source(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Codec sniff_codec(std::span<const std::byte> start) {
  if (start.size() < kMagicBytes) return Codec::none;
  const auto byte = [start](std::size_t index) { return std::to_integer<unsigned>(start[index]); };
  if (byte(0) == 0x1F && byte(1) == 0x8B) return Codec::gzip;
  if (byte(0) == 0x28 && byte(1) == 0xB5 && byte(2) == 0x2F && byte(3) == 0xFD) return Codec::zstd;
  const bool skippable_frame = (byte(0) & 0xF0) == 0x50 && byte(1) == 0x2A && byte(2) == 0x4D && byte(3) == 0x18;
  return skippable_frame ? Codec::zstd : Codec::none;
}

tl::expected<std::pair<std::unique_ptr<ByteSource>, Codec>, std::string> open_decompressed(
    std::unique_ptr<ByteSource> source) {
  auto peeked = std::make_unique<PeekedSource>(std::move(source));
  const auto start = peeked->peek();
  if (!start) return tl::unexpected(start.error());
  const Codec codec = sniff_codec(*start);
  switch (codec) {
    case Codec::gzip:
      return std::pair(make_gzip_source(std::move(peeked)), codec);
    case Codec::zstd:
      return std::pair(make_zstd_source(std::move(peeked)), codec);
    case Codec::none:
      break;
  }
  return std::pair<std::unique_ptr<ByteSource>, Codec>(std::move(peeked), codec);
}

}  // namespace roce::link::detail
