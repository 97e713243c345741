// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/path_mtu.h"

#include "roce/wire/bth.h"
#include "roce/wire/constants.h"
#include "roce/wire/grh.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"
#include "roce/wire/udp.h"
#include "roce/wire/xrceth.h"

namespace roce {

namespace {

/// Bytes around the data of the longest packet: IPv6 or GRH, UDP, BTH, XRCETH, RETH, ImmDt, ICRC.
constexpr std::uint32_t kLargestOverhead =
    kSize<Grh> + kSize<Udp> + kSize<Bth> + kSize<XrcEth> + kSize<Reth> + kSize<ImmDt> + kIcrcSize;

}  // namespace

std::uint32_t largest_path_mtu(std::uint32_t interface_mtu) {
  for (const std::uint32_t mtu : {4096U, 2048U, 1024U, 512U}) {
    if (mtu + kLargestOverhead <= interface_mtu) return mtu;
  }
  return 256;
}

}  // namespace roce
