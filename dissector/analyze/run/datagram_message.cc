// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/datagram_message.h"

namespace roce::analyze {

std::optional<analysis::Message> message_of_datagram(const AnalysedPacket& packet) {
  const analysis::Observation& seen = packet.observation;
  const bool is_message = packet.analysis.role == analysis::PacketRole::datagram &&
                          packet.analysis.stream != analysis::kNoStream && seen.info().operation == Operation::send &&
                          !seen.icrc_bad && seen.is_whole;
  if (!is_message) return std::nullopt;
  analysis::Message message;
  message.stream = packet.analysis.stream;
  message.direction = packet.analysis.direction;
  message.type = analysis::MessageType::send;
  message.end = analysis::MessageEnd::sent;
  message.has_immediate = seen.info().immediate;
  message.first = message.last = seen.id;
  message.first_psn = seen.psn;
  message.psn_count = 1;
  message.bytes = seen.payload_length;
  message.start = message.finish = seen.time;
  return message;
}

}  // namespace roce::analyze
