// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// What a tracker says about a trace.
struct Findings {
  std::vector<std::string> now;    ///< immediate verdicts, as `to_text` puts them
  std::vector<std::string> later;  ///< retrospective ones
  std::vector<PacketAnalysis> packets;
  std::vector<Message> messages;
  std::vector<Answer> answers;
  std::vector<StreamSummary> streams;
  Evictions evictions;
};

/// `3 gap 102x2 rule=CC-06 cause=nak of=1 after=10us spurious`: the frame, the verdict, the first PSN and how many
/// (unless it is one), and what else it says.
[[nodiscard]] std::string to_text(const Verdict& verdict);

/// Makes a frame of each line of a trace, parses it, and hands it to `tracker`, then ends the capture. Lines are
///
///     TIME  A>B  OPCODE  PSN  [option...]
///
/// TIME in microseconds. Hosts are A to Z; B's QP 0x22 and everybody else's 0x11 are meant unless `qp=` says otherwise.
/// OPCODE is that of the table, without `RC_`, or one of ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION,
/// NAK_RD, RNR, READ, FIRST, MIDDLE, LAST, ONLY (the four READ responses). Frames of a host have rising IPv4
/// identifications unless an option says otherwise. FIRST and MIDDLE packets have 256 bytes, others 64. Options:
///
///     qp= sqp= port= id= len= dma= fill= vlan=   numbers
///     ttl=                                       hop limit
///     ar      acknowledge request                 bad     wrong ICRC
///     ce      congestion experienced              cut     the capture ends in front of the ICRC
///     v1, v6  RoCE v1, IPv6                       headers=  of a MAD's content: cm_req, cm_rep
///     any field name of PacketSpec with a value
///
/// Two lines with the same `id=` are two copies of one packet.
///
/// Empty lines and what follows a `#` are passed over; frames count from 1.
void feed(Tracker& tracker, std::string_view trace, Findings& findings);

/// `feed` to a new tracker, with the end of the capture behind it.
[[nodiscard]] Findings analyse(std::string_view trace, const TrackerOptions& options = {});

}  // namespace roce::analysis
