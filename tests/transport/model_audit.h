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

  /// Checks a request that leaves its sender. Returns an empty text, or what is wrong with the request.
  [[nodiscard]] std::string on_request(const Packet& packet, const transport::QpAttributes& sender);
  /// Checks an answer that leaves the responder. Returns an empty text, or what is wrong with the answer.
  [[nodiscard]] std::string on_response(const Packet& packet, const transport::QpAttributes& responder) const;

 private:
  /// One PSN, as it was first used.
  struct Use {
    Operation operation = Operation::unknown;
    Position position = Position::only;
    std::uint64_t digest = 0;          ///< digest of the opcode, extension headers and payload
    std::uint64_t address = 0;         ///< READ: address of the data that this PSN answers
    std::uint32_t length = 0;          ///< READ: bytes from `address` to the end
    std::uint32_t messages_ended = 0;  ///< number of messages that ended with this PSN or before
  };

  [[nodiscard]] std::string on_first_use(const Packet& packet);
  [[nodiscard]] std::string on_repeated_use(const Packet& packet, const Use& use) const;

  Psn first_;
  std::uint32_t mtu_;
  std::vector<Use> uses_;
};

/// Checks each frame, whatever its content: RoCE, complete, with a good ICRC, a correct pad and a known opcode.
[[nodiscard]] std::string audit_frame(const Packet& packet, std::uint32_t mtu);

}  // namespace roce::model
