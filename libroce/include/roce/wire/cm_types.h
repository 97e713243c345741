// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Communication ID, opaque and unique at the side that chose it; 0 means none (IBTA vol. 1, 12.7).
using CommId = StrongInt<struct CommIdTag, std::uint32_t, 32>;

/// RDMA port space of an RDMA IP CM service ID (IBTA vol. 1, annex A11; the values of Linux).
enum class PortSpace : std::uint16_t { ipoib = 0x0002, tcp = 0x0106, udp = 0x0111, ib = 0x013F };

/// The service that a connection request asks for, 64 bits.
/// RDMA IP CM service IDs are 00 00 00 00 01, the IP protocol and the destination port (IBTA vol. 1, annex A11).
class ServiceId {
 public:
  using rep = std::uint64_t;

  constexpr ServiceId() = default;
  constexpr explicit ServiceId(std::uint64_t value) : value_(value) {}
  constexpr ServiceId(PortSpace space, std::uint16_t port)
      : value_(std::uint64_t{static_cast<std::uint16_t>(space)} << 16 | port) {}

  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  /// True if the service is one of the RDMA IP CM, named by IP protocol and port.
  [[nodiscard]] constexpr bool is_rdma_ip() const { return value_ >> 24 == 1; }
  /// Returns bits 31…16: the port space of an RDMA CM service.
  [[nodiscard]] constexpr PortSpace port_space() const { return static_cast<PortSpace>(value_ >> 16 & 0xFFFF); }
  /// Returns the IP protocol number, if `is_rdma_ip()`.
  [[nodiscard]] constexpr std::uint8_t ip_protocol() const { return static_cast<std::uint8_t>(value_ >> 16); }
  /// Returns the destination port of an RDMA CM service.
  [[nodiscard]] constexpr std::uint16_t port() const { return static_cast<std::uint16_t>(value_); }

  friend constexpr bool operator==(ServiceId, ServiceId) = default;
  friend constexpr auto operator<=>(ServiceId, ServiceId) = default;

 private:
  std::uint64_t value_{};
};

/// Transport service type of a REQ (IBTA vol. 1, 12.7); with `extended`, `CmExtendedTransport` has the type.
enum class CmTransportService : std::uint8_t { rc = 0, uc = 1, rd = 2, extended = 3 };

inline constexpr std::array kCmTransportServiceNames{ValueName{0, "RC"}, ValueName{1, "UC"}, ValueName{2, "RD"},
                                                     ValueName{3, "extended"}};

/// Extended transport type of a REQ (IBTA vol. 1, annex A14).
enum class CmExtendedTransport : std::uint8_t { none = 0, xrc = 1 };

inline constexpr std::array kCmExtendedTransportNames{ValueName{0, "none"}, ValueName{1, "XRC"}};

/// Path MTU code (IBTA vol. 1, 12.7).
enum class PathMtu : std::uint8_t { mtu_256 = 1, mtu_512 = 2, mtu_1024 = 3, mtu_2048 = 4, mtu_4096 = 5 };

inline constexpr std::array kPathMtuNames{ValueName{1, "256 bytes"}, ValueName{2, "512 bytes"},
                                          ValueName{3, "1024 bytes"}, ValueName{4, "2048 bytes"},
                                          ValueName{5, "4096 bytes"}};

/// Returns the payload bytes of a path MTU code; 0 for a reserved code.
[[nodiscard]] constexpr std::uint32_t to_bytes(PathMtu mtu) {
  const auto code = static_cast<unsigned>(mtu);
  return code >= 1 && code <= 5 ? 128U << code : 0;
}

/// Packet rate code of a path (IBTA vol. 1, PathRecord.Rate); 0 is the rate of the port.
enum class PacketRate : std::uint8_t { port_current = 0 };

inline constexpr std::array kPacketRateNames{
    ValueName{0, "port current"}, ValueName{2, "2.5 Gb/s"},  ValueName{3, "10 Gb/s"},  ValueName{4, "30 Gb/s"},
    ValueName{5, "5 Gb/s"},       ValueName{6, "20 Gb/s"},   ValueName{7, "40 Gb/s"},  ValueName{8, "60 Gb/s"},
    ValueName{9, "80 Gb/s"},      ValueName{10, "120 Gb/s"}, ValueName{11, "14 Gb/s"}, ValueName{12, "56 Gb/s"},
    ValueName{13, "112 Gb/s"},    ValueName{14, "168 Gb/s"}, ValueName{15, "25 Gb/s"}, ValueName{16, "100 Gb/s"},
    ValueName{17, "200 Gb/s"},    ValueName{18, "300 Gb/s"}, ValueName{19, "28 Gb/s"}, ValueName{20, "50 Gb/s"},
    ValueName{21, "400 Gb/s"},    ValueName{22, "600 Gb/s"}, ValueName{23, "800 Gb/s"}};

/// The replier's answer to the alternate path of the REQ (IBTA vol. 1, 12.7).
enum class CmFailover : std::uint8_t { accepted = 0, not_supported = 1, rejected = 2 };

inline constexpr std::array kCmFailoverNames{ValueName{0, "accepted"}, ValueName{1, "not supported"},
                                             ValueName{2, "rejected"}};

/// The message that an MRA acknowledges or a REJ rejects (IBTA vol. 1, 12.6.6, 12.6.7). In an MRA, `other` is the LAP.
enum class CmMessageKind : std::uint8_t { req = 0, rep = 1, other = 2 };

