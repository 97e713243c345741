// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "roce/cm/connection.h"
#include "roce/link/file_descriptor.h"
#include "verbs/cm/cm_records.h"
#include "verbs/rdmacm/device.h"
#include "verbs/rdmacm/rdmacm_api.h"

namespace roce::verbs {

struct IdObject;

/// An event that a program has, or that waits for it.
struct EventObject : rdma_cm_event {
  IdObject* counted_at = nullptr;  ///< this identifier is not destroyed before the program has acknowledged the event
  std::array<std::byte, 256> data{};
};

/// An event channel: its descriptor is an epoll of the connections to managers and of the event counter of `waiting`.
struct ChannelObject : rdma_event_channel {
  std::uint32_t number = 0;
  link::FileDescriptor epoll;
  link::FileDescriptor counter;      ///< counts the events in `waiting`
  std::deque<EventObject*> waiting;  ///< made in this process
  std::map<CmDevice*, link::FileDescriptor> managers;
};

/// A multicast group that an identifier has joined.
struct JoinedGroup {
  Gid address{};
  bool receives = true;
  ibv_qp* attached = nullptr;  ///< the QP of the identifier, if it receives
};

struct IdObject : rdma_cm_id {
  std::uint32_t number = 0;      ///< unique in this process
  CmDevice* device = nullptr;    ///< none while it is bound to no address, or to all
  std::uint32_t connection = 0;  ///< at the manager; 0: none
  std::vector<CmDevice*> listens_at;
  bool takes_any_port = false;  ///< it was bound to port 0
  bool is_passive = false;      ///< made for a request of a peer
  bool is_synchronous = false;  ///< made without a channel: calls wait for their events
  std::uint32_t unacknowledged = 0;
  Gid remote{};               ///< address of the peer
  CmProposal proposal{};      ///< of the peer
  cm::Agreement agreement{};  ///< complete once the peer's REQ or REP is there
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t traffic_class = 0;
  std::optional<std::uint8_t> ack_timeout;
  bool owns_cqs = false;
  std::optional<ibv_qp_init_attr> qp_of_requests;  ///< a passive endpoint makes such a QP for each request
  ibv_sa_path_rec path{};
  std::vector<JoinedGroup> groups;  ///< under the lock of `Shared`
};

[[nodiscard]] inline IdObject& object_of(rdma_cm_id* id) {
  return *static_cast<IdObject*>(id);
}
[[nodiscard]] inline ChannelObject& object_of(rdma_event_channel* channel) {
  return *static_cast<ChannelObject*>(channel);
}

/// All that the threads of a process share. It is never destroyed: programs use identifiers in destructors of their
/// own.
struct Shared {
  std::mutex mutex;
  std::condition_variable acknowledged;
  std::uint32_t last_number = 0;
  std::map<std::pair<CmDevice*, std::uint32_t>, IdObject*> connections;  ///< by device and the manager's number
  std::map<std::uint32_t, IdObject*> listeners;                          ///< by their number
};
[[nodiscard]] Shared& shared();

// identifier.cc
/// Makes an identifier. `channel` of nullptr: it is synchronous, with a channel of its own. Returns nullptr with errno.
[[nodiscard]] IdObject* make_id(rdma_event_channel* channel, void* context, rdma_port_space space, ibv_qp_type type);
/// Binds an identifier to a device.
void set_device(IdObject& id, CmDevice& device);
/// Binds an identifier to an address of this machine, or to all. Returns a number of errno.h.
[[nodiscard]] int bind(IdObject& id, const sockaddr& address);
[[nodiscard]] std::uint16_t random_port();
[[nodiscard]] std::uint32_t random_psn();

// channel.cc
/// Sees to it that the manager of a device reports to a channel. Returns a number of errno.h.
[[nodiscard]] int watch(ChannelObject& channel, CmDevice& device);
/// Takes what managers have reported to a channel, so that nothing of an identifier that is gone makes it readable.
void take_reports(ChannelObject& channel);
/// Puts an event of this process, with `parameters`, into the channel of an identifier.
void report(IdObject& id, rdma_cm_event_type type, int status = 0, const rdma_ud_param& parameters = {});
/// Waits for the event of the call before, which becomes `id->event`, if the identifier is synchronous. Returns 0, or a
/// number of errno.h if the event is an error.
[[nodiscard]] int complete(IdObject& id);

// multicast.cc
/// Attaches the new QP of an identifier to the groups that it has joined. Returns a number of errno.h.
[[nodiscard]] int attach_to_groups(IdObject& id);
/// Detaches the QP of an identifier from its groups, which stay joined.
void detach_from_groups(IdObject& id);

// notices.cc
/// Makes an event of what a manager has reported; nullptr if it is none of the program's.
[[nodiscard]] EventObject* event_of(CmDevice& device, const CmNotice& notice);
/// Returns what a program needs to send datagrams to a QP.
[[nodiscard]] rdma_ud_param parameters_towards(const IdObject& id, const Gid& destination, std::uint32_t qpn,
                                               std::uint32_t q_key);

// queue_pair.cc
/// Fills in what a QP of a connection needs for the state `attributes.qp_state`; returns the mask, 0 if it is unknown.
[[nodiscard]] int fill_in(const IdObject& id, ibv_qp_attr& attributes);
/// Takes the QP of a connection to RTS. Returns a number of errno.h.
[[nodiscard]] int make_ready(IdObject& id);
/// Takes the QP of a connection to ERR.
void end_qp(IdObject& id);

// connect.cc
/// Sends the RTU of a connection whose QP is ready. Returns a number of errno.h.
[[nodiscard]] int confirm(IdObject& id);
/// Lets the manager end whatever there is of a connection. What it has reported before is still on its way.
void abandon(IdObject& id);
/// Makes no more events of the connection of an identifier.
void forget(IdObject& id);
/// Tells the connection managers that a program may listen soon where the identifier is bound: requests wait for it.
void announce(IdObject& id);
void stop_listening(IdObject& id);

}  // namespace roce::verbs
