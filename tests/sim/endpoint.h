// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/host.h"

namespace roce::sim {

inline constexpr auto kAllAccess = transport::Access::local_write | transport::Access::remote_write |
                                   transport::Access::remote_read | transport::Access::remote_atomic |
                                   transport::Access::mw_bind | transport::Access::flush_global |
                                   transport::Access::flush_persistent;

/// The parameters that two QPs agree on.
struct Connection {
  Path path{};
  std::uint32_t mtu = 1024;
  Psn a_psn{0x000100};  ///< first PSN that `a` sends
  Psn b_psn{0x800000};
  std::uint8_t timeout = 14;  ///< 67 ms
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;  ///< 0.64 ms
  std::uint8_t rd_atomic = 16;
  transport::Access access = kAllAccess;  ///< rights of the QPs
  std::uint8_t traffic_class = 0;
  std::optional<std::uint8_t> service_level{};
  std::uint32_t flow_label = 0;
  std::uint64_t rate_limit_bps = 0;
};

/// A send request in terms of an endpoint's memory and its peer's.
struct Work {
  transport::WorkOpcode opcode = transport::WorkOpcode::send;
  std::uint32_t length = 0;     ///< bytes at `local`
  std::uint64_t local = 0;      ///< offset in the endpoint's memory
  std::uint64_t remote = 0;     ///< offset in the peer's memory
  std::uint64_t id = 0;         ///< 0: the next number of the endpoint, from 1
  std::optional<RKey> r_key{};  ///< replaces the peer's
  std::optional<LKey> l_key{};  ///< replaces the endpoint's
  XrcSrqn xrc_srq{};
  bool signaled = true;
  bool fence = false;
  bool solicited = false;
  bool is_inline = false;
  std::uint32_t immediate = 0;
  RKey invalidate{};
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  transport::FlushTarget flush{};
  transport::DatagramAddress datagram{};
  transport::MwBinding bind{};
};

/// A QP with all that it needs: protection domain, completion queues, and memory registered as one region whose
/// addresses do not depend on where the memory lies.
class Endpoint {
 public:
  struct Options {
    transport::QpType type = transport::QpType::rc;
    std::size_t memory = 1U << 18U;
    std::span<std::byte> outside_memory{};  ///< used instead of own memory of `memory` bytes
    transport::Access access = kAllAccess;  ///< rights of the region
    std::uint32_t max_send = 256;
    std::uint32_t max_receive = 256;
    std::uint32_t cq_capacity = 4096;
    std::uint16_t max_inline = 64;
    bool signal_all = false;
    bool invalidatable = false;
    bool with_srq = false;                ///< an SRQ of its own instead of a receive queue
    std::optional<transport::Srq> srq{};  ///< the SRQ of another endpoint, used together with
    std::optional<transport::Pd> pd{};    ///< the protection domain of that endpoint
  };

  explicit Endpoint(const Host& host) : Endpoint(host, Options{}) {}
  Endpoint(const Host& host, const Options& options);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] transport::Device& device() const { return host_.device(); }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] Qpn qpn() const { return qpn_; }
  [[nodiscard]] transport::Pd pd() const { return pd_; }
  [[nodiscard]] transport::Mr mr() const { return mr_; }
  [[nodiscard]] transport::MrInfo info() const { return info_; }
  [[nodiscard]] transport::Cq send_cq() const { return send_cq_; }
  [[nodiscard]] transport::Cq receive_cq() const { return receive_cq_; }
  [[nodiscard]] std::optional<transport::Srq> srq() const { return srq_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] std::span<std::byte> memory(std::uint64_t offset, std::size_t size) const {
    return memory_.subspan(offset, size);
  }
  [[nodiscard]] std::uint64_t address(std::uint64_t offset) const { return info_.address + offset; }
  [[nodiscard]] transport::QpState state() const { return must(device().query_qp(qpn_)).state; }
  [[nodiscard]] transport::Counters counters() const { return must(device().counters(qpn_)); }

  transport::VerbResult<void> try_post(const Work& work);
  /// Returns the id of the request; throws if it is refused.
  std::uint64_t post(const Work& work);
  transport::VerbResult<void> try_receive(std::uint64_t offset, std::uint32_t length, std::uint64_t id = 0,
                                          std::optional<LKey> l_key = {});
  /// Posts to the QP's own queue or its SRQ.
  void post_receive(std::uint64_t offset, std::uint32_t length, std::uint64_t id = 0);
  void modify(const transport::QpChange& change);
  /// Moves the QP from any state to ERR.
  void fail() { modify({.state = transport::QpState::err}); }

  /// Returns all completions of the send CQ so far.
  std::vector<transport::Completion>& sent();
  /// Returns all completions of the receive CQ so far.
  std::vector<transport::Completion>& received();
  void clear_completions();

  /// Sets the endpoint whose memory `Work::remote` and `Work::r_key` refer to; `connect` calls it.
  void set_peer(const Endpoint& peer) { peer_ = &peer; }
  [[nodiscard]] const Endpoint* peer() const { return peer_; }

 private:
  void drain(transport::Cq cq, std::vector<transport::Completion>& to);

  Host host_;
  std::vector<std::byte> own_memory_;
  std::span<std::byte> memory_;
  transport::Pd pd_{};
  transport::Cq send_cq_{};
  transport::Cq receive_cq_{};
  std::optional<transport::Srq> srq_{};
  transport::Mr mr_{};
  transport::MrInfo info_{};
  Qpn qpn_{};
  const Endpoint* peer_ = nullptr;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_receive_id_ = 1001;
  std::vector<transport::Completion> sent_;
  std::vector<transport::Completion> received_;
};

/// Returns the change RESET → INIT.
[[nodiscard]] transport::QpChange to_init(const Connection& connection, transport::QpType type);
/// Returns the change INIT → RTR towards `peer`, whose first PSN is `peer_psn`.
[[nodiscard]] transport::QpChange to_rtr(const Connection& connection, const Endpoint& peer, Psn peer_psn,
                                         transport::QpType type);
/// Returns the change RTR → RTS with the own first PSN.
[[nodiscard]] transport::QpChange to_rts(const Connection& connection, Psn psn, transport::QpType type);

/// Brings two QPs of the same type to RTS. Datagram QPs get the Q_Key `kQKey`, and `a_psn` and `b_psn`.
void connect(Endpoint& a, Endpoint& b, const Connection& connection = {});

/// Brings one datagram QP to RTS.
void start(Endpoint& endpoint, const Connection& connection = {});

inline constexpr QKey kQKey{0x01234567};

/// Returns an address handle of `a`'s device for `b`'s host.
[[nodiscard]] transport::Ah address_of(const Endpoint& a, const Host& b, const Connection& connection = {});

/// Two hosts with a link between them and a connected QP each: the beginning of most scenarios.
struct Pair {
  struct Options {
    std::uint64_t seed = 1;
    Host::Options a_host{};
    std::optional<Host::Options> b_host{};  ///< like `a_host` if not given
    LinkConfig link{};
    Endpoint::Options a_endpoint{};
    std::optional<Endpoint::Options> b_endpoint{};  ///< like `a_endpoint` if not given
    Connection connection{};
    bool is_connected = true;
  };

  Pair() : Pair(Options{}) {}
  explicit Pair(const Options& options);
  /// Returns options for two hosts of a profile.
  [[nodiscard]] static Options with(const transport::Profile& profile);

  SimNetwork network;
  Host a_host;
  Host b_host;
  Endpoint a;
  Endpoint b;
};

}  // namespace roce::sim
