// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "roce/wire/header.h"

namespace roce {

/// Transport service, bits 7…5 of the opcode (IBTA vol. 1, 9.2.1).
enum class Service : std::uint8_t {
  rc = 0,
  uc = 1,
  rd = 2,
  ud = 3,
  cnp = 4,  ///< congestion notification (annex A17)
  xrc = 5,
  reserved = 6,
  manufacturer = 7,
};

/// The operation that a packet requests or answers, whatever the service.
enum class Operation : std::uint8_t {
  unknown,
  send,
  write,
  read_request,
  read_response,
  acknowledge,
  atomic_acknowledge,
  compare_swap,
  fetch_add,
  resync,
  flush,
  atomic_write,
  cnp,
};

/// The position of a packet in its message. Requests and answers of one packet are `only`.
enum class Position : std::uint8_t { first, middle, last, only };

[[nodiscard]] constexpr bool begins_message(Position position) {
  return position == Position::first || position == Position::only;
}
[[nodiscard]] constexpr bool ends_message(Position position) {
  return position == Position::last || position == Position::only;
}

/// The payload that may lie between the headers and the pad.
enum class PayloadRule : std::uint8_t {
  none,           ///< nothing
  exactly_mtu,    ///< the path MTU
  one_to_mtu,     ///< 1 … path MTU bytes
  zero_to_mtu,    ///< 0 … path MTU bytes (UD: port MTU)
  exactly_eight,  ///< 8 bytes
  opaque,         ///< unknown
};

/// One row of the opcode table: everything that follows from the opcode alone (W-OPC-1).
struct OpcodeInfo {
  std::string_view name;  ///< `RC_SEND_FIRST`, `CNP`; empty for an opcode that no specification defines
  Service service = Service::reserved;
  Operation operation = Operation::unknown;
  Position position = Position::only;
  PayloadRule payload = PayloadRule::opaque;
  bool immediate = false;   ///< carries immediate data
  bool invalidate = false;  ///< carries an R_Key to invalidate
  std::uint8_t header_count = 0;
  std::uint16_t header_bytes = 0;  ///< all headers after the BTH together
  std::array<HeaderId, 4> header_ids{};

