// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roce/port/neighbours.h"
#include "roce/port/result.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

struct OwnAddressConfig {
  MacAddress mac{};  ///< of the interface; frames leave with it
  Gid ip{};          ///< a unicast address, IPv6 or IPv4 in the mapped form
  /// Of the network, as people write it: 0 … 32 for IPv4, 0 … 128 for IPv6. IPv6 link-local addresses are always near.
  std::uint8_t prefix_bits = 0;
  /// Who passes on what goes to other networks: an address in the own one.
  std::optional<Gid> gateway{};
  /// 0 … 4094: frames carry this tag, and none without it is taken.
  std::optional<std::uint16_t> vlan_id{};
};

/// An IP address that the endpoint has and the host's kernel does not, and all that the kernel does for its own: looks
/// whether somebody else has it (RFC 5227, 4862), tells it on the wire, answers ARP (RFC 826), neighbour discovery (RFC
/// 4861) and echo requests, finds the Ethernet addresses of others, and reports multicast groups (IGMPv3 and v2: RFC
/// 3376, 2236; MLDv2 and v1: RFC 3810, 2710). It takes frames and times and hands out frames: no I/O, no clock. One
/// thread at a time.
///
/// As `Neighbours`: a neighbour is asked for each second, three times in a row, then again after a pause; who answered
/// is asked again after 30 seconds, as hosts move. Found is nobody before the address is `owned`.
class OwnAddress final : public Neighbours {
 public:
  enum class State : std::uint8_t {
    probing,   ///< for the first second: asks whether somebody has the address, and answers nothing
    owned,     ///< the address is ours
    duplicate  ///< somebody else has it; nothing is sent any more
  };

  /// Error: an address that no single host can have, a prefix that is too long, a gateway outside of the network.
  [[nodiscard]] static Result<std::unique_ptr<OwnAddress>> make(const OwnAddressConfig& config, Time now);
  ~OwnAddress() override;

  [[nodiscard]] State state() const;
  /// Who else claimed the address, at the start or later (then ours was defended once): a sentence with what to do;
  /// empty if nobody did.
  [[nodiscard]] std::string duplicate_text() const;

  /// Takes a received frame, from its Ethernet header on, a VLAN tag in its place. Returns whether it was one that this
  /// class is there for. What is malformed or for others is passed over. Afterwards there may be something in `output`
  /// and for `poll`.
  bool receive(Bytes frame, Time now);
  /// The oldest frame that has to go out, from its Ethernet header on; empty if there is none. Valid until the next
  /// call that is not const. Of more than 1024 the oldest are lost.
  [[nodiscard]] Bytes output() const;
  /// Removes that frame.
  void pop_output();

  /// Becomes a member of a multicast group or ceases to be one, and tells the routers and switches. False for what is
  /// no group of the address's family. The own solicited-node group needs no call.
  bool join(const Gid& group, Time now);
  bool leave(const Gid& group, Time now);

  [[nodiscard]] std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) override;
  /// Call it when `next_timeout` has come, and after `receive`: lets time pass, so that there may be something in
  /// `output` afterwards.
  [[nodiscard]] std::vector<Answer> poll(Time now) override;
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] Time next_timeout() const override;
  [[nodiscard]] std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) override;

 private:
  struct Parts;
  explicit OwnAddress(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The group that neighbour discovery asks in for an IPv6 address: ff02::1:ff00:0/104 and its last 24 bits (RFC 4291).
[[nodiscard]] Gid solicited_node_group(const Gid& ip);

}  // namespace roce::port
