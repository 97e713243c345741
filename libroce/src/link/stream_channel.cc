// SPDX-License-Identifier: BSD-2-Clause
#include "link/stream_channel.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "link/link_failure.h"

namespace roce::link::detail {

namespace {

constexpr std::size_t kReadBytes = 64 << 10;
/// The most that one `fill` reads.
constexpr std::size_t kMaxFill = 1 << 20;

[[nodiscard]] bool is_kind(int fd, mode_t kind) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

[[nodiscard]] bool is_stream_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return is_kind(fd, S_IFSOCK) && ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

[[nodiscard]] bool stop_waiting(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

[[nodiscard]] bool add(const FileDescriptor& to, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  return ::epoll_ctl(to.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

LinkResult<StreamChannel> StreamChannel::open(int receive_fd, int send_fd, const std::string& name) {
  StreamChannel channel;
  channel.receive_ = FileDescriptor{receive_fd};
  if (send_fd != receive_fd) channel.send_ = FileDescriptor{send_fd};
  channel.is_socket_ = send_fd == receive_fd && is_stream_socket(receive_fd);
  const bool are_pipes = send_fd != receive_fd && is_kind(receive_fd, S_IFIFO) && is_kind(send_fd, S_IFIFO);
  if (!channel.is_socket_ && !are_pipes) {
    return tl::unexpected(LinkError{"cannot open the stream link " + name +
                                    ": it is neither a connected stream socket nor two pipes; give it one of these"});
  }
  channel.ready_ = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
  channel.more_ = FileDescriptor{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!channel.ready_ || !channel.more_ || !add(channel.ready_, channel.more_.get(), EPOLLIN) ||
      !stop_waiting(receive_fd) || !stop_waiting(send_fd) || !add(channel.ready_, receive_fd, EPOLLIN) ||
      (are_pipes && !add(channel.ready_, send_fd, 0))) {
    return link_failure("cannot open the stream link " + name, errno, "raise the limit of open files (ulimit -n)", "");
  }
  return channel;
}

void StreamChannel::fill() {
  std::size_t filled = 0;
  while (!closed_ && filled < kMaxFill) {
    const std::size_t before = input_.size();
    input_.resize(before + kReadBytes);
    const ssize_t got = ::read(receive_.get(), input_.data() + before, kReadBytes);
    const int error = errno;
    input_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (got < 0 && error == EAGAIN) {
      return;
    } else if (got == 0 || error != EINTR) {
      closed_ = true;
    }
  }
}

void StreamChannel::discard_taken() {
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
}

void StreamChannel::set_more(bool more) {
  if (more == has_more_) return;
  has_more_ = more;
  eventfd_t count = 1;
  (void)(more ? ::eventfd_write(more_.get(), count) : ::eventfd_read(more_.get(), &count));
}

void StreamChannel::flush() {
  std::size_t written = 0;
  const int to = send_ ? send_.get() : receive_.get();
  bool is_gone = false;
  while (written < output_.size()) {
    const std::byte* from = output_.data() + written;
    const std::size_t left = output_.size() - written;
    const ssize_t result = is_socket_ ? ::send(to, from, left, MSG_NOSIGNAL) : ::write(to, from, left);
    if (result > 0) {
      written += static_cast<std::size_t>(result);
    } else if (errno != EINTR) {
      is_gone = errno != EAGAIN;
      break;
    }
  }
  if (is_gone) {
    // The data that the other end sent before it went can still be read.
    fill();
    closed_ = true;
    written = output_.size();
  }
  output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(written));
  want_room(!output_.empty());
}

void StreamChannel::want_room(bool wanted) {
  if (wanted == wants_room_) return;
  epoll_event event{};
  event.events =
      (send_ ? 0U : static_cast<std::uint32_t>(EPOLLIN)) | (wanted ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  if (::epoll_ctl(ready_.get(), EPOLL_CTL_MOD, send_ ? send_.get() : receive_.get(), &event) == 0) wants_room_ = wanted;
}

}  // namespace roce::link::detail
