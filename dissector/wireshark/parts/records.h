// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roce/wire/header_id.h"

namespace roce::plugin {

/// Values to show of a packet, in addition to the rows of the codec's field table.
enum class Derived : std::uint8_t {
  version,           ///< `RoceVersion`
  service,           ///< `Service` of the opcode; not for an undefined one
  opcode_name,       ///< the value is the opcode
  operation,         ///< `Operation`; not for an undefined opcode
  aeth_kind,         ///< `AethKind`
  aeth_name,         ///< the value is the syndrome
  aeth_credits,      ///< end-to-end credits of an ACK that grants a count
  aeth_rnr_us,       ///< wait of an RNR NAK, in microseconds
  aeth_nak,          ///< `NakCode`
  aeth_code,         ///< the low five bits of the syndrome, whatever they mean
  aeth_reserved,     ///< the highest bit of the syndrome
  traffic_class,     ///< of the GRH: DSCP << 2 | ECN
  mad_data,          ///< the bytes after the header of a management datagram
  service_port,      ///< port in a service ID of the RDMA IP CM
  service_protocol,  ///< IP protocol in a service ID of the RDMA IP CM
  cma_source,        ///< IPv4 address in the header of the RDMA IP CM
  cma_destination,   ///< IPv4 address in the header of the RDMA IP CM
  private_data,      ///< private data of the program, after the RDMA IP CM's header
  pause_ps,          ///< for PFC and PAUSE: the requested time in picoseconds; one record per priority
  payload,           ///< bytes; the value is their length on the wire
  pad,
  icrc,            ///< as on the wire, its first byte in the low bits
  icrc_computed,   ///< the right value
  icrc_status,     ///< `IcrcStatus`
  icrc_ip_id,      ///< the only IPv4 identification for which the ICRC is right
  icrc_unchecked,  ///< `IcrcUnchecked`: why it was not checked
  segment,         ///< number of the packet in its super-frame, from 1
  segment_count,   ///< number of packets in the super-frame
  problem,         ///< `ParseReason`: the packet could not be parsed to its end
  count,
};

enum class RecordKind : std::uint8_t {
  header,   ///< a header begins: `id` is its `HeaderId`, the records that follow are part of it
  field,    ///< a row of the field table: `id` is its number in `FieldNumbers`
  derived,  ///< `id` is a `Derived`
  end,      ///< the records that follow are not part of a header
};

/// One item to show of a packet.
struct Record {
  RecordKind kind{};
  std::uint16_t id = 0;
  std::uint32_t offset = 0;  ///< in the bytes from which the packet was parsed
  std::uint32_t size = 0;    ///< in bytes; 0: derived from other fields
  std::uint64_t value = 0;   ///< for `derived`

  friend bool operator==(const Record&, const Record&) = default;
};

/// The records of one packet. Fixed capacity and no destructor, since Wireshark may leave a dissector by a jump.
class RecordList {
 public:
  /// More than all headers of one packet have fields: a CM REQ with everything in front of it has 90.
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
