// SPDX-License-Identifier: BSD-2-Clause
#include "link/byte_window.h"

#include <algorithm>
#include <cstring>

namespace roce::link::detail {

namespace {

// Measured: with 256 KiB each byte costs half as much again, and more than this gains nothing.
constexpr std::size_t kInitialCapacity = 1 << 20;

}  // namespace

CaptureCursor ByteWindow::begin() const {
  return {whole_.data(), whole_.data() + whole_.size(), reinterpret_cast<std::uintptr_t>(whole_.data())};
}

void ByteWindow::make_room(CaptureCursor& cursor, std::size_t count) {
  const std::size_t kept = cursor.available();
  const std::uint64_t offset = cursor.offset();
  // Growing only when the buffer is full of wanted bytes keeps memory within twice what the file really has, whatever
  // length a damaged header claims.
  if (kept == capacity_) {
    const std::size_t capacity = std::max(kInitialCapacity, std::min(count, 2 * capacity_));
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (kept > 0) std::memcpy(larger.get(), cursor.next, kept);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else if (kept > 0 && cursor.next != buffer_.get()) {
    std::memmove(buffer_.get(), cursor.next, kept);
  }
  cursor.next = buffer_.get();
  cursor.end = cursor.next + kept;
  cursor.origin = reinterpret_cast<std::uintptr_t>(cursor.next) - offset;
}

bool ByteWindow::fill(CaptureCursor& cursor, std::size_t count) {
  while (cursor.available() < count) {
    if (source_ == nullptr || ended_) return false;
    const auto room = [&] { return static_cast<std::size_t>(buffer_.get() + capacity_ - cursor.end); };
    const bool fits = buffer_ != nullptr && static_cast<std::size_t>(buffer_.get() + capacity_ - cursor.next) >= count;
    if (!fits || room() == 0) make_room(cursor, count);
    // `end` points into buffer_, which is ours to write to.
    const auto got = source_->read({buffer_.get() + (cursor.end - buffer_.get()), room()});
    if (!got || *got == 0) {
      ended_ = true;
      if (!got) failure_ = got.error();
      return false;
    }
    cursor.end += *got;
  }
  return true;
}

bool ByteWindow::discard(CaptureCursor& cursor, std::uint64_t count) {
  for (;;) {
    const std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(cursor.available(), count));
    cursor.next += step;
    count -= step;
    if (count == 0) return true;
    if (!fill(cursor, 1)) return false;
  }
}

}  // namespace roce::link::detail
