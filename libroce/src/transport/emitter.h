// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roce/transport/device.h"
#include "roce/wire/frame_template.h"

namespace roce::transport::detail {

/// The way to a peer, worked out: what all packets on it have in common.
struct Path {
  NetMeta net{};
  std::optional<MacAddress> destination_mac{};  ///< not known yet: the neighbour table has to say
  FrameTemplate frame{};
  TxCaps::Link built_for = TxCaps::Link::ethernet;
  bool built = false;  ///< `frame` is for `built_for`
  std::uint8_t service_level = 0;
  std::uint8_t priority = 0;  ///< class of the scheduler
  bool count_ip_id = false;
  std::uint16_t next_ip_id = 0;
  std::uint16_t sgid_index = 0;
  std::optional<std::uint16_t> vlan_id{};
  bool multicast = false;
};

/// Puts packets into the caller's buffer: one by one, or several of equal size into one unit.
class Emitter {
 public:
  Emitter(std::span<std::byte> buffer, std::span<TxUnit> units, const TxCaps& caps)
      : buffer_(buffer), units_(units), caps_(caps) {}

  [[nodiscard]] TxCaps::Link link() const { return caps_.link; }

  /// Room for a packet of `size` bytes, BTH through ICRC, to be sent along `path`, which must be built and stay until
  /// `finish`; nullptr when buffer, units or caps have none. The packet joins the last unit if it may; one that is
  /// `alone` never does. `seal` has to follow once the bytes are there.
  [[nodiscard]] std::byte* place(Path& path, std::uint8_t priority, std::uint32_t flow, std::uint32_t size,
                                 bool alone) {
    // NET-13
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

  /// The packet placed last is complete: computes its ICRC.
  void seal() {
    open_->frame.seal(buffer_.data() + last_, last_size_, ip_id());
    if (counts_ip_id()) ++open_->next_ip_id;
  }
  /// The packet placed last was changed after `seal`: computes its ICRC again.
  void seal_again() { open_->frame.seal(buffer_.data() + last_, last_size_, first_ip_id_); }
  /// The packet placed last keeps the ICRC it has, which was made for `made_for` (see `last_ip_id`).
  void keep(std::uint16_t made_for) { first_ip_id_ = made_for; }
  /// The identification that the packet placed last was sealed for; it must be alone.
  [[nodiscard]] std::uint16_t last_ip_id() const { return first_ip_id_; }
  /// The packet placed last, BTH through ICRC.
  [[nodiscard]] std::span<std::byte> last() { return buffer_.subspan(last_, last_size_); }
  /// Takes the packet placed last back.
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

  /// Completes the last unit; returns how many there are.
  std::size_t finish() {
    close();
    return used_;
  }

 private:
  /// Who cuts a unit lets the identifications count up inside it, whatever the profile; where the link lets us choose
  /// the first they then go on from unit to unit, so that a receiver sees one sequence.
  [[nodiscard]] bool counts_ip_id() const {
    return open_->count_ip_id || (caps_.max_segments > 1 && caps_.link == TxCaps::Link::ethernet &&
                                  open_->net.version == RoceVersion::v2_ipv4);
  }
  /// Of the packet placed last.
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
  Path* open_ = nullptr;  // of the unit that is being filled
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
