// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "roce/cm/connection_manager.h"
#include "roce/transport/device.h"

namespace roce::live {

/// A QP that a connection is for, in INIT.
struct CmEnd {
  Qpn qpn{};
  transport::QpType type = transport::QpType::rc;
  Psn rq_psn{};                   ///< the first PSN that it receives
  std::uint32_t path_mtu = 1024;  ///< bytes, of a connection that it asks for
  std::uint8_t retry_count = 7;   ///< likewise
  std::uint8_t min_rnr_timer = 12;
  QKey q_key{};  ///< of a UD QP
};

/// The members of a message that do not follow from the QP.
struct CmTerms {
  ServiceId service{};
  std::uint8_t responder_resources = 4;
  std::uint8_t initiator_depth = 4;
  std::uint8_t rnr_retry = 7;
  std::uint8_t service_timeout = 20;      ///< of an MRA, a time code
  std::uint16_t reason = 28;              ///< of a REJ
  std::vector<std::byte> info{};          ///< of a REJ
  std::vector<std::byte> private_data{};  ///< in a REQ and a SIDR_REQ behind the RDMA IP CM header
};

/// A service and the QPs that its requests get.
struct CmListener {
  CmTerms terms{};
  std::vector<CmEnd> ends{};  ///< in this order; a UD QP serves all requests
  bool answers = true;        ///< at once; else each request waits for a verb
};

/// An event of a communication manager, for whoever gives the orders.
struct CmReport {
  std::string kind{};  ///< `request`, `reply`, `established`, `rejected`, `unreachable`, `disconnected`, `closed`,
                       ///< `resolve_request`, `resolved`
  std::uint16_t reason = 0;  ///< of a rejection; of `resolved`: the status
  /// The private data of a request (behind the RDMA IP CM header), a reply, a rejection or an answer to a SIDR_REQ.
  std::vector<std::byte> private_data{};
};

/// The program behind a communication manager that gets its orders from somebody else: it takes its events, listens,
/// connects, accepts, rejects and disconnects, each by a call. A connection that is agreed on takes its QP to RTS, and
/// its end takes the QP to ERR, before the message goes out that tells the peer.
class CmDesk {
 public:
  /// The reason why an order was refused.
  template <typename T>
  using Done = tl::expected<T, std::string>;

  /// The surroundings of a desk; all of them are to be set.
  struct Hooks {
    std::function<Done<void>(ServiceId service)> listen;
    std::function<void(ServiceId service)> stop_listening;
    /// Returns the address vector of a peer.
    std::function<Done<transport::AddressVector>(const cm::Peer& peer)> address_of;
    /// From now on the events of this connection go to `handle`; `forget` ends that.
    std::function<void(CommId id)> watch;
    std::function<void(CommId id)> forget;
  };
  /// `device` and `manager` have to outlive the desk.
  CmDesk(transport::Device& device, cm::ConnectionManager& manager, Hooks hooks);
  CmDesk(const CmDesk&) = delete;
  CmDesk& operator=(const CmDesk&) = delete;
  ~CmDesk() = default;

  Done<void> listen(const CmListener& listener);
  /// Answers the oldest request that waits, with the QP that its listener has for it.
  Done<void> accept(const CmTerms& terms, Time now);
  Done<void> reject(const CmTerms& terms, Time now);
  /// Asks for time to answer the oldest request that waits.
  Done<void> delay(const CmTerms& terms, Time now);
  /// Asks `peer` for a connection, or, of a UD QP, for the QP of a service.
  Done<void> connect(const cm::Peer& peer, const CmEnd& end, const CmTerms& terms, Time now);
  /// Ends the connection of a QP.
  Done<void> disconnect(Qpn qpn, Time now);
  /// Takes the oldest report that was not taken yet.
  [[nodiscard]] std::optional<CmReport> take_report();

  /// Does what an event asks for, and reports it.
  void handle(const cm::Event& event, Time now);
  /// Gives all connections and services up, and tells the peers.
  void close(Time now);

 private:
  struct Listening {
    CmListener listener;
    std::size_t used = 0;  ///< QPs that requests have got
  };

  void take_request(CommId id, Time now);
  void take_reply(CommId id, Time now);
  [[nodiscard]] Done<void> answer(CommId id, const CmTerms& terms, Time now);
  [[nodiscard]] Done<void> resolve(CommId id, const CmEnd& end, const CmTerms& terms, Time now);
  [[nodiscard]] Done<void> ready(CommId id, const CmEnd& end, Time now);
  void end(CommId id, Time now);
  [[nodiscard]] Done<CommId> next_waiting() const;
  /// Forgets a connection of which no event comes any more.
  void drop(CommId id);

  transport::Device& device_;
  cm::ConnectionManager& manager_;
  Hooks hooks_;
  std::map<ServiceId, Listening> listeners_;
  std::map<CommId, std::optional<CmEnd>> connections_;  ///< those that this desk knows, with their QPs
  std::deque<CommId> waiting_;                          ///< requests that no verb has answered
  std::deque<CmReport> reports_;
};

}  // namespace roce::live