  [[nodiscard]] constexpr bool defined() const { return !name.empty(); }
  /// True for the first packet of a message, which may be its only one.
  [[nodiscard]] constexpr bool begins_message() const { return roce::begins_message(position); }
  /// True for the last packet of a message, which may be its only one.
  [[nodiscard]] constexpr bool ends_message() const { return roce::ends_message(position); }
  /// Returns the headers after the BTH, in wire order.
  [[nodiscard]] constexpr std::span<const HeaderId> headers() const { return {header_ids.data(), header_count}; }
  /// True if the packet travels from responder to requester.
  [[nodiscard]] constexpr bool is_response() const {
    return operation == Operation::read_response || operation == Operation::acknowledge ||
           operation == Operation::atomic_acknowledge;
  }
};

/// The first byte of a BTH. Every value may occur on a wire; the ones that a specification defines have a name.
/// Rows: IBTA vol. 1, 9.2.1 (RC, UC, RD, UD), annex A14 (XRC), A17 (CNP), A19 (FLUSH, ATOMIC WRITE).
enum class Opcode : std::uint8_t {
  rc_send_first = 0x00,
  rc_send_middle,
  rc_send_last,
  rc_send_last_imm,
  rc_send_only,
  rc_send_only_imm,
  rc_write_first,
  rc_write_middle,
  rc_write_last,
  rc_write_last_imm,
  rc_write_only,
  rc_write_only_imm,
  rc_read_request,
  rc_read_response_first,
  rc_read_response_middle,
  rc_read_response_last,
  rc_read_response_only,
  rc_acknowledge,
  rc_atomic_acknowledge,
  rc_compare_swap,
  rc_fetch_add,
  rc_send_last_invalidate = 0x16,
  rc_send_only_invalidate,
  rc_flush = 0x1C,
  rc_atomic_write,
  uc_send_first = 0x20,
  uc_send_middle,
  uc_send_last,
  uc_send_last_imm,
  uc_send_only,
  uc_send_only_imm,
  uc_write_first,
  uc_write_middle,
  uc_write_last,
  uc_write_last_imm,
  uc_write_only,
  uc_write_only_imm,
  rd_send_first = 0x40,
  rd_send_middle,
  rd_send_last,
  rd_send_last_imm,
  rd_send_only,
  rd_send_only_imm,
  rd_write_first,
  rd_write_middle,
  rd_write_last,
  rd_write_last_imm,
  rd_write_only,
  rd_write_only_imm,
  rd_read_request,
  rd_read_response_first,
  rd_read_response_middle,
  rd_read_response_last,
  rd_read_response_only,
  rd_acknowledge,
  rd_atomic_acknowledge,
  rd_compare_swap,
  rd_fetch_add,
  rd_resync,
  rd_flush = 0x5C,
  rd_atomic_write,
  ud_send_only = 0x64,
  ud_send_only_imm,
  cnp = 0x81,
  xrc_send_first = 0xA0,
  xrc_send_middle,
  xrc_send_last,
  xrc_send_last_imm,
  xrc_send_only,
  xrc_send_only_imm,
  xrc_write_first,
  xrc_write_middle,
  xrc_write_last,
  xrc_write_last_imm,
  xrc_write_only,
  xrc_write_only_imm,
  xrc_read_request,
  xrc_read_response_first,
  xrc_read_response_middle,
  xrc_read_response_last,
  xrc_read_response_only,
  xrc_acknowledge,
  xrc_atomic_acknowledge,
  xrc_compare_swap,
  xrc_fetch_add,
  xrc_send_last_invalidate = 0xB6,
  xrc_send_only_invalidate,
  xrc_flush = 0xBC,
  xrc_atomic_write,
};

namespace detail {

/// One operation of the table, for all services that have it.
struct OperationRow {
  std::uint8_t code;                     ///< the low five bits
  std::string_view rc, uc, rd, ud, xrc;  ///< names, empty if the service does not have the operation
  Operation operation;
  Position position;
  PayloadRule payload;
  std::array<HeaderId, 2> headers;  ///< headers of the RC form
};

using enum HeaderId;
inline constexpr std::array kOperationRows{
    OperationRow{0x00,
                 "RC_SEND_FIRST",
                 "UC_SEND_FIRST",
                 "RD_SEND_FIRST",
                 "",
                 "XRC_SEND_FIRST",
                 Operation::send,
                 Position::first,
                 PayloadRule::exactly_mtu,
                 {}},
    OperationRow{0x01,
                 "RC_SEND_MIDDLE",
                 "UC_SEND_MIDDLE",
                 "RD_SEND_MIDDLE",
                 "",
                 "XRC_SEND_MIDDLE",
                 Operation::send,
                 Position::middle,
                 PayloadRule::exactly_mtu,
                 {}},
    OperationRow{0x02,
                 "RC_SEND_LAST",
                 "UC_SEND_LAST",
                 "RD_SEND_LAST",
                 "",
                 "XRC_SEND_LAST",
                 Operation::send,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {}},
    OperationRow{0x03,
                 "RC_SEND_LAST_IMM",
                 "UC_SEND_LAST_IMM",
                 "RD_SEND_LAST_IMM",
                 "",
                 "XRC_SEND_LAST_IMM",
                 Operation::send,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {immdt}},
    OperationRow{0x04,
                 "RC_SEND_ONLY",
                 "UC_SEND_ONLY",
                 "RD_SEND_ONLY",
                 "UD_SEND_ONLY",
                 "XRC_SEND_ONLY",
                 Operation::send,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {}},
    OperationRow{0x05,
                 "RC_SEND_ONLY_IMM",
                 "UC_SEND_ONLY_IMM",
                 "RD_SEND_ONLY_IMM",
                 "UD_SEND_ONLY_IMM",
                 "XRC_SEND_ONLY_IMM",
                 Operation::send,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {immdt}},
    OperationRow{0x06,
                 "RC_WRITE_FIRST",
                 "UC_WRITE_FIRST",
                 "RD_WRITE_FIRST",
                 "",
                 "XRC_WRITE_FIRST",
                 Operation::write,
                 Position::first,
                 PayloadRule::exactly_mtu,
                 {reth}},
    OperationRow{0x07,
                 "RC_WRITE_MIDDLE",
                 "UC_WRITE_MIDDLE",
                 "RD_WRITE_MIDDLE",
                 "",
                 "XRC_WRITE_MIDDLE",
                 Operation::write,
                 Position::middle,
                 PayloadRule::exactly_mtu,
                 {}},
    OperationRow{0x08,
                 "RC_WRITE_LAST",
                 "UC_WRITE_LAST",
                 "RD_WRITE_LAST",
                 "",
                 "XRC_WRITE_LAST",
                 Operation::write,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {}},
    OperationRow{0x09,
                 "RC_WRITE_LAST_IMM",
                 "UC_WRITE_LAST_IMM",
                 "RD_WRITE_LAST_IMM",
                 "",
                 "XRC_WRITE_LAST_IMM",
                 Operation::write,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {immdt}},
    OperationRow{0x0A,
                 "RC_WRITE_ONLY",
                 "UC_WRITE_ONLY",
                 "RD_WRITE_ONLY",
                 "",
                 "XRC_WRITE_ONLY",
                 Operation::write,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {reth}},
    OperationRow{0x0B,
                 "RC_WRITE_ONLY_IMM",
                 "UC_WRITE_ONLY_IMM",
                 "RD_WRITE_ONLY_IMM",
                 "",
                 "XRC_WRITE_ONLY_IMM",
                 Operation::write,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {reth, immdt}},
    OperationRow{0x0C,
                 "RC_READ_REQUEST",
                 "",
                 "RD_READ_REQUEST",
                 "",
                 "XRC_READ_REQUEST",
                 Operation::read_request,
                 Position::only,
                 PayloadRule::none,
                 {reth}},
    OperationRow{0x0D,
                 "RC_READ_RESPONSE_FIRST",
                 "",
                 "RD_READ_RESPONSE_FIRST",
                 "",
                 "XRC_READ_RESPONSE_FIRST",
                 Operation::read_response,
                 Position::first,
                 PayloadRule::exactly_mtu,
                 {aeth}},
    // W-OPC-4: READ Response Middle has no AETH.
    OperationRow{0x0E,
                 "RC_READ_RESPONSE_MIDDLE",
                 "",
                 "RD_READ_RESPONSE_MIDDLE",
                 "",
                 "XRC_READ_RESPONSE_MIDDLE",
                 Operation::read_response,
                 Position::middle,
                 PayloadRule::exactly_mtu,
                 {}},
    OperationRow{0x0F,
                 "RC_READ_RESPONSE_LAST",
                 "",
                 "RD_READ_RESPONSE_LAST",
                 "",
                 "XRC_READ_RESPONSE_LAST",
                 Operation::read_response,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {aeth}},
    OperationRow{0x10,
                 "RC_READ_RESPONSE_ONLY",
                 "",
                 "RD_READ_RESPONSE_ONLY",
                 "",
                 "XRC_READ_RESPONSE_ONLY",
                 Operation::read_response,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {aeth}},
    OperationRow{0x11,
                 "RC_ACKNOWLEDGE",
                 "",
                 "RD_ACKNOWLEDGE",
                 "",
                 "XRC_ACKNOWLEDGE",
                 Operation::acknowledge,
                 Position::only,
                 PayloadRule::none,
                 {aeth}},
    OperationRow{0x12,
                 "RC_ATOMIC_ACKNOWLEDGE",
                 "",
                 "RD_ATOMIC_ACKNOWLEDGE",
                 "",
                 "XRC_ATOMIC_ACKNOWLEDGE",
                 Operation::atomic_acknowledge,
                 Position::only,
                 PayloadRule::none,
                 {aeth, atomicacketh}},
    OperationRow{0x13,
                 "RC_COMPARE_SWAP",
                 "",
                 "RD_COMPARE_SWAP",
                 "",
                 "XRC_COMPARE_SWAP",
                 Operation::compare_swap,
                 Position::only,
                 PayloadRule::none,
                 {atomiceth}},
    OperationRow{0x14,
                 "RC_FETCH_ADD",
                 "",
                 "RD_FETCH_ADD",
                 "",
                 "XRC_FETCH_ADD",
                 Operation::fetch_add,
                 Position::only,
                 PayloadRule::none,
                 {atomiceth}},
    OperationRow{0x15, "", "", "RD_RESYNC", "", "", Operation::resync, Position::only, PayloadRule::none, {}},
    OperationRow{0x16,
                 "RC_SEND_LAST_INVALIDATE",
                 "",
                 "",
                 "",
                 "XRC_SEND_LAST_INVALIDATE",
                 Operation::send,
                 Position::last,
                 PayloadRule::one_to_mtu,
                 {ieth}},
    OperationRow{0x17,
                 "RC_SEND_ONLY_INVALIDATE",
                 "",
                 "",
                 "",
                 "XRC_SEND_ONLY_INVALIDATE",
                 Operation::send,
                 Position::only,
                 PayloadRule::zero_to_mtu,
                 {ieth}},
    OperationRow{0x1C,
                 "RC_FLUSH",
                 "",
                 "RD_FLUSH",
                 "",
                 "XRC_FLUSH",
                 Operation::flush,
                 Position::only,
                 PayloadRule::none,
                 {feth, reth}},
    OperationRow{0x1D,
                 "RC_ATOMIC_WRITE",
                 "",
                 "RD_ATOMIC_WRITE",
                 "",
                 "XRC_ATOMIC_WRITE",
                 Operation::atomic_write,
                 Position::only,
                 PayloadRule::exactly_eight,
                 {reth}}};

/// Returns the bytes of a header that an opcode can name.
[[nodiscard]] constexpr std::uint8_t transport_header_size(HeaderId id) {
  switch (id) {
    case rdeth:
    case xrceth:
    case feth:
    case aeth:
    case immdt:
    case ieth:
      return 4;
    case deth:
    case atomicacketh:
      return 8;
    case reth:
    case cnp:
      return 16;
    case atomiceth:
      return 28;
    default:
      return 0;
  }
}

constexpr void append_header(OpcodeInfo& info, HeaderId id) {
  if (id == none) return;
  info.header_ids[info.header_count++] = id;
  info.header_bytes = static_cast<std::uint16_t>(info.header_bytes + transport_header_size(id));
}

[[nodiscard]] constexpr OpcodeInfo make_opcode_row(const OperationRow& row, Service service, std::string_view name) {
  OpcodeInfo info{
      .name = name, .service = service, .operation = row.operation, .position = row.position, .payload = row.payload};
  info.immediate = row.headers[0] == immdt || row.headers[1] == immdt;
  info.invalidate = row.headers[0] == ieth;
  // W-OPC-3: RD puts RDETH first and, in requests, DETH behind it; UD puts DETH first; XRC requests put XRCETH first.
  // The memory placement requests of RD have no DETH (annex A19).
  const bool request = !info.is_response();
  const bool placement = row.operation == Operation::flush || row.operation == Operation::atomic_write;
  if (service == Service::rd) append_header(info, rdeth);
  if ((service == Service::rd && request && !placement) || service == Service::ud) append_header(info, deth);
  if (service == Service::xrc && request) append_header(info, xrceth);
  for (const HeaderId id : row.headers) append_header(info, id);
  return info;
}

[[nodiscard]] constexpr std::array<OpcodeInfo, 256> make_opcode_table() {
  std::array<OpcodeInfo, 256> table{};
  for (std::size_t code = 0; code < 256; ++code) table[code].service = static_cast<Service>(code >> 5);
  for (const OperationRow& row : kOperationRows) {
    const auto place = [&](Service service, std::string_view name) {
      if (!name.empty()) {
        table[static_cast<std::size_t>(service) << 5 | row.code] = make_opcode_row(row, service, name);
      }
    };
    place(Service::rc, row.rc);
    place(Service::uc, row.uc);
    place(Service::rd, row.rd);
    place(Service::ud, row.ud);
    place(Service::xrc, row.xrc);
  }
  OpcodeInfo& notification = table[static_cast<std::size_t>(Opcode::cnp)];
  notification = {.name = "CNP", .service = Service::cnp, .operation = Operation::cnp, .payload = PayloadRule::none};
  append_header(notification, cnp);
  return table;
}

}  // namespace detail

/// The opcode table, indexed by the BTH's first byte.
inline constexpr std::array<OpcodeInfo, 256> kOpcodeTable = detail::make_opcode_table();

/// Returns the row of an opcode.
[[nodiscard]] constexpr const OpcodeInfo& opcode_info(Opcode opcode) {
  return kOpcodeTable[static_cast<std::size_t>(opcode)];
}

/// Returns the opcode of a name as in `OpcodeInfo::name` (upper or lower case), or of a number (`0x11`, `17`).
[[nodiscard]] std::optional<Opcode> opcode_from_name(std::string_view name);

namespace detail {

[[nodiscard]] constexpr std::size_t count_defined_opcodes() {
  std::size_t count = 0;
  for (const OpcodeInfo& row : kOpcodeTable) count += row.defined() ? 1 : 0;
  return count;
}

[[nodiscard]] constexpr auto make_opcode_names() {
  std::array<ValueName, count_defined_opcodes()> names{};
  std::size_t next = 0;
  for (std::size_t code = 0; code < 256; ++code) {
    if (kOpcodeTable[code].defined()) names[next++] = {code, kOpcodeTable[code].name};
  }
  return names;
}

}  // namespace detail

/// The defined opcodes by value, for the field table.
inline constexpr auto kOpcodeNames = detail::make_opcode_names();

/// True if `length` payload bytes are legal for the rule at path MTU `mtu` (256 … 4096).
[[nodiscard]] constexpr bool payload_fits(PayloadRule rule, std::size_t length, std::size_t mtu) {
  switch (rule) {
    case PayloadRule::none:
      return length == 0;
    case PayloadRule::exactly_mtu:
      return length == mtu;
    case PayloadRule::one_to_mtu:
      return length >= 1 && length <= mtu;
    case PayloadRule::zero_to_mtu:
      return length <= mtu;
    case PayloadRule::exactly_eight:
      return length == 8;
    case PayloadRule::opaque:
      return true;
  }
  return true;
}

}  // namespace roce
