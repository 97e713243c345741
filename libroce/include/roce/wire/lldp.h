// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/dcbx.h"
#include "roce/wire/header.h"

namespace roce {

/// LLDP TLV types (IEEE 802.1AB, table 8-1).
enum class LldpType : std::uint8_t {
  end = 0,
  chassis_id = 1,
  port_id = 2,
  time_to_live = 3,
  port_description = 4,
  system_name = 5,
  system_description = 6,
  system_capabilities = 7,
  management_address = 8,
  organization = 127,
};

inline constexpr std::array kLldpTypeNames{ValueName{0, "End"},
                                           ValueName{1, "Chassis ID"},
                                           ValueName{2, "Port ID"},
                                           ValueName{3, "Time To Live"},
                                           ValueName{4, "Port Description"},
                                           ValueName{5, "System Name"},
                                           ValueName{6, "System Description"},
                                           ValueName{7, "System Capabilities"},
                                           ValueName{8, "Management Address"},
                                           ValueName{127, "Organization specific"}};

/// The header of an LLDP TLV, 2 bytes (IEEE 802.1AB, 8.4); `length` bytes of value follow.
struct LldpTlv {
  LldpType type{};
  std::uint16_t length{};

  friend constexpr bool operator==(const LldpTlv&, const LldpTlv&) = default;
};
template <>
inline constexpr HeaderName kHeader<LldpTlv>{HeaderId::lldp_tlv, "lldp_tlv", "LLDP TLV", 2};
template <>
inline constexpr auto kFields<LldpTlv> =
    FieldList{field<&LldpTlv::type, 0, 7>("type", FieldFormat::decimal, "TLV Type", kLldpTypeNames),
              field<&LldpTlv::length, 7, 9>("length", FieldFormat::decimal, "TLV Length")};

/// Organisation of the IEEE 802.1 TLVs, including DCBX (W-LLDP-1: ETS, PFC and APP TLVs).
inline constexpr std::uint32_t kOuiIeee8021 = 0x0080C2;
/// Organisation of the TLVs of DCBX as it was before IEEE (CEE).
inline constexpr std::uint32_t kOuiCee = 0x001B21;

inline constexpr std::array kLldpOuiNames{ValueName{kOuiIeee8021, "IEEE 802.1"}, ValueName{0x00120F, "IEEE 802.3"},
                                          ValueName{0x0012BB, "TIA"}, ValueName{kOuiCee, "Intel"}};

/// The start of the value of an organisation-specific TLV, 4 bytes (IEEE 802.1AB, 8.6).
struct LldpOrg {
  std::uint32_t oui = kOuiIeee8021;
  std::uint8_t subtype{};

  friend constexpr bool operator==(const LldpOrg&, const LldpOrg&) = default;
};
template <>
inline constexpr HeaderName kHeader<LldpOrg>{HeaderId::lldp_org, "lldp_org", "LLDP organization", 4};
template <>
inline constexpr auto kFields<LldpOrg> =
    FieldList{field<&LldpOrg::oui, 0, 24>("oui", FieldFormat::hex, "Organization", kLldpOuiNames),
              field<&LldpOrg::subtype, 24, 8>("subtype", FieldFormat::decimal, "Subtype")};

/// Returns the DCBX header behind an organisation's OUI and subtype, or `HeaderId::none`. Entries follow `dcbx_app`.
[[nodiscard]] HeaderId dcbx_header_id(const LldpOrg& org);
/// Returns the OUI and subtype in front of a DCBX header.
[[nodiscard]] LldpOrg dcbx_org(HeaderId id);

/// Returns the DCBX header in the value of an organisation-specific TLV, or `HeaderId::none` for another organisation
/// or subtype. `value` starts at the OUI; offsets in errors count from there. Errors: `truncated` if it ends
/// inside the OUI, the subtype or the DCBX header, `bad_length` if its size is not one that the DCBX header can have.
[[nodiscard]] Result<HeaderId> dcbx_header_id(Bytes value);

/// Returns the application priorities in the value (from the OUI) of a TLV that holds `dcbx_app`: 3 bytes each,
/// to be read with `read<DcbxAppEntry>`. Leaves out an incomplete entry at the end. The span lives as long as `value`.
[[nodiscard]] Bytes dcbx_app_entries(Bytes value);

/// One TLV of an LLDPDU.
struct LldpItem {
  LldpTlv header;
  std::size_t offset = 0;  ///< offset of the TLV's header in the LLDPDU
  Bytes value;             ///< the bytes behind the header; part of the LLDPDU
};

/// Walks the TLVs of an LLDPDU: the bytes behind EtherType 0x88CC. Allocates nothing; the bytes must outlive it.
///
///     for (LldpWalker walker(pdu); walker.next(item);) …
class LldpWalker {
 public:
  explicit LldpWalker(Bytes pdu) : pdu_(pdu) {}

  /// Gets the next TLV, including the End TLV. Returns false after the End TLV and at a problem; `item` then stays.
  [[nodiscard]] bool next(LldpItem& item);

  /// Returns what ended the walk early; `ParseReason::none` during the walk and after an End TLV. `truncated`:
  /// a TLV extends beyond the end, or the LLDPDU ends without an End TLV; `bad_length`: the End TLV has a value.
  [[nodiscard]] const ParseError& problem() const { return problem_; }

  /// Returns where the next TLV starts; after the End TLV, where padding starts.
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  Bytes pdu_;
  std::size_t offset_ = 0;
  bool done_ = false;
  ParseError problem_{};
};

}  // namespace roce
