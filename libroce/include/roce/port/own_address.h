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
  MacAddress mac{};  ///< MAC address of the interface; the source of sent frames
  Gid ip{};          ///< a unicast address, IPv6 or IPv4 in the mapped form
  /// Prefix length as people write it: 0 … 32 for IPv4, 0 … 128 for IPv6. IPv6 link-local addresses are always on-link.
  std::uint8_t prefix_bits = 0;
  /// The host that forwards packets to other networks: an address in the own network.
  std::optional<Gid> gateway{};
  /// 0 … 4094: sent frames carry this tag, and frames without it are not accepted.
  std::optional<std::uint16_t> vlan_id{};
};

/// An IP address that the endpoint has and the host's kernel does not, with all that the kernel does for its own:
/// checks whether another host has it (RFC 5227, 4862), announces it, answers ARP (RFC 826),
/// neighbour discovery (RFC 4861) and echo requests, finds the Ethernet addresses of others,
/// and reports multicast groups (IGMPv3 and v2: RFC 3376, 2236; MLDv2 and v1: RFC 3810, 2710).
/// It takes frames and times and hands out frames: no I/O, no clock. One thread at a time.
///
/// As `Neighbours`: asks for a neighbour each second, three times in a row, then again after a pause; a neighbour
/// that answered is asked again after 30 seconds, since hosts move. Finds nobody before the address is `owned`.
class OwnAddress final : public Neighbours {
 public:
  enum class State : std::uint8_t {
    probing,   ///< for the first second: asks whether another host has the address, and answers nothing
    owned,     ///< the address is ours
    duplicate  ///< another host has it; nothing is sent any more
  };

  /// Fails for an address that no single host can have, a prefix that is too long, a gateway outside the network.
  [[nodiscard]] static Result<std::unique_ptr<OwnAddress>> make(const OwnAddressConfig& config, Time now);
  ~OwnAddress() override;

  [[nodiscard]] State state() const;
  /// Returns who else claimed the address, at the start or later (ours was then defended once):
  /// a sentence with what to do; empty if nobody did.
  [[nodiscard]] std::string duplicate_text() const;

  /// Processes a received frame, from its Ethernet header on, a VLAN tag in its place.
  /// Returns true if it is a frame that this class is responsible for. Ignores malformed frames and frames for others.
  /// Afterwards there may be something in `output` and for `poll`.
  bool receive(Bytes frame, Time now);
  /// Returns the oldest frame to be sent, from its Ethernet header on; empty if there is none.
  /// Valid until the next call that is not const. Of more than 1024 frames the oldest are lost.
  [[nodiscard]] Bytes output() const;
  /// Removes the frame that `output` returns.
  void pop_output();

  /// Joins or leaves a multicast group, and tells the routers and switches.
  /// Returns false if it is not a group of the address's family. The solicited-node group of the address needs no call.
  bool join(const Gid& group, Time now);
  bool leave(const Gid& group, Time now);

  [[nodiscard]] std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) override;
  /// Lets time pass, so that there may be something in `output` afterwards.
  /// Call it at `next_timeout`, and after `receive`.
  [[nodiscard]] std::vector<Answer> poll(Time now) override;
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] Time next_timeout() const override;
  [[nodiscard]] std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) override;

 private:
  struct Parts;
  explicit OwnAddress(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Returns the neighbour discovery group of an IPv6 address: ff02::1:ff00:0/104 and its last 24 bits (RFC 4291).
[[nodiscard]] Gid solicited_node_group(const Gid& ip);

}  // namespace roce::port
