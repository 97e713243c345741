// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "columns/batch.h"

namespace roce::columns {

/// Takes the next bytes of a file. Whoever gives it keeps what went wrong.
using Sink = std::function<void(std::span<const std::byte>)>;

/// Writes a table in one format, as it comes.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  /// Writes the rows of a batch, whose columns are the same in each call.
  virtual void write(const Batch& batch) = 0;
  /// Writes the end of the file.
  virtual void finish() = 0;
};

}  // namespace roce::columns
