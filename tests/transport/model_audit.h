// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "roce/transport/qp_attributes.h"
#include "roce/wire/packet.h"

namespace roce::model {

/// Checks what one direction of a connection puts on the wire: the requests of one end and the answers of the other.
class Audit {
 public:
  Audit(Psn first, std::uint32_t mtu) : first_(first), mtu_(mtu) {}

  /// A request that leaves its sender; empty, or what is wrong with it.
  [[nodiscard]] std::string on_request(const Packet& packet, const transport::QpAttributes& sender);
  /// An answer that leaves the responder.
  [[nodiscard]] std::string on_response(const Packet& packet, const transport::QpAttributes& responder) const;

 private:
  /// One PSN as it was used first.
  struct Use {
    Operation operation = Operation::unknown;
    Position position = Position::only;
    std::uint64_t digest = 0;          ///< of headers and payload
    std::uint64_t address = 0;         ///< READ: of the data that this PSN answers
    std::uint32_t length = 0;          ///< READ: bytes from `address` to the end
    std::uint32_t messages_ended = 0;  ///< with this PSN and before
  };

  [[nodiscard]] std::string on_first_use(const Packet& packet);
  [[nodiscard]] std::string on_repeated_use(const Packet& packet, const Use& use) const;

  Psn first_;
  std::uint32_t mtu_;
  std::vector<Use> uses_;
};

/// What every frame has to be, whatever it says: RoCE, whole, with a good ICRC, its pad right and its opcode known.
[[nodiscard]] std::string audit_frame(const Packet& packet, std::uint32_t mtu);

}  // namespace roce::model
