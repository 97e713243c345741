// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "roce/link/file_descriptor.h"
#include "roce/link/link.h"

namespace roce::link::detail {

/// Passes bytes through a stream socket or two pipes, without waiting.
class StreamChannel {
 public:
  /// Takes over the files, which may be the same one. Error, about `name`: they do not belong to a stream.
  [[nodiscard]] static LinkResult<StreamChannel> open(int receive_fd, int send_fd, const std::string& name);

  /// Returns a descriptor that is readable when something can be read, when `output` was not written whole and there is
  /// room again, and while there is more to look at (`set_more`).
  [[nodiscard]] int fd() const { return ready_.get(); }
  /// Reads some of the bytes that are there.
  void fill();
  /// Returns the bytes that were read and not taken; valid until `fill` or `discard_taken`.
  [[nodiscard]] std::span<const std::byte> input() const { return std::span{input_}.subspan(taken_); }
  /// Marks the first `count` bytes of `input` as done with; they stay where they are until `discard_taken`.
  void take(std::size_t count) { taken_ += count; }
  void discard_taken();
  /// Notes whether `input` has something that was not looked at.
  void set_more(bool more);
  /// Returns the buffer of bytes to be written: append to it, then `flush`.
  [[nodiscard]] std::vector<std::byte>& output() { return output_; }
  /// Writes as much as there is room for. Once the other end is gone, everything is thrown away.
  void flush();
  /// True if the other end no longer takes or sends anything; `input` may still have what it sent before.
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  StreamChannel() = default;
  void want_room(bool wanted);

  FileDescriptor receive_;
  FileDescriptor send_;  // none: `receive_` serves both ways
  FileDescriptor ready_;
  FileDescriptor more_;  // readable while `has_more_`
  bool has_more_ = false;
  bool is_socket_ = false;
  bool wants_room_ = false;
  bool closed_ = false;
  std::vector<std::byte> input_;
  std::size_t taken_ = 0;
  std::vector<std::byte> output_;
};

}  // namespace roce::link::detail
