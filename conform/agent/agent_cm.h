// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "conform/agent/agent_objects.h"
#include "conform/agent/verbs_device.h"
#include "roce/live/cm_desk.h"

namespace roce::conform {

/// The communication manager of a device's machine, by librdmacm, for a client that gives the orders (docs/control.md):
/// it listens, connects, accepts, rejects and disconnects, each by a call, and keeps the events. A connection that is
/// agreed on takes its QP to RTS, and its end takes the QP to ERR, before the message goes out that tells the peer.
/// All calls throw live::Refusal if they cannot be carried out.
class AgentCm {
 public:
  /// A QP of `qps` that a connection is for, in INIT.
  struct End {
    std::uint32_t qpn = 0;
    std::uint8_t retry_count = 7;  ///< of a connection that it asks for
    std::uint8_t min_rnr_timer = 12;
  };

  /// `device` and `qps` have to outlive it.
  AgentCm(const VerbsDevice& device, std::map<std::uint32_t, AgentQp>& qps);
  AgentCm(const AgentCm&) = delete;
  AgentCm& operator=(const AgentCm&) = delete;
  ~AgentCm() = default;

  /// True if this machine has a communication manager that knows the device's address.
  [[nodiscard]] static bool is_there(const VerbsDevice& device);

  /// Returns a descriptor that is readable when there is an event for `take_events`.
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// Does what the events ask for, and keeps them as reports.
  void take_events();
  /// Takes the oldest report that was not taken yet.
  [[nodiscard]] std::optional<live::CmReport> take_report();

  /// Offers a service of the TCP or UDP port space: its requests get the QPs in this order, one of UD all of them.
  void listen(const live::CmTerms& terms, std::vector<End> ends, bool answers);
  void accept(const live::CmTerms& terms);
  void reject(const live::CmTerms& terms);
  void connect(const Gid& peer, const End& end, const live::CmTerms& terms);
  void disconnect(std::uint32_t qpn);
  /// Gives up the connection of a QP that is about to be destroyed, if it has one; the peer is told.
  void forget(std::uint32_t qpn);
  /// Says that data came for a QP whose peer has not confirmed yet.
  void note_data(std::uint32_t qpn);
  /// Gives all connections and services up; the peers are told.
  void close();

 private:
  struct Destroy {
    void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
    void operator()(rdma_cm_id* id) const { (void)rdma_destroy_id(id); }
  };
  using Id = std::unique_ptr<rdma_cm_id, Destroy>;
  /// An event of librdmacm, which keeps it only until it is acknowledged.
  struct Notice {
    rdma_cm_event_type event{};
    rdma_cm_id* id = nullptr;
    rdma_cm_id* listener = nullptr;
    int status = 0;
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    std::vector<std::byte> private_data{};
  };
  struct Listening {
    Id id{};
    live::CmTerms terms{};
    std::vector<End> ends{};
    std::size_t used = 0;  // QPs that requests have got
    bool answers = true;
  };
  struct Connection {
    Id id{};
    std::optional<End> end{};
    live::CmTerms terms{};                 // of one that this side asks for
    rdma_cm_id* listener = nullptr;        // of one that the peer asks for
    std::uint8_t responder_resources = 0;  // that the peer asks for
    std::uint8_t initiator_depth = 0;      // that the peer allows
  };

  [[nodiscard]] static Notice take(const rdma_cm_event& event);
  [[nodiscard]] static Id make_id(rdma_event_channel& channel, const VerbsDevice& device, rdma_port_space space,
                                  std::uint16_t port);
  void handle(const Notice& notice);
  void take_request(const Notice& notice);
  void take_reply(rdma_cm_id& id);
  void resolved(rdma_cm_id& id);
  /// Accepts a request, or rejects it and throws if that cannot be.
  void answer(rdma_cm_id& id, const live::CmTerms& terms);
  void agree(rdma_cm_id& id, const live::CmTerms& terms);
  void ready(rdma_cm_id& id, const End& end, const rdma_conn_param* agreed);
  void report(std::string_view kind, const Notice& notice);
  /// Takes the QP of a connection to ERR.
  void stop(rdma_cm_id& id);
  /// Ends a connection of which nothing comes any more.
  void drop(rdma_cm_id& id);
  [[nodiscard]] rdma_cm_id& next_waiting() const;
  [[nodiscard]] AgentQp& qp_of(std::uint32_t qpn) const;
  [[nodiscard]] rdma_cm_id* find(std::uint32_t qpn) const;

  const VerbsDevice& device_;
  std::map<std::uint32_t, AgentQp>& qps_;
  // After the identifiers, which need it until they are destroyed, it is destroyed.
  std::unique_ptr<rdma_event_channel, Destroy> channel_;
  std::map<rdma_cm_id*, Listening> listeners_;
  std::map<rdma_cm_id*, Connection> connections_;
  std::deque<rdma_cm_id*> waiting_;  // requests that no call has answered
  std::deque<live::CmReport> reports_;
};

}  // namespace roce::conform
