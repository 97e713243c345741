// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conform/target/target.h"
#include "roce/transport/verbs.h"
#include "roce/wire/opcode.h"

namespace roce::conform::fuzz {

/// The key that a request names.
enum class Key : std::uint8_t {
  right,     ///< of the region that the peer may use
  variant,   ///< the same with another low byte
  index,     ///< the same with another index
  zero,      ///< 0
  other_pd,  ///< of a region in another protection domain
  closed,    ///< of a region without remote rights
  gone,      ///< of a region that was deregistered before
  lent,      ///< of a region that the peer may use until a Deregister
  window,    ///< of the window that the last Bind has bound; 0 if there is none
  foreign,   ///< of a window on the region of `right` that another QP has bound; 0 if there is none
};

/// The messages of the communication manager that programs have.
enum class CmKind : std::uint8_t { req, mra, rej, rep, rtu, dreq, drep, lap, apr };

/// A field of a frame with a value that it should not have.
struct FieldChange {
  std::string field;  ///< a name of the field table: `bth.p_key`
  std::string value;

  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

/// One request to the device. What it says is relative to what the device has to know when it comes, so that it means
/// the same on any QP, and also when the requests before it are left out.
struct Request {
  Opcode opcode = Opcode::rc_write_only;
  std::int32_t psn = 0;       ///< added to the PSN that the device expects
  bool ack_request = true;    ///< AckReq
  std::uint32_t payload = 0;  ///< bytes
  std::uint64_t seed = 0;     ///< of the payload
  std::uint32_t length = 0;   ///< of the RETH: bytes of the whole message
  std::int64_t address = 0;   ///< from the begin of the region that `key` names; the region of `right` if it has none
  Key key = Key::right;       ///< of a RETH or AtomicETH
  std::uint64_t operand = 0;  ///< the value to swap or add
  std::uint64_t compare = 0;  ///< the value to compare with
  std::uint32_t immediate = 0;
  std::uint32_t qpn_flip = 0;    ///< bits of the destination QPN that are inverted
  std::uint32_t q_key_flip = 0;  ///< bits of the Q_Key that are inverted
  bool other_version = false;    ///< over another version of RoCE than the QP's, if the device has one
  bool wrong_icrc = false;
  std::vector<FieldChange> changes{};  ///< applied at last, before the ICRC

  friend bool operator==(const Request&, const Request&) = default;
};

/// The device posts a receive.
struct Receive {
  std::uint32_t length = 0;  ///< bytes, at most kReceiveBytes

  friend bool operator==(const Receive&, const Receive&) = default;
};

/// The device deregisters the region of `Key::lent`; what comes for it later is refused.
struct Deregister {
  friend bool operator==(const Deregister&, const Deregister&) = default;
};

/// The device binds a window of type 2 to a part of a region. It has one for each program, which has to be free then;
/// nothing happens on a device without such windows, or on a QP that is not of RC or not in RTS.
struct Bind {
  Key region = Key::right;    ///< `right`; or one that the device has to refuse: `other_pd` or `closed`
  std::int64_t address = 0;   ///< from the begin of that region
  std::uint32_t length = 64;  ///< bytes, at least one
  transport::Access access =
      transport::Access::remote_write | transport::Access::remote_read | transport::Access::remote_atomic;
  std::uint8_t variant = 1;  ///< added to the low byte of the window's key; not 0

  friend bool operator==(const Bind&, const Bind&) = default;
};

/// The QP goes to RESET, and from there to where the program had it: it knows nothing of its past.
struct Restart {
  std::int32_t psn = 0;  ///< added to the PSN that the device expects: the first one that it expects then

  friend bool operator==(const Restart&, const Restart&) = default;
};

/// The device posts a request: a SEND, WRITE, READ, FETCH ADD or COMPARE SWAP; on UC one of the first two, on UD the
/// first.
struct Post {
  transport::WorkOpcode opcode = transport::WorkOpcode::send;
  std::uint32_t length = 0;  ///< bytes, at most kPostBytes; an atomic has 8
  bool own_q_key = false;    ///< on UD: the request asks for the Q_Key of the QP, and does not say another one

