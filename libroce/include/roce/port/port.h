// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "roce/link/link.h"
#include "roce/port/neighbours.h"
#include "roce/port/own_address.h"
#include "roce/port/pause_sender.h"
#include "roce/port/pause_timers.h"
#include "roce/transport/device.h"

namespace roce::port {

class DcbxPeer;

/// The direction of a frame at the port.
enum class Direction : std::uint8_t { received, sent };

/// Sees each frame as it passes, whole and from its Ethernet header on; if the link hides the headers,
/// they are rebuilt from what the link reports, with Ethernet addresses of zero. The packets of a super-frame
/// are seen one by one, as they are on the wire. A frame to the device's own Ethernet address is seen twice,
/// as it is sent and as it comes back. `timestamp_ns` counts since the Unix epoch. The bytes are valid during the call.
using Tap = std::function<void(Direction, Bytes frame, std::int64_t timestamp_ns)>;

/// Binds a device to a link: frames from the link go to the device, frames from the device go out, and the addresses
/// that it wants are looked up. If the link sends super-frames, the device makes them; super-frames from the link
/// are taken apart; packets to the device's own Ethernet address, which no link brings back, go to the device;
/// PAUSE and PFC hold the device's priorities back, and priorities whose receives run low at the device
/// (`DeviceConfig::receive_thresholds`) hold the other end by PFC, on links of whole frames. One thread at a time.
class Port {
 public:
  /// Speed of the wire if none is given, in bits per second: pause quanta are counted in it.
  static constexpr std::uint64_t kUsualSpeed = 10'000'000'000;

  /// All arguments have to outlive the port. `neighbours` may be nullptr if the link does not need Ethernet addresses.
  /// `own` gets the frames that are not RoCE, and sends its own; it may also be the `neighbours`.
  /// `bits_per_second`, the speed of the wire, is 1000 … 10^13.
  Port(transport::Device& device, link::Link& link, Neighbours* neighbours, OwnAddress* own = nullptr,
       std::uint64_t bits_per_second = kUsualSpeed);

  /// Runs one round: takes a batch of frames, lets time pass, looks up neighbours, sends what is ready.
  /// Returns true if anything moved; then there may be more to do at once. Error: the link is gone.
  [[nodiscard]] link::LinkResult<bool> turn(Time now);
  /// Returns the latest time for the next call of `turn` if nothing arrives; `kNever` if only an arrival needs one.
  [[nodiscard]] Time next_timeout() const;
  /// Returns a descriptor to poll for reading, beside the link's:
  /// when it is readable, `take_neighbours` has something. -1 if there is nothing to wait for.
  [[nodiscard]] int neighbour_fd() const { return neighbours_ != nullptr ? neighbours_->fd() : -1; }
  /// Hands the neighbour addresses that became known to the device.
  void take_neighbours(Time now);
  /// Returns why packets wait for the Ethernet address of their next hop: a sentence with what to do; empty if none do.
  [[nodiscard]] std::string why_waiting() const;
  /// True if frames wait for room on the link: poll it for writing too.
  [[nodiscard]] bool wants_to_write() const {
    return pending_ != pending_end_ || own_waits_ || pfc_waits_ || dcbx_waits_;
  }

  /// Returns the device's oldest event that the port did not handle itself.
  [[nodiscard]] std::optional<transport::Event> poll_event(Time now);
  /// Returns the number of PFC frames sent because receives ran low, or were there again.
  [[nodiscard]] std::uint64_t pfc_sent() const { return pfc_sent_; }
  /// Sets a function that is called once, with a sentence, when the link refuses super-frames; packets go singly then.
  void set_on_refusal(std::function<void(const std::string&)> on_refusal) { on_refusal_ = std::move(on_refusal); }
  /// Sets a function that is called with each PAUSE and PFC frame that comes in, valid during the call:
  /// for other ports behind the same interface, whose links do not get the frame.
  void set_on_pause(std::function<void(Bytes frame)> on_pause) { on_pause_ = std::move(on_pause); }
  /// Processes a frame from `set_on_pause` of another port as if it had come in.
  void take_pause(Bytes frame, Time now);
  /// Lets `peer`, which has to outlive the port, agree with the other end by DCBX, on links of whole frames: shares and
  /// the priorities without loss are those of its operational state from now on. `on_change` is called after each
  /// change of that state, of `DcbxPeer::problem`, and when the other end comes or goes.
  void set_dcbx(DcbxPeer* peer, std::function<void()> on_change);
  /// Sends DCBX's last frame, as far as the link takes it.
  void leave_dcbx();
  /// Replaces the tap; an empty function removes it.
  void set_tap(Tap tap) { tap_ = std::move(tap); }

