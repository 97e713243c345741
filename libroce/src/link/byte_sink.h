// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "roce/link/output_file.h"

namespace roce::link::detail {

/// Takes a stream of bytes. An error is a text that names what failed.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  /// Takes all of `bytes`; may buffer them.
  [[nodiscard]] virtual tl::expected<void, std::string> write(std::span<const std::byte> bytes) = 0;

  /// Passes on everything taken so far, complete enough to be read.
  [[nodiscard]] virtual tl::expected<void, std::string> flush() = 0;

  /// Ends the stream; called once, as the last call.
  [[nodiscard]] virtual tl::expected<void, std::string> close() = 0;
};

/// Makes a sink that writes to a file at once; its errors name the file.
[[nodiscard]] std::unique_ptr<ByteSink> make_file_sink(OutputFile file);

[[nodiscard]] std::unique_ptr<ByteSink> make_gzip_sink(std::unique_ptr<ByteSink> compressed);
[[nodiscard]] std::unique_ptr<ByteSink> make_zstd_sink(std::unique_ptr<ByteSink> compressed);

}  // namespace roce::link::detail