  friend bool operator==(const Post&, const Post&) = default;
};

/// One response to the device, relative to what it waits for.
struct Response {
  Opcode opcode = Opcode::rc_acknowledge;
  std::int32_t psn = 0;          ///< added to the PSN of the oldest packet that has no answer
  std::uint8_t syndrome = 0x1F;  ///< of the AETH
  std::uint32_t payload = 0;     ///< bytes
  std::uint64_t seed = 0;        ///< of the payload
  std::uint64_t value = 0;       ///< of an answer to an atomic
  std::uint32_t qpn_flip = 0;    ///< bits of the destination QPN that are inverted
  bool wrong_icrc = false;

  friend bool operator==(const Response&, const Response&) = default;
};

/// Nothing comes from the peer until the device's ACK timer has run out.
struct Wait {
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// A message to the device's communication manager, in a datagram to QP1: the right one about the connection that the
/// tester has asked for last, and then changed.
struct Message {
  CmKind kind = CmKind::req;
  bool is_fresh = false;          ///< of a REQ: it asks for another connection, for the device's second QP
  std::uint32_t local_flip = 0;   ///< bits of the tester's communication ID that are inverted
  std::uint32_t remote_flip = 0;  ///< bits of the device's communication ID that are inverted
  std::uint32_t qpn_flip = 0;     ///< bits of the QPN in a DREQ that are inverted
  std::uint64_t transaction = 0;  ///< added to the transaction ID
  bool wrong_icrc = false;
  std::vector<FieldChange> changes{};  ///< applied at last, before the ICRC

  friend bool operator==(const Message&, const Message&) = default;
};

/// The device ends the connection of the program's QP.
struct Disconnect {
  friend bool operator==(const Disconnect&, const Disconnect&) = default;
};

using Action = std::variant<Request, Receive, Post, Response, Deregister, Restart, Wait, Bind, Message, Disconnect>;

/// The count of retries that a device may take as endless.
inline constexpr std::uint8_t kEndlessRetries = 7;
/// The code of the ACK timer of a device's QP: 67 ms.
inline constexpr std::uint8_t kAckTimeout = 14;

/// The part of the device that a program is for.
enum class Half : std::uint8_t {
  responder,  ///< Request, Receive, Bind, Deregister and Restart
  requester,  ///< Post, Response and Wait
  manager,    ///< of communication: Message and Disconnect
};

/// A conversation with a new QP of the device.
struct Program {
  Half half = Half::responder;
  transport::QpType type = transport::QpType::rc;      ///< RC, UC or UD
  RoceVersion version = RoceVersion::none;             ///< none: that of the device's own port
  transport::QpState state = transport::QpState::rts;  ///< of the QP; for the responder also INIT or RTR
  std::uint32_t path_mtu = 256;                        ///< bytes
  Psn first_psn{};                                     ///< the first PSN that the device expects, or sends
  transport::Access access = transport::Access::none;
  std::uint8_t retry_count = kEndlessRetries;  ///< 0 … 7, of the requester of an RC QP
  std::vector<Action> actions{};
};

/// The most requests that a program lets the device post, each with its own data.
inline constexpr std::uint32_t kMostPosts = 8;
/// The most bytes of such a request.
inline constexpr std::uint32_t kPostBytes = 1024;
/// The versions of RoCE that programs have, if the device has them.
inline constexpr std::array kVersions{RoceVersion::v2_ipv6, RoceVersion::v1, RoceVersion::v2_ipv4};
/// The Q_Key that datagrams of the device have, unless its QP has another one for them.
inline constexpr QKey kRemoteQKey{0x0BAD'F00D};
/// Where the peer's memory would be, and its key: nothing answers from there but the program.
inline constexpr std::uint64_t kRemote = 0x5000'0000;
inline constexpr std::uint32_t kRemoteKey = 0x0051'7700;
/// The most actions of a program.
inline constexpr std::size_t kMostActions = 24;
/// The most bytes of a receive.
inline constexpr std::uint32_t kReceiveBytes = 2048;
/// Bytes of each region that a request may name.
inline constexpr std::uint32_t kRegionBytes = 8192;
/// Bytes of the region of `Key::lent`.
inline constexpr std::uint32_t kLentBytes = 2048;

/// The regions that the peer may use begin with the bytes of seed 1, as many as this; then come those of seed 2, …
inline constexpr std::uint32_t kFillBytes = 256;

}  // namespace roce::conform::fuzz
