// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/wire/cm_rep.h"
#include "roce/wire/cm_req.h"
#include "roce/wire/types.h"

namespace roce {

// NVMe over RDMA: capsules, and the private data by which its connections are set up. Numbers are little-endian, so
// that they are not rows of the field table, whose bits are in network order. Sources: NVM Express Base Specification
// 2.0 (3.3.2.1, capsules; 3.3.3, queue entries; 4.1.2, SGLs; 6, Fabrics commands), NVM Express RDMA Transport
// Specification 1.0 (3.2, capsules and SGLs; 3.3, RDMA_CM private data).

/// The port of a target unless its administrator chose another one (IANA: nvme).
inline constexpr std::uint16_t kNvmePort = 4420;

/// The set of commands in which an opcode has its meaning.
enum class NvmeCommandSet : std::uint8_t { admin, io, fabrics };

/// The operation of a command: its opcode; of a Fabrics command, its command type.
struct NvmeOperation {
  NvmeCommandSet set = NvmeCommandSet::io;
  std::uint8_t code = 0;

  friend constexpr auto operator<=>(const NvmeOperation&, const NvmeOperation&) = default;
};

namespace nvme {

// Opcodes and Fabrics command types that mean something to the connection itself.
inline constexpr std::uint8_t kFabrics = 0x7F;
inline constexpr NvmeOperation kIdentify{NvmeCommandSet::admin, 0x06};
inline constexpr NvmeOperation kSetFeatures{NvmeCommandSet::admin, 0x09};
inline constexpr NvmeOperation kGetFeatures{NvmeCommandSet::admin, 0x0A};
inline constexpr NvmeOperation kAsynchronousEventRequest{NvmeCommandSet::admin, 0x0C};
inline constexpr NvmeOperation kKeepAlive{NvmeCommandSet::admin, 0x18};
inline constexpr NvmeOperation kPropertySet{NvmeCommandSet::fabrics, 0x00};
inline constexpr NvmeOperation kConnect{NvmeCommandSet::fabrics, 0x01};
inline constexpr NvmeOperation kPropertyGet{NvmeCommandSet::fabrics, 0x04};
/// The feature that holds the keep-alive timeout.
inline constexpr std::uint8_t kKeepAliveTimer = 0x0F;

}  // namespace nvme

/// Returns the specification's name of an operation; empty if it has none.
[[nodiscard]] std::string_view nvme_operation_name(NvmeOperation operation);

/// The way of a command's data.
enum class NvmeDataWay : std::uint8_t { none = 0, to_controller = 1, to_host = 2, both = 3 };

/// Returns which way the data of an operation go, by the two low bits of its code.
[[nodiscard]] constexpr NvmeDataWay nvme_data_way(NvmeOperation operation) {
  return static_cast<NvmeDataWay>(operation.code & 3);
}

/// The place of a command's data, by the first SGL descriptor.
enum class NvmeDataPlace : std::uint8_t {
  host_memory,  ///< a keyed SGL data block: the controller moves them by RDMA READ and WRITE
  in_capsule,   ///< an SGL data block with an offset
  elsewhere,    ///< another descriptor: a segment of further ones
};

/// The fields of a command capsule that matter beyond the two ends: the 64 bytes of its submission queue entry.
struct NvmeCommand {
  static constexpr std::size_t kBytes = 64;

  std::uint8_t opcode = 0;
  std::uint8_t fabrics_type = 0;  ///< only with opcode 0x7F
  bool has_sgl = false;           ///< its data are described by an SGL (PSDT), as those of every command over RDMA are
  std::uint16_t command_id = 0;
  std::uint32_t namespace_id = 0;  ///< not of Fabrics commands
  NvmeDataPlace data_place{};
  std::uint32_t data_length = 0;   ///< bytes; 0 if there are none
  std::uint64_t data_address = 0;  ///< with `host_memory`
  RKey data_key{};                 ///< with `host_memory`
  std::uint32_t dword10 = 0;
  std::uint32_t dword11 = 0;

  /// Reads the entry at the start of a SEND's payload; empty if there are fewer than 64 bytes.
  [[nodiscard]] static std::optional<NvmeCommand> read(Bytes payload);

  [[nodiscard]] bool is_fabrics() const { return opcode == nvme::kFabrics; }
  /// Returns the operation, on an admin or an I/O queue.
  [[nodiscard]] NvmeOperation operation(bool is_admin) const {
    if (is_fabrics()) return {NvmeCommandSet::fabrics, fabrics_type};
    return {is_admin ? NvmeCommandSet::admin : NvmeCommandSet::io, opcode};
  }
};

/// The fields of a Fabrics Connect command that `NvmeCommand` does not have.
struct NvmeConnect {
  std::uint16_t queue_id = 0;
  std::uint32_t queue_size = 0;     ///< entries: 1 … 65,536
  std::uint32_t keep_alive_ms = 0;  ///< the keep-alive timeout (KATO); 0: there is none

  /// Reads a Connect; empty if the payload does not begin with one.
  [[nodiscard]] static std::optional<NvmeConnect> read(Bytes payload);
};

/// The status field of a completion queue entry, without its phase bit.
struct NvmeStatus {
  std::uint8_t type = 0;  ///< status code type, 0 … 7
  std::uint8_t code = 0;
  bool more = false;
  bool do_not_retry = false;

  [[nodiscard]] bool is_success() const { return type == 0 && code == 0; }

  friend constexpr auto operator<=>(const NvmeStatus&, const NvmeStatus&) = default;
};

/// Returns the specification's name of a status. Codes of Fabrics commands have other names than the same codes of
/// others. Empty if it has none.
[[nodiscard]] std::string_view nvme_status_name(NvmeStatus status, NvmeCommandSet set);

/// A response capsule: the 16 bytes of a completion queue entry.
struct NvmeCompletion {
  static constexpr std::size_t kBytes = 16;

  std::uint64_t result = 0;  ///< dwords 0 and 1
  std::uint16_t head = 0;    ///< submission queue head pointer
  std::uint16_t command_id = 0;
  NvmeStatus status{};

  /// Reads the entry at the start of a SEND's payload; empty if there are fewer than 16 bytes.
  [[nodiscard]] static std::optional<NvmeCompletion> read(Bytes payload);
};

/// The private data of an RDMA_CM request for a queue.
struct NvmeQueueRequest {
  std::uint16_t queue_id = 0;
  std::uint16_t receive_size = 0;  ///< entries of the host's receive queue
  std::uint32_t queue_size = 0;    ///< entries of the submission queue: 1 … 65,536

  /// Reads the private data of a REQ, behind its `Cma`. Empty if that is missing or the record format is another one.
  [[nodiscard]] static std::optional<NvmeQueueRequest> read(const CmReq& request);
};

}  // namespace roce
