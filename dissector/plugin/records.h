// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roce/wire/header_id.h"

namespace roce::plugin {

/// What is shown of a packet beyond the rows of the codec's field table.
enum class Derived : std::uint8_t {
  version,           ///< `RoceVersion`
  service,           ///< `Service` of the opcode; not of an undefined one
  operation,         ///< `Operation`; not of an undefined opcode
  aeth_kind,         ///< `AethKind`
  aeth_credits,      ///< end-to-end credits of an ACK that grants a count
  aeth_rnr_us,       ///< wait of an RNR NAK, in microseconds
  aeth_nak,          ///< `NakCode`
  aeth_code,         ///< the low five bits of the syndrome, whatever they mean
  aeth_reserved,     ///< its highest bit
  traffic_class,     ///< of the GRH: DSCP << 2 | ECN
  mad_data,          ///< what follows the header of a management datagram
  service_port,      ///< of a service ID of the RDMA IP CM
  service_protocol,  ///< the same: its IP protocol
  private_data,      ///< of the program, behind the RDMA IP CM's header
  pause_ps,          ///< of PFC and PAUSE: the time asked for, in picoseconds; one record a priority
  payload,           ///< bytes; its length on the wire is the value
  pad,
  icrc,            ///< as on the wire, its first byte in the low bits
  icrc_computed,   ///< what it should be
  icrc_status,     ///< `IcrcStatus`
  icrc_ip_id,      ///< the one IPv4 identification that makes it right
  icrc_unchecked,  ///< `IcrcUnchecked`: why it was not checked
  segment,         ///< which packet of a super-frame it is, from 1
  segment_count,   ///< how many there are in it
  problem,         ///< `ParseReason`: the packet could not be followed to its end
  count,
};

enum class RecordKind : std::uint8_t {
  header,   ///< a header begins: `id` is its `HeaderId`, what follows lies in it
  field,    ///< a row of the field table: `id` is its number in `FieldNumbers`
  derived,  ///< `id` is a `Derived`
  end,      ///< what follows lies in no header
};

/// One thing to show of a packet.
struct Record {
  RecordKind kind{};
  std::uint16_t id = 0;
  std::uint32_t offset = 0;  ///< in the bytes that the packet was parsed from
  std::uint32_t size = 0;    ///< bytes; 0: it follows from others
  std::uint64_t value = 0;   ///< of `derived`

  friend bool operator==(const Record&, const Record&) = default;
};

/// The records of one packet. Of fixed capacity and without a destructor, since Wireshark leaves a dissector by a jump.
class RecordList {
 public:
  /// More than the headers of one packet have fields: a CM REQ with everything in front of it has 90.
  static constexpr std::size_t kCapacity = 192;

  [[nodiscard]] std::span<const Record> records() const { return {records_.data(), size_}; }
  [[nodiscard]] bool overflowed() const { return overflowed_; }

  void add(const Record& record) {
    if (size_ == kCapacity) {
      overflowed_ = true;
    } else {
      records_[size_++] = record;
    }
  }

 private:
  std::array<Record, kCapacity> records_;
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

}  // namespace roce::plugin
