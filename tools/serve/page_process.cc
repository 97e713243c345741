// SPDX-License-Identifier: BSD-2-Clause
#include "serve/page_process.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <string_view>
#include <utility>

namespace roce::serve {

namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

PageProcess::~PageProcess() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  forget();
}

bool PageProcess::begin(const std::function<std::string()>& make) {
  page_ = ::memfd_create("page", MFD_CLOEXEC);
  if (page_ < 0) return false;
  child_ = ::fork();
  if (child_ == 0) {
    // Nobody waits for the page of a program that was killed.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool is_made = false;
    try {
      is_made = write_all(page_, make());
    } catch (const std::exception&) {
      // Out of memory: the page is not made, and the parent goes on.
    }
    ::_exit(is_made ? 0 : 1);
  }
  if (child_ > 0) ended_ = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
  if (ended_ >= 0) return true;
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  forget();
  return false;
}

std::optional<int> PageProcess::take() {
  int status = 0;
  if (::waitpid(child_, &status, 0) != child_ || status != 0) {
    forget();
    return std::nullopt;
  }
  const int page = std::exchange(page_, -1);
  forget();
  return page;
}

void PageProcess::forget() {
  if (ended_ >= 0) ::close(std::exchange(ended_, -1));
  if (page_ >= 0) ::close(std::exchange(page_, -1));
  child_ = -1;
}

}  // namespace roce::serve
