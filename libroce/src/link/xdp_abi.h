// SPDX-License-Identifier: BSD-2-Clause
// Constants of the kernel, most of which the headers of Debian 12 (Linux 6.1) do not have yet.
#pragma once

#include <linux/bpf.h>
#include <linux/if_xdp.h>

#include <cstdint>

namespace roce::link {

/// Flag of bind: a frame may have several descriptors. Linux 6.6, include/uapi/linux/if_xdp.h: XDP_USE_SG.
inline constexpr std::uint16_t kXdpUseSg = 1 << 4;
/// Option of a descriptor: the frame continues in the next one. Linux 6.6, the same file: XDP_PKT_CONTD.
inline constexpr std::uint32_t kXdpPktContd = 1 << 0;
/// Socket option: number of descriptors that one call sends, otherwise 32. Linux 6.18, the same: XDP_MAX_TX_SKB_BUDGET.
inline constexpr int kXdpMaxTxSkbBudget = 9;
/// Flag of a program: it can handle frames in several pieces. Linux 5.18, include/uapi/linux/bpf.h:
/// BPF_F_XDP_HAS_FRAGS.
inline constexpr std::uint32_t kXdpHasFrags = 1U << 5;
/// Bytes that the kernel keeps free in front of each received frame (include/uapi/linux/bpf.h: XDP_PACKET_HEADROOM).
inline constexpr std::size_t kXdpHeadroom = XDP_PACKET_HEADROOM;

}  // namespace roce::link
