// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roce/wire/opcode.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::test {

/// A frame of a capture.
struct CapturedFrame {
  std::uint64_t number = 0;  ///< in its file, from 1
  Time time{};
  std::vector<std::byte> bytes;

  [[nodiscard]] Packet packet() const { return parse_frame(bytes, LinkType::ethernet); }
};

/// The members of an answer that are compared.
struct Answer {
  Opcode opcode{};
  Psn psn{};
  std::optional<std::uint8_t> syndrome{};   ///< with an AETH
  std::optional<std::uint32_t> msn{};       ///< with an AETH
  std::uint32_t length = 0;                 ///< bytes of payload
  std::optional<std::uint64_t> original{};  ///< atomics only: the memory before the operation

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// Returns a text such as `RC_ACKNOWLEDGE psn 5 syndrome 0x1f msn 3 length 0`.
[[nodiscard]] std::string describe(const Answer& answer);
[[nodiscard]] Answer answer_of(const Packet& packet);

/// An answer and its place: its own number in the capture, in a replay the number of the request that was fed last.
struct NumberedAnswer {
  std::uint64_t number = 0;
  Answer answer{};
};

/// One direction of a connection (or all datagrams to one QP): the requests to a responder and its answers.
struct CapturedConnection {
  std::string capture;  ///< without `.tx.pcap`
  Service service = Service::rc;
  Gid responder{};
  Gid requester{};
  MacAddress responder_mac{};
  MacAddress requester_mac{};
  Qpn responder_qpn{};
  Qpn requester_qpn{};                  ///< destination QP of the answers; without answers the responder's QPN
  Psn first_psn{};                      ///< PSN of the first request sent, whether it arrived or not
  std::vector<CapturedFrame> requests;  ///< in the order of arrival
  std::vector<NumberedAnswer> answers;  ///< in the order of sending

  [[nodiscard]] std::string name() const;
};

/// Returns the names of the captures of real traffic, sorted.
[[nodiscard]] std::vector<std::string> capture_names();
/// Returns all requests to the Soft-RoCE responders of a capture and their answers. Requests are taken from after the
/// bridge that lost, repeated and damaged packets (NAME.rx.pcap, if it exists), answers from before it (NAME.tx.pcap).
/// Management datagrams are left out.
[[nodiscard]] std::vector<CapturedConnection> connections_of(const std::string& capture);

}  // namespace roce::test
