// SPDX-License-Identifier: BSD-2-Clause
#include "link/byte_sink.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace roce::link::detail {

namespace {

using Status = tl::expected<void, std::string>;

constexpr std::size_t kOutputBytes = 128 << 10;

class FileSink final : public ByteSink {
 public:
  explicit FileSink(OutputFile file) : file_(std::move(file)) {}

  Status write(std::span<const std::byte> bytes) override { return text_of(file_.write(bytes)); }
  Status flush() override { return {}; }
  Status close() override { return text_of(file_.close()); }

 private:
  static Status text_of(const Result<void>& result) {
    if (result) return {};
    return tl::unexpected(result.error().message);
  }

  OutputFile file_;
};

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)), output_(kOutputBytes) {
    constexpr int kGzip = 15 + 16;  // window bits, plus 16 for a gzip header
    constexpr int kMemoryLevel = 8;
    usable_ =
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override {
    if (usable_) deflateEnd(&stream_);
  }

  Status write(std::span<const std::byte> bytes) override {
    constexpr std::size_t kMostAtOnce = 1U << 30;
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), kMostAtOnce));
      if (auto status = run(part, Z_NO_FLUSH); !status) return status;
      bytes = bytes.subspan(part.size());
    }
    return {};
  }
  Status flush() override {
    if (auto status = run({}, Z_SYNC_FLUSH); !status) return status;
    return sink_->flush();
  }
  Status close() override {
    if (auto status = run({}, Z_FINISH); !status) return status;
    return sink_->close();
  }

 private:
  Status run(std::span<const std::byte> bytes, int mode) {
    if (!usable_) return tl::unexpected(std::string("cannot start zlib: out of memory?"));
    // zlib takes the input by a pointer to non-const, but does not write to it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      // Z_BUF_ERROR only means that there was nothing to do.
      if (deflate(&stream_, mode) == Z_STREAM_ERROR) return tl::unexpected(std::string("zlib failed to compress"));
      const auto made = std::span(output_).first(output_.size() - stream_.avail_out);
      if (auto status = sink_->write(made); !status) return status;
    } while (stream_.avail_out == 0);
    return {};
  }

  std::unique_ptr<ByteSink> sink_;
  std::vector<std::byte> output_;
  z_stream stream_{};
  bool usable_ = false;
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> sink)
      : sink_(std::move(sink)), output_(kOutputBytes), stream_(ZSTD_createCStream()) {}
  ~ZstdSink() override { ZSTD_freeCStream(stream_); }

  Status write(std::span<const std::byte> bytes) override { return run(bytes, ZSTD_e_continue); }
  Status flush() override {
    if (auto status = run({}, ZSTD_e_flush); !status) return status;
    return sink_->flush();
  }
  Status close() override {
    if (auto status = run({}, ZSTD_e_end); !status) return status;
    return sink_->close();
  }

 private:
  Status run(std::span<const std::byte> bytes, ZSTD_EndDirective mode) {
    if (stream_ == nullptr) return tl::unexpected(std::string("cannot start libzstd: out of memory?"));
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer output{output_.data(), output_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &output, &input, mode);
      if (ZSTD_isError(left) != 0) return tl::unexpected("libzstd failed: " + std::string(ZSTD_getErrorName(left)));
      if (auto status = sink_->write(std::span(output_).first(output.pos)); !status) return status;
      if (mode == ZSTD_e_continue ? input.pos == input.size : left == 0) return {};
    }
  }

  std::unique_ptr<ByteSink> sink_;
  std::vector<std::byte> output_;
  ZSTD_CStream* stream_;
};

}  // namespace

std::unique_ptr<ByteSink> make_file_sink(OutputFile file) {
  return std::make_unique<FileSink>(std::move(file));
}

std::unique_ptr<ByteSink> make_gzip_sink(std::unique_ptr<ByteSink> compressed) {
  return std::make_unique<GzipSink>(std::move(compressed));
}

std::unique_ptr<ByteSink> make_zstd_sink(std::unique_ptr<ByteSink> compressed) {
  return std::make_unique<ZstdSink>(std::move(compressed));
}

}  // namespace roce::link::detail
