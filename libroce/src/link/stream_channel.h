// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "link/file_descriptor.h"
#include "roce/link/link.h"

namespace roce::link::detail {

/// Bytes through a stream socket or two pipes, without waiting.
class StreamChannel {
 public:
  /// Takes the files over; they may be the same. Error, about `name`: they are none of a stream.
  [[nodiscard]] static LinkResult<StreamChannel> open(int receive_fd, int send_fd, const std::string& name);

  /// Readable when something can be read, when `output` was not written whole and there is room again, and while there
  /// is more to look at (`set_more`).
  [[nodiscard]] int fd() const { return ready_.get(); }
  /// Reads some of what is there.
  void fill();
  /// What was read and not taken; valid until `fill` or `discard_taken`.
  [[nodiscard]] std::span<const std::byte> input() const { return std::span{input_}.subspan(taken_); }
  /// The first `count` bytes of `input` are done with; they stay where they are until `discard_taken`.
  void take(std::size_t count) { taken_ += count; }
  void discard_taken();
  /// Whether `input` has something that was not looked at.
  void set_more(bool more);
  /// What is to be written: append to it, then `flush`.
  [[nodiscard]] std::vector<std::byte>& output() { return output_; }
  /// Writes what there is room for. Once the other end is gone everything is thrown away.
  void flush();
  /// The other end takes or sends nothing any more; `input` may still have what it sent before.
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  StreamChannel() = default;
  void want_room(bool wanted);

  FileDescriptor receive_;
  FileDescriptor send_;  // none: `receive_` is both
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
