// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roce/transport/device.h"
#include "roce/wire/bth.h"
#include "roce/wire/constants.h"
#include "transport/path.h"

namespace roce::transport::detail {

/// Returns the pad that a payload needs, in bytes.
[[nodiscard]] constexpr std::uint8_t pad_of(std::uint32_t payload) {
  return static_cast<std::uint8_t>((0 - payload) & 3);
}

/// Returns the size of a packet in bytes: BTH, `headers` bytes of extension headers, payload, pad and ICRC.
[[nodiscard]] constexpr std::uint32_t packet_size(std::size_t headers, std::uint32_t payload) {
  return static_cast<std::uint32_t>(kSize<Bth> + headers) + payload + pad_of(payload) + kIcrcSize;
}

/// Places packets in the caller's buffer: one per unit, or several of equal size in one unit.
class Emitter {
 public:
  Emitter(std::span<std::byte> buffer, std::span<TxUnit> units, const TxCaps& caps)
      : buffer_(buffer), units_(units), caps_(caps) {}

  [[nodiscard]] TxCaps::Link link() const { return caps_.link; }

  /// Returns room for a packet of `size` bytes (BTH through ICRC) to be sent along `path`, which must be built and must
  /// stay until `finish`; nullptr if buffer, units or caps leave no room. The packet joins the last unit if it may; one
  /// that is `alone` never does. `seal` must follow once the bytes are written.
  [[nodiscard]] std::byte* place(Path& path, std::uint8_t priority, std::uint32_t flow, std::uint32_t size,
                                 bool alone) {
    // NET-13 (several packets of equal size may share one set of headers)
    if (open_ != nullptr && !alone && joins(path, priority, flow, size)) {
      last_ = unit_start_ + path.frame.header_bytes() + unit_bytes_;
    } else {
      close();
      const std::size_t headers = path.frame.header_bytes();
      if (used_ == units_.size() || headers + size > caps_.max_bytes || headers + size > buffer_.size() - filled_) {
        return nullptr;
      }
      open_ = &path;
      priority_ = priority;
      flow_ = flow;
      unit_start_ = filled_;
      unit_bytes_ = 0;
      segments_ = 0;
      segment_size_ = size;
      first_ip_id_ = counts_ip_id() ? path.next_ip_id : std::uint16_t{0};
      alone_ = alone;
      last_ = unit_start_ + headers;
    }
    last_size_ = size;
    unit_bytes_ += size;
    ++segments_;
    return buffer_.data() + last_;
  }

  /// Computes the ICRC of the packet placed last, which must be complete.
  void seal() {
    open_->frame.seal(buffer_.data() + last_, last_size_, ip_id());
    if (counts_ip_id()) ++open_->next_ip_id;
  }
  /// Computes the ICRC of the packet placed last again, after a change made since `seal`.
  void seal_again() { open_->frame.seal(buffer_.data() + last_, last_size_, first_ip_id_); }
  /// Keeps the ICRC of the packet placed last, which was made for the identification `made_for` (see `last_ip_id`).
  void keep(std::uint16_t made_for) { first_ip_id_ = made_for; }
  /// Returns the identification that the packet placed last was sealed for; the packet must be alone.
  [[nodiscard]] std::uint16_t last_ip_id() const { return first_ip_id_; }
  /// Returns the packet placed last, BTH through ICRC.
  [[nodiscard]] std::span<std::byte> last() { return buffer_.subspan(last_, last_size_); }
  /// Removes the packet placed last.
  void take_back() {
    unit_bytes_ -= last_size_;
    last_size_ = segment_size_;
    if (--segments_ == 0) open_ = nullptr;
  }

  /// Completes the unit that is being filled; the next packet begins another.
  void close() {
    if (open_ == nullptr) return;
    const std::size_t headers = open_->frame.header_bytes();
    open_->frame.write_headers(buffer_.data() + unit_start_, unit_bytes_, first_ip_id_);
    TxUnit& unit = units_[used_++];
    unit.bytes = buffer_.subspan(unit_start_, headers + unit_bytes_);
    unit.segment_size = segment_size_;
    unit.segments = segments_;
    unit.priority = priority_;
    unit.flow = flow_;
    unit.net = &open_->net;
    filled_ = unit_start_ + headers + unit_bytes_;
    open_ = nullptr;
  }

  /// True if a unit that is filled, or being filled, refers to `path`.
  [[nodiscard]] bool uses(const Path& path) const {
    const auto refers = [&](const TxUnit& unit) { return unit.net == &path.net; };
    const std::span<const TxUnit> filled = units_.first(used_);
    return open_ == &path || std::any_of(filled.begin(), filled.end(), refers);
  }

  /// Completes the last unit; returns the number of units.
  std::size_t finish() {
    close();
    return used_;
  }

 private:
  /// True if identifications count up. Segmentation counts them up inside a unit, whatever the profile; if the link
  /// lets us choose the first one, they continue from unit to unit, so that a receiver sees one sequence.
  [[nodiscard]] bool counts_ip_id() const {
    return open_->count_ip_id || (caps_.max_segments > 1 && caps_.link == TxCaps::Link::ethernet &&
                                  open_->net.version == RoceVersion::v2_ipv4);
  }
  /// Returns the identification of the packet placed last.
  [[nodiscard]] std::uint16_t ip_id() const { return static_cast<std::uint16_t>(first_ip_id_ + segments_ - 1); }
  [[nodiscard]] bool joins(const Path& path, std::uint8_t priority, std::uint32_t flow, std::uint32_t size) const {
    if (segments_ >= caps_.max_segments || &path != open_ || alone_ || priority != priority_ || flow != flow_ ||
        last_size_ != segment_size_ || size > segment_size_ || path.net.version == RoceVersion::v1) {
      return false;
    }
    const std::size_t total = path.frame.header_bytes() + unit_bytes_ + size;
    return total <= caps_.max_bytes && total <= buffer_.size() - unit_start_;
  }

  std::span<std::byte> buffer_;
  std::span<TxUnit> units_;
  TxCaps caps_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  Path* open_ = nullptr;  // the path of the unit that is being filled
  std::size_t unit_start_ = 0;
  std::size_t unit_bytes_ = 0;
  std::size_t last_ = 0;
  std::uint32_t last_size_ = 0;
  std::uint32_t segment_size_ = 0;
  std::uint32_t segments_ = 0;
  std::uint32_t flow_ = 0;
  std::uint16_t first_ip_id_ = 0;
  std::uint8_t priority_ = 0;
  bool alone_ = false;
};

}  // namespace roce::transport::detail