inline constexpr std::array kCmMessageKindNames{ValueName{0, "REQ"}, ValueName{1, "REP"}, ValueName{2, "other"}};

/// The reason why a request is rejected (IBTA vol. 1, 12.6.7).
enum class CmRejReason : std::uint16_t {
  no_qp = 1,
  no_eec = 2,
  no_resources = 3,
  timeout = 4,
  unsupported = 5,
  invalid_comm_id = 6,
  invalid_comm_instance = 7,
  invalid_service_id = 8,
  invalid_transport_type = 9,
  stale_connection = 10,
  rdc_does_not_exist = 11,
  invalid_gid = 12,
  invalid_lid = 13,
  invalid_sl = 14,
  invalid_traffic_class = 15,
  invalid_hop_limit = 16,
  invalid_packet_rate = 17,
  invalid_alternate_gid = 18,
  invalid_alternate_lid = 19,
  invalid_alternate_sl = 20,
  invalid_alternate_traffic_class = 21,
  invalid_alternate_hop_limit = 22,
  invalid_alternate_packet_rate = 23,
  port_and_cm_redirect = 24,
  port_redirect = 25,
  invalid_path_mtu = 26,
  insufficient_responder_resources = 27,
  consumer_defined = 28,
  invalid_rnr_retry = 29,
  duplicate_local_comm_id = 30,
  invalid_class_version = 31,
  invalid_flow_label = 32,
  invalid_alternate_flow_label = 33,
  vendor_option_not_supported = 35,
};

inline constexpr std::array kCmRejReasonNames{ValueName{1, "no QP"},
                                              ValueName{2, "no EEC"},
                                              ValueName{3, "no resources"},
                                              ValueName{4, "timeout"},
                                              ValueName{5, "unsupported request"},
                                              ValueName{6, "invalid communication ID"},
                                              ValueName{7, "invalid communication instance"},
                                              ValueName{8, "invalid service ID"},
                                              ValueName{9, "invalid transport service type"},
                                              ValueName{10, "stale connection"},
                                              ValueName{11, "RDC does not exist"},
                                              ValueName{12, "primary remote port GID rejected"},
                                              ValueName{13, "primary remote port LID rejected"},
                                              ValueName{14, "invalid primary SL"},
                                              ValueName{15, "invalid primary traffic class"},
                                              ValueName{16, "invalid primary hop limit"},
                                              ValueName{17, "invalid primary packet rate"},
                                              ValueName{18, "alternate remote port GID rejected"},
                                              ValueName{19, "alternate remote port LID rejected"},
                                              ValueName{20, "invalid alternate SL"},
                                              ValueName{21, "invalid alternate traffic class"},
                                              ValueName{22, "invalid alternate hop limit"},
                                              ValueName{23, "invalid alternate packet rate"},
                                              ValueName{24, "port and CM redirection"},
                                              ValueName{25, "port redirection"},
                                              ValueName{26, "invalid path MTU"},
                                              ValueName{27, "insufficient responder resources"},
                                              ValueName{28, "consumer reject"},
                                              ValueName{29, "invalid RNR retry count"},
                                              ValueName{30, "duplicate local communication ID"},
                                              ValueName{31, "unsupported class version"},
                                              ValueName{32, "invalid primary flow label"},
                                              ValueName{33, "invalid alternate flow label"},
                                              ValueName{35, "vendor option not supported"}};

/// Outcome of a service ID resolution (IBTA vol. 1, 12.11.2).
enum class CmSidrStatus : std::uint8_t {
  success = 0,
  unsupported = 1,
  rejected = 2,
  no_qp = 3,
  redirect = 4,
  unsupported_version = 5,
};

inline constexpr std::array kCmSidrStatusNames{ValueName{0, "success"},  ValueName{1, "service ID not supported"},
                                               ValueName{2, "rejected"}, ValueName{3, "no QP"},
                                               ValueName{4, "redirect"}, ValueName{5, "unsupported version"}};

/// Outcome of a LAP (IBTA vol. 1, 12.8.2).
enum class CmAprStatus : std::uint8_t {
  success = 0,
  invalid_comm_id = 1,
  unsupported = 2,
  rejected = 3,
  redirect = 4,
  is_current = 5,
  invalid_qpn = 6,
  invalid_lid = 7,
  invalid_gid = 8,
  invalid_flow_label = 9,
  invalid_traffic_class = 10,
  invalid_hop_limit = 11,
  invalid_packet_rate = 12,
  invalid_sl = 13,
};

inline constexpr std::array kCmAprStatusNames{ValueName{0, "success"},
                                              ValueName{1, "invalid communication ID"},
                                              ValueName{2, "unsupported"},
                                              ValueName{3, "rejected"},
                                              ValueName{4, "redirect"},
                                              ValueName{5, "already current"},
                                              ValueName{6, "invalid QPN"},
                                              ValueName{7, "invalid LID"},
                                              ValueName{8, "invalid GID"},
                                              ValueName{9, "invalid flow label"},
                                              ValueName{10, "invalid traffic class"},
                                              ValueName{11, "invalid hop limit"},
                                              ValueName{12, "invalid packet rate"},
                                              ValueName{13, "invalid SL"}};

}  // namespace roce
