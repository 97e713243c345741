// SPDX-License-Identifier: BSD-2-Clause
// The two ends of the wire: they stop each other (PAUSE and PFC), and agree on settings (DCBX).
#include <utility>

#include "port/faults.h"
#include "roce/port/dcbx_peer.h"
#include "roce/port/port.h"
#include "roce/wire/ethernet.h"

namespace roce::port {

namespace {

/// True if a PAUSE or PFC frame holds this end of the wire: CC-09 (it is sent to their group, or to its own address,
/// and has no VLAN tag).
[[nodiscard]] bool is_for_this_end(const Packet& packet, const MacAddress& ours) {
  const std::optional<Layer> ethernet = packet.find(HeaderId::ethernet);
  if (!ethernet) return false;
  if (packet.find(HeaderId::vlan) && !fault(Fault::pfc_tag_ignored)) return false;
  if (fault(Fault::pfc_any_mac)) return true;
  const MacAddress destination = FieldOf<&Ethernet::destination>::get(packet.bytes().data() + ethernet->offset);
  return destination == kOtherEnd || destination == ours;
}

}  // namespace

bool Port::take_flow_control(const Packet& packet, Bytes frame, Time now) {
  if (is_for_this_end(packet, device_.config().mac) && pauses_.receive(packet, now)) {
    if (on_pause_) on_pause_(frame);
    apply_pauses(now);
    return true;
  }
  if (dcbx_ == nullptr || !dcbx_->receive(frame, now)) return false;
  note_dcbx();
  return true;
}

link::LinkResult<std::size_t> Port::send_pfc(Time now) {
  if (!holding_) return std::size_t{0};
  // A frame that still waits is replaced: a newer one has the state of all priorities, too.
  pfc_waits_ = holding_->update(device_.low_priorities() & lossless_, now) || pfc_waits_;
  if (!pfc_waits_) return std::size_t{0};
  const link::TxFrame frame{holding_->frame(), {}};
  link::LinkResult<std::size_t> sent = link_.send({&frame, 1});
  if (!sent || *sent == 0) return sent;
  pfc_waits_ = false;
  ++pfc_sent_;
  show_own(frame.bytes);
  return sent;
}

void Port::take_pause(Bytes frame, Time now) {
  if (pauses_.receive(parse_frame(frame, LinkType::ethernet), now)) apply_pauses(now);
}

void Port::apply_pauses(Time now) {
  const std::uint8_t paused = pauses_.paused(now);
  for (unsigned priority = 0; priority < 8; ++priority) {
    const unsigned bit = 1U << priority;
    if (((paused ^ paused_) & bit) == 0) continue;
    (void)device_.set_paused(static_cast<std::uint8_t>(priority), (paused & bit) != 0);
  }
  paused_ = paused;
  pause_ends_ = pauses_.next_end(now);
}

void Port::set_dcbx(DcbxPeer* peer, std::function<void()> on_change) {
  dcbx_ = peer;
  on_dcbx_ = std::move(on_change);
  apply_dcbx();
}

void Port::apply_dcbx() {
  const DcbxOperational& agreed = dcbx_->operational();
  dcbx_changes_ = dcbx_->changes();
  lossless_ = agreed.pfc.priorities();
  pauses_.obey(lossless_);
  // This end's own shares were checked when they were set, and a recommendation when it came.
  if (const auto classes = traffic_classes_of(agreed.ets)) (void)device_.set_traffic_classes(*classes);
}

void Port::note_dcbx() {
  if (dcbx_->changes() == dcbx_changes_) return;
  apply_dcbx();
  if (on_dcbx_) on_dcbx_();
}

link::LinkResult<std::size_t> Port::send_dcbx(Time now) {
  if (dcbx_ == nullptr) return std::size_t{0};
  if (dcbx_->next_timeout() <= now) {
    dcbx_waits_ = dcbx_->update(now) || dcbx_waits_;
    note_dcbx();
  }
  if (!dcbx_waits_) return std::size_t{0};
  const link::TxFrame frame{dcbx_->frame(), {}};
  link::LinkResult<std::size_t> sent = link_.send({&frame, 1});
  if (!sent || *sent == 0) return sent;
  dcbx_waits_ = false;
  show_own(frame.bytes);
  return sent;
}

void Port::leave_dcbx() {
  if (dcbx_ == nullptr) return;
  const link::TxFrame frame{dcbx_->goodbye(), {}};
  const link::LinkResult<std::size_t> sent = link_.send({&frame, 1});
  if (sent && *sent != 0) show_own(frame.bytes);
  dcbx_ = nullptr;
}

}  // namespace roce::port
