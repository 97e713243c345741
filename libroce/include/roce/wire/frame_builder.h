// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "roce/wire/bth.h"
#include "roce/wire/checksum.h"
#include "roce/wire/grh.h"
#include "roce/wire/header.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"

namespace roce {

/// Writes one frame front to back into the caller's buffer: headers in wire order, then the payload, then `finish()`,
/// which fills in the fields that follow from the rest. Allocates nothing.
///
///     FrameBuilder frame{buffer};
///     frame.add(ethernet).add(ipv4).add(udp).add(bth).add(reth).payload(data);
///     const Result<std::size_t> length = frame.finish();
class FrameBuilder {
 public:
  explicit FrameBuilder(std::span<std::byte> buffer) : buffer_(buffer) {}

  /// Appends a header. Its length, pad-count and checksum fields are filled in by `finish()`.
  template <HeaderType H>
  FrameBuilder& add(const H& header) {
    if (!room(kHeader<H>.id, kSize<H>)) return *this;
    write(header, buffer_.data() + size_);
    if constexpr (kHeader<H>.id == HeaderId::bth) bth_ = size_;
    if constexpr (is_enclosing<H>) {
      if (enclosing_count_ < enclosing_.size()) {
        enclosing_[enclosing_count_++] = {static_cast<std::uint32_t>(size_), static_cast<std::uint16_t>(kSize<H>),
                                          kHeader<H>.id};
      } else {
        error_ = {ParseReason::too_many_headers, kHeader<H>.id, static_cast<std::uint32_t>(size_), 0, 0};
      }
    }
    size_ += kSize<H>;
    if constexpr (detail::is_transport_header(kHeader<H>.id)) payload_ = size_;
    return *this;
  }

  /// Appends payload bytes; may be called again.
  FrameBuilder& payload(Bytes bytes) {
    if (!room(HeaderId::payload, bytes.size())) return *this;
    if (!bytes.empty()) std::memcpy(buffer_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
    return *this;
  }

  /// Appends pad and ICRC behind a BTH, and fills in pad count, lengths and IPv4 checksums. Returns the frame's
  /// length in bytes. Error: `truncated` at the header or payload that did not fit the buffer, or `too_many_headers`.
  [[nodiscard]] Result<std::size_t> finish() {
    const bool has_bth = bth_ != kNone;
    // W-PAD-1: zeros pad the payload to a multiple of 4 bytes.
    const std::size_t pad = has_bth ? (0 - (size_ - payload_)) & 3 : 0;
    if (has_bth && room(HeaderId::icrc, pad + 4)) {
      std::byte* bth = buffer_.data() + bth_;
      FieldOf<&Bth::pad_count>::set(bth, static_cast<std::uint8_t>(pad));
      std::memset(buffer_.data() + size_, 0, pad);
      size_ += pad + 4;
    }
    if (error_.reason != ParseReason::none) return tl::unexpected(error_);
    for (std::size_t i = 0; i < enclosing_count_; ++i) fill_length(enclosing_[i]);
    if (has_bth) store_icrc();
    return size_;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  template <typename H>
  static constexpr bool is_enclosing = kHeader<H>.id == HeaderId::ipv4 || kHeader<H>.id == HeaderId::ipv6 ||
                                       kHeader<H>.id == HeaderId::grh || kHeader<H>.id == HeaderId::udp;

  [[nodiscard]] bool room(HeaderId id, std::size_t needed) {
    if (needed <= buffer_.size() - size_) return true;
    if (error_.reason == ParseReason::none) {
      error_ = {ParseReason::truncated, id, static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(needed),
                static_cast<std::uint32_t>(buffer_.size() - size_)};
    }
    return false;
  }

  void fill_length(const Layer& layer) {
    std::byte* header = buffer_.data() + layer.offset;
    const auto length = static_cast<std::uint16_t>(size_ - layer.offset);
    switch (layer.id) {
      case HeaderId::ipv4: {
        // Summed before the length is stored: a load that spans two stores waits for both.
        const std::uint64_t sum = detail::word_sum(Bytes{header, kSize<Ipv4>}) - FieldOf<&Ipv4::checksum>::get(header) -
                                  FieldOf<&Ipv4::total_length>::get(header) + length;
        FieldOf<&Ipv4::total_length>::set(header, length);
        FieldOf<&Ipv4::checksum>::set(header, detail::fold_checksum(sum));
        return;
      }
      case HeaderId::udp:
        FieldOf<&Udp::length>::set(header, length);
        return;
      default:
        FieldOf<&Ipv6::payload_length>::set(header, static_cast<std::uint16_t>(length - kSize<Ipv6>));
        return;
    }
  }

  void store_icrc() {
    // The ICRC begins at the innermost IP header or GRH.
    for (std::size_t i = enclosing_count_; i-- > 0;) {
      if (enclosing_[i].id == HeaderId::udp) continue;
      const std::size_t start = enclosing_[i].offset;
      const std::uint32_t icrc =
          compute_icrc(Bytes{buffer_.data() + start, size_ - 4 - start}, enclosing_[i].id, bth_ - start);
      store_big_endian<4>(buffer_.data() + size_ - 4, __builtin_bswap32(icrc));
      return;
    }
  }

  std::span<std::byte> buffer_;
  std::size_t size_ = 0;
  std::size_t bth_ = kNone;
  std::size_t payload_ = 0;
  std::size_t enclosing_count_ = 0;
  std::array<Layer, 8> enclosing_;
  ParseError error_{};
};

}  // namespace roce
