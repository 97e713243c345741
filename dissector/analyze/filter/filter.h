// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "packet_text/time_text.h"
#include "roce/wire/packet.h"

namespace roce::analyze {

/// An address to compare with: an IPv4 or IPv6 address (a GID) with a prefix length, or a MAC address.
class AddressPattern {
 public:
  /// Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1`, `2001:db8::/32`, `02:00:00:00:00:01`. Error: the problem.
  [[nodiscard]] static tl::expected<AddressPattern, std::string> parse(std::string_view text);

  [[nodiscard]] bool is_mac() const { return mac_.has_value(); }
  /// Returns the address that was read, unless `is_mac()`; the bits after the prefix are as they were given.
  [[nodiscard]] const Gid& address() const { return address_; }
  /// Returns the number of significant bits among the 128 of `address()`; at least 96 for an IPv4 address.
  [[nodiscard]] unsigned prefix() const { return prefix_; }
  [[nodiscard]] bool matches(const Gid& address) const;
  [[nodiscard]] bool matches(const MacAddress& address) const { return mac_ == address; }

 private:
  std::optional<MacAddress> mac_;
  Gid address_;
  unsigned prefix_ = 128;
};

/// The packets that a user asks for, in words.
struct PacketSelection {
  std::vector<std::string> qps;
  std::vector<std::string> opcodes;
  std::vector<std::string> addresses;
  std::vector<std::string> sources;
  std::vector<std::string> destinations;
  std::string from;
  std::string to;
};

/// Selects the packets that a user wants. Options of different kinds must all match; of several values of a kind, any.
class PacketFilter {
 public:
  /// Error: the wrong option, and what it expects.
  [[nodiscard]] static tl::expected<PacketFilter, std::string> make(const PacketSelection& wanted);

  /// Checks the time, in nanoseconds; `relative_ns` counts from the first packet of the file. A packet without a time
  /// passes only if there is no bound on the time.
  [[nodiscard]] bool passes_time(std::optional<std::int64_t> time_ns, std::int64_t relative_ns) const {
    return !has_time_ || is_in_time(time_ns, relative_ns);
  }
  /// Checks the addresses of a whole frame.
  [[nodiscard]] bool passes_addresses(const Packet& frame) const { return !has_addresses_ || has_address(frame); }
  /// Checks QP and opcode of one packet.
  [[nodiscard]] bool passes_transport(const Packet& packet) const { return !has_transport_ || has_wanted(packet); }

 private:
  [[nodiscard]] bool is_in_time(std::optional<std::int64_t> time_ns, std::int64_t relative_ns) const;
  [[nodiscard]] bool has_address(const Packet& frame) const;
  [[nodiscard]] bool has_wanted(const Packet& packet) const;

  std::optional<packet_text::TimeBound> from_;
  std::optional<packet_text::TimeBound> to_;
  std::vector<Qpn> qps_;
  std::optional<std::bitset<256>> opcodes_;
  std::vector<AddressPattern> either_;
  std::vector<AddressPattern> sources_;
  std::vector<AddressPattern> destinations_;
  bool has_time_ = false;
  bool has_addresses_ = false;
  bool has_transport_ = false;
};

}  // namespace roce::analyze
