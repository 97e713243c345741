// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "roce/cm/connection.h"
#include "roce/cm/connection_manager.h"
#include "roce/wire/types.h"

// The records of roce-portd, which runs the communication manager of its address, and the programs there. A process has
// one connection for commands, each of which is answered before the next one, and one for each of its event channels,
// on which the daemon only speaks.
namespace roce::verbs {

enum class CmVerb : std::uint32_t {
  listen,          ///< `service`, `listener`, `channel`
  stop_listening,  ///< `listener`
  connect,         ///< `service`, `remote`, the parameters of a REQ, `channel`; the answer has the connection
  accept,          ///< `connection`, the parameters of a REP
  confirm,         ///< `connection`: sends the RTU
  reject,          ///< `connection`
  disconnect,      ///< `connection`
  abandon,         ///< `connection`: no more notices
  resolve,         ///< `service`, `remote`, `channel`; the answer has the connection
  answer,          ///< `connection`, `qpn`, `q_key`
  data_arrived,    ///< `connection`
  move,            ///< `connection`, or else `listener`, reports to `channel` from now on
  announce,        ///< `service`: a program has it, and may listen soon
};

/// Private data of any message: at most 224 bytes.
struct CmPrivateData {
  std::uint32_t size = 0;
  std::array<std::byte, 224> bytes{};
};

/// The parameters of a connection that one side proposes.
struct CmProposal {
  std::uint32_t qpn = 0;
  std::uint32_t starting_psn = 0;
  std::uint8_t is_uc = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t flow_control = 0;
  std::uint8_t srq = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry_count = 0;
  std::uint8_t traffic_class = 0;
};

struct CmCommand {
  CmVerb verb{};
  std::uint32_t channel = 0;
  std::uint32_t listener = 0;  ///< a number that the process chooses
  std::uint32_t connection = 0;
  std::uint64_t service = 0;
  Gid remote{};
  CmProposal proposal{};
  std::uint32_t q_key = 0;
  CmPrivateData private_data{};
};

struct CmAnswer {
  std::int32_t error = 0;  ///< a number of errno.h
  std::uint32_t connection = 0;
};

/// An event of the manager, with all that the receiver may want to know of its connection.
struct CmNotice {
  cm::EventKind kind{};
  std::uint32_t connection = 0;
  std::uint32_t listener = 0;  ///< of a request
  std::uint64_t service = 0;   ///< of a request
  Gid remote{};
  CmProposal proposal{};      ///< of the peer
  cm::Agreement agreement{};  ///< of a request: what it becomes if the peer's wishes are granted
  std::uint32_t status = 0;   ///< reason of a rejection, status of an answer for a datagram service
  std::uint32_t q_key = 0;
  CmPrivateData private_data{};
};

static_assert(sizeof(CmCommand) == 288);
static_assert(std::is_trivially_copyable_v<CmCommand> && std::is_trivially_copyable_v<CmNotice>);

}  // namespace roce::verbs
