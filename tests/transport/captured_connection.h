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

/// What counts of an answer.
struct Answer {
  Opcode opcode{};
  Psn psn{};
  std::optional<std::uint8_t> syndrome{};   ///< with an AETH
  std::optional<std::uint32_t> msn{};       ///< with an AETH
  std::uint32_t length = 0;                 ///< bytes of payload
  std::optional<std::uint64_t> original{};  ///< of an atomic: the memory before it

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// `RC_ACKNOWLEDGE psn 5 syndrome 0x1f msn 3 length 0`
[[nodiscard]] std::string describe(const Answer& answer);
[[nodiscard]] Answer answer_of(const Packet& packet);

/// An answer and where it stands: in the capture its own number, in a replay that of the request fed last.
struct NumberedAnswer {
  std::uint64_t number = 0;
  Answer answer{};
};

/// One direction of a connection (or all datagrams to one QP): what a responder was asked and what it answered.
struct CapturedConnection {
  std::string capture;  ///< without `.tx.pcap`
  Service service = Service::rc;
  Gid responder{};
  Gid requester{};
  MacAddress responder_mac{};
  MacAddress requester_mac{};
  Qpn responder_qpn{};
  Qpn requester_qpn{};                  ///< as far as the answers tell
  Psn first_psn{};                      ///< of the first request that was sent, whether it arrived or not
  std::vector<CapturedFrame> requests;  ///< as they arrived
  std::vector<NumberedAnswer> answers;  ///< as they were sent

  [[nodiscard]] std::string name() const;
};

/// The captures of real traffic, by name, sorted.
[[nodiscard]] std::vector<std::string> capture_names();
/// What all Soft-RoCE responders of a capture were asked and answered. Requests are taken from behind the bridge that
/// lost, repeated and damaged packets (NAME.rx.pcap, where there is one), answers from before it (NAME.tx.pcap).
/// Management datagrams are left out.
[[nodiscard]] std::vector<CapturedConnection> connections_of(const std::string& capture);

}  // namespace roce::test
