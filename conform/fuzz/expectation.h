// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "roce/transport/verbs.h"
#include "roce/wire/aeth.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/opcode.h"
#include "roce/wire/reth.h"
#include "roce/wire/types.h"

namespace roce::conform::fuzz {

/// The message that is open at the device's responder.
enum class OpenMessage : std::uint8_t { none, send, write };

/// A receive of the device that has no completion yet.
struct PostedReceive {
  std::uint64_t wr_id = 0;
  std::uint64_t address = 0;
  std::uint32_t length = 0;  ///< bytes
};

/// A READ or atomic that the device has executed, for duplicates of it.
struct Executed {
  Operation operation = Operation::unknown;
  Psn psn{};
  std::uint32_t psns = 1;      ///< how many PSNs it takes
  Reth read{};                 ///< of a READ
  AtomicEth atomic{};          ///< of an atomic
  std::uint64_t original = 0;  ///< the value that an atomic answered
};

/// All that the responder of a QP remembers.
struct DeviceState {
  Psn expected{};
  Msn msn{};
  bool is_stopped = false;    ///< in ERR
  bool is_gap_known = false;  ///< a gap was NAKed, and the missing packet has not come
  bool is_rnr = false;        ///< the last request got an RNR NAK
  OpenMessage open = OpenMessage::none;
  bool is_unsure = false;      ///< UC: the device may have given the open message up
  std::uint64_t received = 0;  ///< bytes of the open message
  Reth write{};                ///< of the open WRITE
  std::deque<PostedReceive> receives{};
  std::deque<Executed> executed{};   ///< the newest first
  std::deque<Executed> forgotten{};  ///< those of before a RESET, the newest first
};

/// The largest code of credits of an ACK; the next one stands for an ACK without credits.
inline constexpr std::uint8_t kMostCredits = 30;

/// A frame that the device may answer with.
struct Answer {
  Opcode opcode{};
  Psn first{};                               ///< its PSN is one from here …
  Psn last{};                                ///< … to here
  Msn msn{};                                 ///< of an AETH
  std::optional<std::uint8_t> syndrome{};    ///< of an AETH; empty: an ACK
  std::uint8_t most_credits = kMostCredits;  ///< of such an ACK that has credits: the largest code
  std::vector<std::byte> payload{};          ///< of a READ response
  std::uint64_t original = 0;                ///< of an answer to an atomic
};

struct MemoryWrite {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

/// Bytes of which nobody can say how they are afterwards.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
};

/// The completion of a receive.
struct ReceiveDone {
  std::uint64_t wr_id = 0;
  std::vector<transport::CompletionStatus> statuses;  ///< one of these
  std::uint32_t byte_length = 0;                      ///< if it is a success; so are the members below
  bool is_write = false;
  std::optional<std::uint32_t> immediate{};
  std::optional<Qpn> source_qp{};              ///< of a datagram
  std::optional<std::uint32_t> invalidated{};  ///< the R_Key that the SEND has invalidated
};

/// An event of the QP that the device is to report, or may.
struct AwaitedEvent {
  std::vector<transport::EventType> types;  ///< one of these
  bool is_required = true;
};

/// The right end of the binding of a window.
enum class BindOutcome : std::uint8_t {
  none,     ///< it was not asked for: the device has no such windows, or not for this QP
  bound,    ///< the window is bound
  refused,  ///< it fails, and the QP goes to ERR
  flushed,  ///< the QP is in ERR
};

/// One of the things that the device may do with a frame.
struct Behaviour {
  std::string name;  ///< `executed`, `NAK 0x61`, `ignored`
  std::vector<Answer> answers{};
  std::vector<MemoryWrite> writes{};
  std::optional<MemoryRange> unknown{};  ///< looked at before `writes`
  std::vector<ReceiveDone> completions{};
  bool frees_window = false;                         ///< the window is bound to nothing any more
  std::optional<AwaitedEvent> event{};               ///< beside `communication established`
  std::function<void(DeviceState& state)> effect{};  ///< empty: none
};

/// All that the device may do with a frame, in the order in which it is looked for.
using Expectation = std::vector<Behaviour>;

}  // namespace roce::conform::fuzz
