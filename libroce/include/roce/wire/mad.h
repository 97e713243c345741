// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Management classes (IBTA vol. 1, 13.4.4).
enum class MgmtClass : std::uint8_t {
  subnet_lid_routed = 0x01,
  subnet_administration = 0x03,
  performance = 0x04,
  baseboard = 0x05,
  device = 0x06,
  communication = 0x07,
  snmp = 0x08,
  subnet_directed_route = 0x81,
};

inline constexpr std::array kMgmtClassNames{ValueName{0x01, "Subnet management, LID routed"},
                                            ValueName{0x03, "Subnet administration"},
                                            ValueName{0x04, "Performance management"},
                                            ValueName{0x05, "Baseboard management"},
                                            ValueName{0x06, "Device management"},
                                            ValueName{0x07, "Communication management"},
                                            ValueName{0x08, "SNMP tunnelling"},
                                            ValueName{0x81, "Subnet management, directed route"}};

/// Methods with the response bit (0x80) in their value (IBTA vol. 1, 13.4.5).
enum class MadMethod : std::uint8_t {
  get = 0x01,
  set = 0x02,
  send = 0x03,
  trap = 0x05,
  report = 0x06,
  trap_repress = 0x07,
  get_response = 0x81,
  report_response = 0x86,
};

inline constexpr std::array kMadMethodNames{ValueName{0x01, "Get"},     ValueName{0x02, "Set"},
                                            ValueName{0x03, "Send"},    ValueName{0x05, "Trap"},
                                            ValueName{0x06, "Report"},  ValueName{0x07, "TrapRepress"},
                                            ValueName{0x81, "GetResp"}, ValueName{0x86, "ReportResp"}};

/// Attributes of the communication management class (IBTA vol. 1, 16.7). Other classes have numbers of their own.
enum class MadAttribute : std::uint16_t {
  class_port_info = 0x0001,
  cm_req = 0x0010,
  cm_mra = 0x0011,
  cm_rej = 0x0012,
  cm_rep = 0x0013,
  cm_rtu = 0x0014,
  cm_dreq = 0x0015,
  cm_drep = 0x0016,
  cm_sidr_req = 0x0017,
  cm_sidr_rep = 0x0018,
  cm_lap = 0x0019,
  cm_apr = 0x001A,
};

inline constexpr std::array kMadAttributeNames{
    ValueName{0x0001, "ClassPortInfo"}, ValueName{0x0010, "CM REQ"},  ValueName{0x0011, "CM MRA"},
    ValueName{0x0012, "CM REJ"},        ValueName{0x0013, "CM REP"},  ValueName{0x0014, "CM RTU"},
    ValueName{0x0015, "CM DREQ"},       ValueName{0x0016, "CM DREP"}, ValueName{0x0017, "CM SIDR_REQ"},
    ValueName{0x0018, "CM SIDR_REP"},   ValueName{0x0019, "CM LAP"},  ValueName{0x001A, "CM APR"}};

/// Bytes of a whole management datagram: the common header and 232 bytes of data (IBTA vol. 1, 13.4).
inline constexpr std::size_t kMadSize = 256;

/// The common header of a management datagram, 24 bytes (IBTA vol. 1, 13.4; W-CM-1, MADs on QP1).
/// The defaults are those of a CM message, except for `transaction_id` and `attribute_id`.
struct Mad {
  std::uint8_t base_version = 1;
  MgmtClass mgmt_class = MgmtClass::communication;
  std::uint8_t class_version = 2;
  MadMethod method = MadMethod::send;
  std::uint16_t status{};
  std::uint16_t class_specific{};
  std::uint64_t transaction_id{};
  MadAttribute attribute_id{};
  std::uint16_t reserved{};
  std::uint32_t attribute_modifier{};

  friend constexpr bool operator==(const Mad&, const Mad&) = default;
};
template <>
inline constexpr HeaderName kHeader<Mad>{HeaderId::mad, "mad", "MAD", 24};
template <>
inline constexpr auto kFields<Mad> =
    FieldList{field<&Mad::base_version, 0, 8>("base_version", FieldFormat::decimal, "Base Version"),
              field<&Mad::mgmt_class, 8, 8>("mgmt_class", FieldFormat::hex, "Management Class", kMgmtClassNames),
              field<&Mad::class_version, 16, 8>("class_version", FieldFormat::decimal, "Class Version"),
              field<&Mad::method, 24, 8>("method", FieldFormat::hex, "Method", kMadMethodNames),
              field<&Mad::status, 32, 16>("status", FieldFormat::hex, "Status"),
              field<&Mad::class_specific, 48, 16>("class_specific", FieldFormat::hex, "Class Specific"),
              field<&Mad::transaction_id, 64, 64>("transaction_id", FieldFormat::hex, "Transaction ID"),
              field<&Mad::attribute_id, 128, 16>("attribute_id", FieldFormat::hex, "Attribute ID", kMadAttributeNames),
              field<&Mad::reserved, 144, 16>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Mad::attribute_modifier, 160, 32>("attribute_modifier", FieldFormat::hex, "Attribute Modifier")};

}  // namespace roce
