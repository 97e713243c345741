// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conform/language/value.h"
#include "conform/target/target.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/packet.h"

namespace roce::conform {

/// Returns the header of a message of the communication manager: `CM_REQ`, `CM_SIDR_REP` …; empty for another name.
[[nodiscard]] std::optional<HeaderId> cm_message(std::string_view name);

/// Returns the name of a frame: that of its CM message, or of its opcode.
[[nodiscard]] std::string frame_name(const Packet& packet);

/// The words of the tester about its end of a connection, if the case says nothing else: a QP of the case,
/// and the identifiers of one conversation, as far as the device has named its own.
struct CmTalk {
  CommId local{};                       ///< the tester's
  CommId remote{};                      ///< the device's, from its last REQ or REP; 0 while unknown
  std::uint64_t request_transaction{};  ///< of the REQ, whoever sent it
  std::uint64_t asked_transaction{};    ///< of the device's last message that wants an answer
  std::uint64_t ca_guid{};
  ServiceId service{};
  transport::QpType type = transport::QpType::rc;
  Qpn local_qpn{};
  Qpn remote_qpn{};
  Psn starting_psn{};  ///< the first PSN that the tester receives
  std::uint32_t path_mtu = 0;
  std::uint8_t depth = 4;

  /// Takes over what a message of the device says.
  void learn(const Packet& packet);
  /// Returns the value of a name such as `local_id`, `remote_id`, `tid`, `asked_tid`, `guid`, `service`, `cma`.
  [[nodiscard]] std::optional<Value> find(std::string_view name, const Port& port) const;
  /// Returns the fields of a message, by the names of `PacketSpec`.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields_of(HeaderId message, const Port& port) const;
};

}  // namespace roce::conform
