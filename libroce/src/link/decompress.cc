// SPDX-License-Identifier: BSD-2-Clause
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "link/byte_source.h"

namespace roce::link::detail {

namespace {

constexpr std::size_t kInputBytes = 128 << 10;
constexpr unsigned kGzipMagicFirst = 0x1F;

// The input side that both decompressors share: a buffer, refilled from the source only when the decompressor has used
// all of it and has no output left, so that data of a slow pipe comes through at once.
class Decompressor : public ByteSource {
 public:
  explicit Decompressor(std::unique_ptr<ByteSource> source) : source_(std::move(source)), input_(kInputBytes) {}

  std::uint64_t position() const override { return source_->position() - left_.size(); }
  std::string end_note() const override { return note_; }
  bool is_cut() const override { return is_cut_; }

 protected:
  tl::expected<bool, std::string> refill() {
    const auto got = source_->read(input_);
    if (!got) return tl::unexpected(got.error());
    left_ = std::span(input_).first(*got);
    return *got > 0;
  }
  [[nodiscard]] std::string at_input() const { return " at compressed byte " + std::to_string(position()); }

  void note_cut() {
    is_cut_ = true;
    note_ = "the compressed data ends early," + at_input() + "; the file was cut";
  }
  void note_trailing() { note_ = "something that is not compressed data follows" + at_input() + "; it was ignored"; }

  std::span<const std::byte> left_;  // the unused rest of the input buffer
  bool ended_ = false;

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> input_;
  std::string note_;
  bool is_cut_ = false;
};

class GzipSource final : public Decompressor {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source) : Decompressor(std::move(source)) {
    constexpr int kGzipOnly = 15 + 16;  // window bits, plus 16 for a gzip header
    usable_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~GzipSource() override {
    if (usable_) inflateEnd(&stream_);
  }

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    if (!usable_) return tl::unexpected(std::string("cannot start zlib: out of memory?"));
    if (damage_) return tl::unexpected(*damage_);
    while (!ended_) {
      if (left_.empty() && !output_pending_) {
        const auto more = refill();
        if (!more) return tl::unexpected(more.error());
        if (!*more) {
          if (!between_members_) note_cut();
          break;
        }
      }
      if (between_members_ && !left_.empty()) {
        if (members_ > 0 && std::to_integer<unsigned>(left_.front()) != kGzipMagicFirst) {
          note_trailing();
          break;
        }
        inflateReset(&stream_);
        between_members_ = false;
      }
      auto made = inflate_into(out);
      if (!made || *made > 0) return made;
    }
    ended_ = true;
    return 0;
  }

 private:
  tl::expected<std::size_t, std::string> inflate_into(std::span<std::byte> out) {
    // zlib takes the input by a pointer to non-const, but does not write to it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(left_.data()));
    stream_.avail_in = static_cast<uInt>(left_.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30));
    const uInt room = stream_.avail_out;
    const int status = inflate(&stream_, Z_SYNC_FLUSH);
    left_ = left_.last(stream_.avail_in);
    output_pending_ = stream_.avail_out == 0 && status == Z_OK;
    if (status == Z_STREAM_END) {
      between_members_ = true;
      ++members_;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      damage_ = "damaged gzip data" + at_input() + ": " + (stream_.msg != nullptr ? stream_.msg : "cannot decompress");
      // The output from before the damage is good.
      if (stream_.avail_out == room) return tl::unexpected(*damage_);
    }
    return room - stream_.avail_out;
  }

  z_stream stream_{};
  bool usable_ = false;
  bool between_members_ = true;
  bool output_pending_ = false;
  std::uint64_t members_ = 0;
  std::optional<std::string> damage_;
};

class ZstdSource final : public Decompressor {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : Decompressor(std::move(source)), stream_(ZSTD_createDStream()) {
    if (stream_ != nullptr) start_bytes_ = wanted_bytes_ = ZSTD_initDStream(stream_);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  tl::expected<std::size_t, std::string> read(std::span<std::byte> out) override {
    if (stream_ == nullptr) return tl::unexpected(std::string("cannot start libzstd: out of memory?"));
    while (!ended_) {
      if (left_.empty() && !output_pending_) {
        const auto more = refill();
        if (!more) return tl::unexpected(more.error());
        if (!*more) {
          if (!between_frames_) note_cut();
          break;
        }
      }
      // A call that fails keeps back everything that it decompressed, so each call gets one block.
      ZSTD_inBuffer input{left_.data(), std::min(left_.size(), wanted_bytes_), 0};
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      const std::size_t hint = ZSTD_decompressStream(stream_, &output, &input);
      if (ZSTD_isError(hint) != 0) {
        if (between_frames_ && frames_ > 0 && ZSTD_getErrorCode(hint) == ZSTD_error_prefix_unknown) {
          note_trailing();
          break;
        }
        return tl::unexpected("damaged zstd data" + at_input() + ": " + ZSTD_getErrorName(hint));
      }
      left_ = left_.subspan(input.pos);
      output_pending_ = output.pos == output.size && hint != 0;
      wanted_bytes_ = hint == 0 ? start_bytes_ : hint;
      between_frames_ = hint == 0;
      frames_ += between_frames_ ? 1 : 0;
      if (output.pos > 0) return output.pos;
    }
    ended_ = true;
    return 0;
  }

 private:
  ZSTD_DStream* stream_;
  std::size_t start_bytes_ = 0;
  std::size_t wanted_bytes_ = 0;
  bool between_frames_ = true;
  bool output_pending_ = false;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<GzipSource>(std::move(compressed));
}

std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<ZstdSource>(std::move(compressed));
}

}  // namespace roce::link::detail
