// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/paths/counter_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs/counters/counter_page.h"

namespace roce::verbs {

namespace {

constexpr const char* kDevices = "/sys/class/infiniband/";
constexpr const char* kPort = "/ports/1/";

/// Returns what is behind `start` in `text`; null if it does not begin like that.
[[nodiscard]] const char* behind(const char* text, const char* start) {
  const size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : nullptr;
}

/// Maps the page of counters in a file, for reading; null if there is none.
[[nodiscard]] CounterPage* map_page(const char* file) {
  // Not by `open`, which is ours and would come back here.
  const int descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC));
  if (descriptor < 0) return nullptr;
  struct stat found {};
  void* mapped = MAP_FAILED;
  if (fstat(descriptor, &found) == 0 && found.st_size == sizeof(CounterPage)) {
    mapped = mmap(nullptr, sizeof(CounterPage), PROT_READ, MAP_SHARED, descriptor, 0);
  }
  close(descriptor);
  return mapped == MAP_FAILED ? nullptr : static_cast<CounterPage*>(mapped);
}

/// Finds the number that a counter of a page shows. False: there is no such counter.
[[nodiscard]] bool find_value(CounterPage& page, const char* counter, unsigned long& value) {
  for (const CounterPage::Name& name : page.names) {
    if (name.path[0] == '\0' || strncmp(name.path.data(), counter, name.path.size()) != 0) continue;
    if (name.counter >= CounterPage::kCounters || name.unit == 0) return false;
    value = page.value(name);
    return true;
  }
  return false;
}

}  // namespace

CounterFile::CounterFile(const char* root, const char* path) : path_(path) {
  if (root == nullptr || path == nullptr) return;
  const char* const in_tree = behind(path, root);
  const char* const device = in_tree == nullptr ? nullptr : behind(in_tree, kDevices);
  const char* const end = device == nullptr ? nullptr : strstr(device, kPort);
  if (end == nullptr) return;
  const int saved = errno;
  char file[PATH_MAX];
  const int length =
      snprintf(file, sizeof file, "%s%s%.*s", root, kCounterFolder, static_cast<int>(end - device), device);
  CounterPage* const page = length > 0 && static_cast<size_t>(length) < sizeof file ? map_page(file) : nullptr;
  unsigned long value = 0;
  if (page != nullptr && find_value(*page, end + strlen(kPort), value)) {
    char text[24];
    const int size = snprintf(text, sizeof text, "%lu\n", value);
    descriptor_ = memfd_create("roce-counter", MFD_CLOEXEC);
    if (descriptor_ >= 0 && write(descriptor_, text, static_cast<size_t>(size)) == size) {
      snprintf(own_, sizeof own_, "/proc/self/fd/%d", descriptor_);
      path_ = own_;
    }
  }
  if (page != nullptr) munmap(page, sizeof *page);
  errno = saved;
}

CounterFile::~CounterFile() {
  if (descriptor_ < 0) return;
  const int saved = errno;
  close(descriptor_);
  errno = saved;
}

}  // namespace roce::verbs
