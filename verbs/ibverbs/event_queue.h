// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>

namespace roce::verbs {

/// True if a read of `fd` would not wait.
[[nodiscard]] bool is_readable(int fd);

/// A queue with a descriptor that counts its entries, so that a program can poll it and read it without waiting.
template <typename Entry>
class EventQueue {
 public:
  /// Throws std::system_error if there is no descriptor left.
  EventQueue() : fd_(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
  }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { ::close(fd_); }

  [[nodiscard]] int fd() const { return fd_; }

  void push(const Entry& entry) {
    const std::scoped_lock lock{mutex_};
    entries_.push_back(entry);
    (void)::eventfd_write(fd_, 1);
  }

  /// Waits for an entry, takes it and calls `taken` with it before another thread can remove entries. False, with errno
  /// set, if there is none and the program has made the descriptor non-blocking.
  template <typename Taken>
  [[nodiscard]] bool take(Taken&& taken) {
    while (true) {
      eventfd_t one = 0;
      if (::eventfd_read(fd_, &one) != 0) return false;
      const std::scoped_lock lock{mutex_};
      // Between the two lines before, another thread may have removed the entry.
      if (entries_.empty()) continue;
      taken(entries_.front());
      entries_.pop_front();
      return true;
    }
  }

  /// Removes the entries for which `is_meant` is true, then calls `removed` under the same lock.
  template <typename IsMeant, typename Removed>
  void remove(IsMeant&& is_meant, Removed&& removed) {
    const std::scoped_lock lock{mutex_};
    for (std::size_t count = std::erase_if(entries_, is_meant); count != 0; --count) {
      // A reader that already took the count of a removed entry finds the queue empty, and waits again.
      if (is_readable(fd_)) {
        eventfd_t one = 0;
        (void)::eventfd_read(fd_, &one);
      }
    }
    removed();
  }

 private:
  int fd_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace roce::verbs
