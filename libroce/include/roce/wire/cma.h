// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// RDMA IP CM header, 36 bytes at the start of the private data of a REQ or SIDR_REQ (IBTA vol. 1, annex A11; W-CM-2).
/// An IPv4 address is stored as 12 zero bytes and the address.
struct Cma {
  std::uint8_t major_version{};  ///< 0
  std::uint8_t minor_version{};  ///< 0
  std::uint8_t ip_version = 4;   ///< 4 or 6
  std::uint8_t reserved{};
  std::uint16_t source_port{};
  Gid source_address{};
  Gid destination_address{};

  /// Returns an IPv4 address in the form that the header holds.
  [[nodiscard]] static constexpr Gid from_ipv4(const Ipv4Address& address) {
    Gid form = Gid::from_ipv4(address);
    form.octets[10] = form.octets[11] = 0;
    return form;
  }
  /// Returns the source address as a GID of RoCE v2: IPv4-mapped if `ip_version` is 4.
  [[nodiscard]] constexpr Gid source_gid() const { return to_gid(source_address); }
  /// Returns the destination address as a GID of RoCE v2: IPv4-mapped if `ip_version` is 4.
  [[nodiscard]] constexpr Gid destination_gid() const { return to_gid(destination_address); }

  friend constexpr bool operator==(const Cma&, const Cma&) = default;

 private:
  [[nodiscard]] constexpr Gid to_gid(const Gid& address) const {
    return ip_version == 4 ? Gid::from_ipv4(address.ipv4()) : address;
  }
};
template <>
inline constexpr HeaderName kHeader<Cma>{HeaderId::cma, "cma", "RDMA IP CM header", 36};
template <>
inline constexpr auto kFields<Cma> = FieldList{
    field<&Cma::major_version, 0, 4>("major_version", FieldFormat::decimal, "Major Version"),
    field<&Cma::minor_version, 4, 4>("minor_version", FieldFormat::decimal, "Minor Version"),
    field<&Cma::ip_version, 8, 4>("ip_version", FieldFormat::decimal, "IP Version"),
    field<&Cma::reserved, 12, 4>("reserved", FieldFormat::reserved, "Reserved"),
    field<&Cma::source_port, 16, 16>("source_port", FieldFormat::decimal, "Source Port"),
    field<&Cma::source_address, 32, 128>("source_address", FieldFormat::gid, "Source Address"),
    field<&Cma::destination_address, 160, 128>("destination_address", FieldFormat::gid, "Destination Address")};

/// True if the private data of a REQ or SIDR_REQ starts with a `Cma`: the service is one of the RDMA IP CM,
/// there are 36 bytes, the header's version is 0.0 and its IP version 4 or 6.
[[nodiscard]] constexpr bool has_cma(ServiceId service, Bytes private_data) {
  if (!service.is_rdma_ip() || private_data.size() < kSize<Cma> || private_data[0] != std::byte{0}) return false;
  const std::uint8_t ip_version = FieldOf<&Cma::ip_version>::get(private_data.data());
  return ip_version == 4 || ip_version == 6;
}

}  // namespace roce
