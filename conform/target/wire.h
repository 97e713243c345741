// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "conform/target/target.h"
#include "roce/link/raw_link.h"
#include "roce/live/clock.h"
#include "roce/live/result.h"
#include "roce/wire/packet.h"

namespace roce::conform {

struct WireSettings {
  std::string interface {};  ///< the tester's
  Gid device{};              ///< its RoCE address
  std::uint32_t number = 0;  ///< of the devices that the tester has open at the same time; below 256
  bool to_others = false;    ///< frames to other addresses than the device's leave too
};

/// The wire between the tester and a device behind an Ethernet interface, with the tester's QPNs, each of which is used
/// once.
class Wire {
 public:
  /// Opens the link and finds the device's Ethernet address. Failures: no such interface, no permission, no address of
  /// the device's family, a device that nobody answers for.
  [[nodiscard]] static live::Result<std::unique_ptr<Wire>> open(const WireSettings& settings);

  [[nodiscard]] const Port& port() const { return port_; }
  /// Returns the largest path MTU that the interface can have, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const { return max_path_mtu_; }
  [[nodiscard]] Time now() const { return clock_.now(); }
  /// True if the interface is there and up.
  [[nodiscard]] bool is_up() const;

  /// Ends the QPNs of the instance before, and returns the first of the next one, which has 256.
  Qpn next_peers();
  /// Takes the frames that come to QP1, too, until `next_peers`: but for those about connections that the device has
  /// left of instances before, or of another tester.
  void hear_qp1() { hears_qp1_ = true; }
  /// True if the frame goes to the device and to nobody else, or may go to others.
  [[nodiscard]] bool may_send(std::span<const std::byte> frame) const;
  /// Sends a frame. Throws DeviceGone if the link is gone.
  void send(std::span<const std::byte> frame);
  /// Sends frames, many with one call to the kernel. Throws DeviceGone if the link is gone.
  void send_burst(std::span<const std::vector<std::byte>> frames);
  /// Waits until the device sends a frame to one of the present QPNs, or it is `until`; empty in that case.
  [[nodiscard]] std::optional<SeenFrame> receive(Time until);
  /// Returns how many frames came since `next_peers` for which the link had no room.
  [[nodiscard]] std::uint64_t lost_frames() const { return link_->counters().receive_drops - lost_before_; }

 private:
  Wire() = default;
  /// Takes all frames that have come.
  void send_all(std::span<const link::TxFrame> frames);
  void collect();
  /// Takes a few of the frames that have come; false if there was none.
  bool collect_some();
  void take(const link::RxFrame& frame, Time time);
  /// Remembers the communication IDs that the tester calls its own in frames.
  void note_ids(std::span<const link::TxFrame> frames);
  /// True if a frame to QP1 is about a connection of the present instance.
  [[nodiscard]] bool is_of_instance(const Packet& packet);

  std::string interface_;
  live::Clock clock_;
  Port port_{};
  std::uint32_t max_path_mtu_ = 0;
  std::unique_ptr<link::RawLink> link_;
  std::uint32_t first_qpn_ = 0;  ///< of this device
  std::uint32_t instances_ = 0;
  std::uint32_t peers_ = 0;        ///< the first QPN of the present instance
  std::uint64_t lost_before_ = 0;  ///< frames that instances before this one lost
  bool to_others_ = false;
  bool hears_qp1_ = false;
  std::set<std::uint32_t> sent_ids_;  ///< communication IDs of the tester, in the present instance
  std::set<std::uint32_t> own_ids_;   ///< of the device, in messages that name none of the tester's
  std::set<std::uint32_t> past_ids_;  ///< likewise, in the instances before
  std::deque<SeenFrame> came_;
};

}  // namespace roce::conform
