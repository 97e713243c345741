// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/transport/device.h"
#include "roce/wire/frame_template.h"

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// The path to a peer, resolved: everything that its packets have in common.
struct Path {
  NetMeta net{};
  std::optional<MacAddress> destination_mac{};  ///< not known yet: to be found in the neighbour table
  FrameTemplate frame{};
  TxCaps::Link built_for = TxCaps::Link::ethernet;
  bool built = false;  ///< `frame` was built for `built_for`
  std::uint8_t service_level = 0;
  std::uint8_t priority = 0;  ///< class of the transmit scheduler
  bool count_ip_id = false;
  std::uint16_t next_ip_id = 0;
  std::uint16_t sgid_index = 0;
  std::optional<std::uint16_t> vlan_id{};
  bool multicast = false;
};

/// Resolves an address vector into a path between two QPs. Error: names the member that is wrong.
[[nodiscard]] VerbResult<Path> make_path(const DeviceState& device, const AddressVector& address, Qpn local,
                                         Qpn remote);
/// True if packets can be built for `link`; false if a neighbour's MAC address is missing.
[[nodiscard]] bool build_path(DeviceState& device, Path& path, TxCaps::Link link);
/// Returns how many bytes of the wire a packet takes beside BTH through ICRC: all headers in front, FCS, preamble and
/// gap.
[[nodiscard]] std::uint32_t bytes_around(const Path& path);
/// Asks the program, by an event, for the MAC address that a path is missing.
void ask_for_neighbour(DeviceState& device, Qpn qpn, const Path& path);
/// Builds the path of a QP; a QP that has to wait for a neighbour is remembered, and asks for it.
[[nodiscard]] bool build_path(DeviceState& device, Qp& qp, Path& path, TxCaps::Link link);

}  // namespace roce::transport::detail