 private:
  [[nodiscard]] link::LinkResult<std::size_t> receive(Time now);
  [[nodiscard]] link::LinkResult<std::size_t> transmit(Time now);
  [[nodiscard]] link::LinkResult<std::size_t> flush();
  void take(const Packet& packet, const link::RxFrame& frame, Time now);
  void show_received(const Packet& packet, const link::RxFrame& frame);
  void show_sent(const transport::TxUnit& unit, std::uint16_t source_port, std::int64_t timestamp_ns);
  void take_back_to_ourselves(Time now);
  [[nodiscard]] bool cut_refused();
  void cut_unit(const link::TxFrame& frame);
  [[nodiscard]] link::LinkResult<std::size_t> send_own();
  /// Takes a frame that tells this end of the wire something; false if it is none.
  [[nodiscard]] bool take_flow_control(const Packet& packet, Bytes frame, Time now);
  [[nodiscard]] link::LinkResult<std::size_t> send_pfc(Time now);
  [[nodiscard]] link::LinkResult<std::size_t> send_dcbx(Time now);
  /// Lets what DCBX has agreed on hold.
  void apply_dcbx();
  /// Does so, and tells it, if that has changed.
  void note_dcbx();
  /// Queues a unit for the link; returns the UDP source port that it goes out with.
  std::uint16_t send_unit(const transport::TxUnit& unit);
  void apply_pauses(Time now);
  void take_events(Time now);
  /// Shows the tap a frame of this end's own that was sent.
  void show_own(Bytes frame);
  void show(Direction direction, Bytes bytes, const NetMeta& net, std::int64_t timestamp_ns);

  transport::Device& device_;
  link::Link& link_;
  Neighbours* neighbours_;
  OwnAddress* own_;
  bool own_waits_ = false;                                         // frames of `own_` wait for room on the link
  std::set<std::pair<Gid, std::optional<std::uint16_t>>> wanted_;  // neighbours, with their VLAN
  transport::TxCaps caps_;
  std::vector<link::RxFrame> received_;
  std::vector<std::optional<Packet>> packets_;  // parallel to `received_`
  std::size_t came_ = 0;                        // frames in `received_`
  std::size_t taken_ = 0;                       // frames of these that are done
  std::uint32_t next_part_ = 0;                 // next packet of the super-frame in progress
  std::vector<std::byte> buffer_;
  std::vector<transport::TxUnit> units_;
  std::vector<link::TxFrame> frames_;  // frames of `units_`; the link still has to take `pending_` to `pending_end_`
  std::size_t pending_ = 0;
  std::size_t pending_end_ = 0;
  std::deque<transport::Event> events_;
  std::vector<transport::TxUnit> to_ourselves_;  // from `units_`, for our own Ethernet address
  std::vector<std::vector<std::byte>> cut_;      // the packets that `frames_` refers to after a refusal
  std::function<void(const std::string&)> on_refusal_;
  std::function<void(Bytes)> on_pause_;
  PauseTimers pauses_;
  std::optional<PauseSender> holding_;  // set if the device may ask for it
  bool pfc_waits_ = false;              // its frame waits for room on the link
  std::uint64_t pfc_sent_ = 0;
  DcbxPeer* dcbx_ = nullptr;
  std::function<void()> on_dcbx_;
  std::uint64_t dcbx_changes_ = 0;  // as last told
  std::uint8_t lossless_ = 0xFF;    // priorities that may hold the other end by PFC
  bool dcbx_waits_ = false;         // its frame waits for room on the link
  std::uint8_t paused_ = 0;         // as last set in the device
  Time pause_ends_ = kNever;
  std::vector<std::byte> shown_;    // a frame for the tap
  std::vector<std::byte> segment_;  // a packet of a super-frame for the tap
  Tap tap_;
};

}  // namespace roce::port
