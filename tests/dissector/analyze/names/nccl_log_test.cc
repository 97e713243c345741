// SPDX-License-Identifier: BSD-2-Clause
// Lines as several releases of NCCL and of its kin write them, made up after their formats.
#include "analyze/names/nccl_log.h"

#include <gtest/gtest.h>

#include <string>

namespace roce::analyze::test {
namespace {

/// 192.168.1.10 as NCCL prints it: `0/A01A8C0FFFF0000`.
constexpr Gid kNode1 = Gid::from_ipv4({{192, 168, 1, 10}});

std::string name_of(std::string_view log, Qpn qpn, const Gid& address = kNode1) {
  Names names;
  (void)suggest_from_nccl_log(log, names);
  return names.text(QpEnd{.address = address, .qpn = qpn});
}

TEST(NcclLog, NamesQpsByRankAndDevice) {
  constexpr std::string_view log =
      "node1:4711:4720 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_3:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
      "node1:4711:4733 [3] NCCL INFO NET/IB: NCCL Dev 0 IbDev 1 Port 1 qpn 2049 mtu 5 GID 3 (0/A01A8C0FFFF0000) "
      "ctsFifoRkey=0x1 ctsFifoLkey=0x2\n"
      "node1:4711:4720 [3] NCCL INFO comm 0x55aa rank 11 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0\n";
  EXPECT_TRUE(is_nccl_log(log));
  EXPECT_EQ(name_of(log, Qpn{2049}), "node1 rank 11 mlx5_3");
  EXPECT_EQ(name_of(log, Qpn{2050}), "node1");
}

TEST(NcclLog, KnowsTheLinesOfOtherReleases) {
  EXPECT_EQ(name_of("node1:1:2 [0] NCCL INFO NET/IB: Dev 2 Port 1 qpn 364 mtu 5 GID 3 (0/A01A8C0FFFF0000)\n", Qpn{364}),
            "node1 pid 1 IbDev 2");
  EXPECT_EQ(name_of("node1:1:2 [0] NCCL INFO NET/IB: Dev 0 IBDev 4 Port 1 qpn 364 mtu 5 GID 3 (0/A01A8C0FFFF0000)\n",
                    Qpn{364}),
            "node1 pid 1 IbDev 4");
  EXPECT_EQ(name_of("node1:1:2 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 364 mtu 5 query_ece={supported=1, "
                    "vendor_id=0x15b3, options=0x30000002, comp_mask=0x0} GID 3 (80FE/17A35CFEFF8BED46) fifoRkey=0x1\n",
                    Qpn{364}, Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x46, 0xed, 0x8b, 0xff, 0xfe, 0x5c, 0xa3, 0x17}}),
            "node1 pid 1 IbDev 0");
}

TEST(NcclLog, PassesOverWhatPutsItselfInFront) {
  for (const std::string_view front : {"3: ", "[1,3]<stdout>:", "2026-11-30 12:00:00 ", "(Worker pid=7) "}) {
    const std::string line =
        std::string{front} + "node1:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)";
    EXPECT_EQ(name_of(line, Qpn{9}), "node1 pid 1 IbDev 0") << front;
  }
}

TEST(NcclLog, TheLargestCommunicatorGivesTheRank) {
  EXPECT_EQ(name_of("n:1:2 [0] NCCL INFO comm 0x1 rank 1 nranks 2 cudaDev 0\n"
                    "n:1:2 [0] NCCL INFO comm 0x2 rank 5 nranks 8 cudaDev 0\n"
                    "n:1:2 [0] NCCL INFO comm 0x3 rank 0 nranks 4 cudaDev 0\n"
                    "n:1:2 [1] NCCL INFO comm 0x4 rank 6 nranks 8 cudaDev 1\n"
                    "n:1:3 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)\n",
                    Qpn{9}),
            "n rank 5 IbDev 0");
}

TEST(NcclLog, ALongLineTakesNoTime) {
  std::string line = "n:1:2 [0] NCCL INFO NET/IB : Using ";
  for (int i = 0; i < 1'000'000; ++i) line += "[1";
  Names names;
  EXPECT_EQ(suggest_from_nccl_log(line, names), 0U);
}

TEST(NcclLog, DamagedLinesNameNothing) {
  for (const std::string_view line : {
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 16777216 mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn  mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 LID 7",
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0",
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (x/y)",
           "n:1:2 NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "\x1b[31mn:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "n:\x1b[2J:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "n:1:2 [\x1b] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/A01A8C0FFFF0000)",
           "n:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 9 mtu 5 GID 3 (0/0)",
           ":: [] NCCL INFO NET/IB: qpn 9 GID (0/A01A8C0FFFF0000)",
           " NCCL INFO ",
       }) {
    Names names;
    EXPECT_EQ(suggest_from_nccl_log(line, names), 0U) << line;
    EXPECT_TRUE(names.empty()) << line;
  }
}

}  // namespace
}  // namespace roce::analyze::test
