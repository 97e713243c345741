// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/counter_part.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>

#include "roce/link/file_descriptor.h"

namespace roce::verbs {

static_assert(sizeof(transport::Counters) <= sizeof(CounterPage::Part));

CounterPart::CounterPart(const std::string& file, std::uint8_t part) {
  if (file.empty()) return;
  const link::FileDescriptor opened{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  struct stat found {};
  if (!opened || ::fstat(opened.get(), &found) != 0 || found.st_size != sizeof(CounterPage)) return;
  void* const mapped = ::mmap(nullptr, sizeof(CounterPage), PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0);
  if (mapped == MAP_FAILED) return;
  page_ = static_cast<CounterPage*>(mapped);
  part_ = &page_->parts.at(part);
}

CounterPart::~CounterPart() {
  if (page_ != nullptr) (void)::munmap(page_, sizeof *page_);
}

void CounterPart::publish(const transport::Counters& counters) {
  if (part_ == nullptr) return;
  const auto names = transport::counter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t counted = counters.*names[i].member;
    // Added, because processes in two network namespaces may have the same part of one tree.
    std::atomic_ref{(*part_)[i]}.fetch_add(counted - published_[i], std::memory_order_relaxed);
    published_[i] = counted;
  }
}

}  // namespace roce::verbs
