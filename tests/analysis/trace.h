// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// The verdicts and records of a tracker on a trace.
struct Findings {
  std::vector<std::string> now;    ///< immediate verdicts, formatted by `to_text`
  std::vector<std::string> later;  ///< retrospective verdicts
  std::vector<PacketAnalysis> packets;
  std::vector<Message> messages;
  std::vector<Answer> answers;
  std::vector<StreamSummary> streams;
  Evictions evictions;
};

/// Formats `3 gap 102x2 rule=CC-06 cause=nak of=1 after=10us spurious`: the frame, the verdict, the first PSN and how
/// many (unless it is one), and the other members of the verdict that are set.
[[nodiscard]] std::string to_text(const Verdict& verdict);

/// Makes a frame of each line of a trace, parses it, and feeds it to `tracker`, without ending the capture. Lines are
///
///     TIME  A>B  OPCODE  PSN  [option...]
///
/// TIME is in microseconds. Hosts are A to Z. The destination QP is 0x22 for B and 0x11 for other hosts unless `qp=` is
/// given. OPCODE is the name in the opcode table, without `RC_`, or ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS,
/// NAK_OPERATION, NAK_RD, RNR, READ, FIRST, MIDDLE, LAST, ONLY (the last four are READ responses). Frames of a host
/// have rising IPv4 identifications unless an option sets another. FIRST and MIDDLE have 256 bytes, others 64. Options:
///
///     qp= sqp= port= id= len= dma= fill= vlan=   numbers
///     ttl=                                       hop limit
///     ar      acknowledge request                 bad     wrong ICRC
///     ce      congestion experienced              cut     the capture ends in front of the ICRC
///     snap=   the capture ends so many bytes after the beginning of the BTH
///     point=                                     number of the capture point
///     v1, v6  RoCE v1, IPv6                       headers=  contents of a MAD: cm_req, cm_rep
///     any field name of PacketSpec with a value
///
/// Two lines with the same `id=` are two copies of one packet.
///
/// Empty lines and text after a `#` are ignored; frames count from 1.
void feed(Tracker& tracker, std::string_view trace, Findings& findings);

/// Feeds a trace to a new tracker and ends the capture.
[[nodiscard]] Findings analyse(std::string_view trace, const TrackerOptions& options = {});

}  // namespace roce::analysis
