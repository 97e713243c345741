// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers of the pcap and pcapng formats (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
namespace roce::link::detail {

inline constexpr std::uint32_t kPcapMagicMicroseconds = 0xA1B2C3D4;
inline constexpr std::uint32_t kPcapMagicNanoseconds = 0xA1B23C4D;
/// Patched libpcap of the Linux 2.2 era: each record header has 8 more bytes (interface, protocol, packet type).
inline constexpr std::uint32_t kPcapMagicModified = 0xA1B2CD34;
inline constexpr std::size_t kPcapFileHeaderBytes = 24;
inline constexpr std::size_t kPcapRecordHeaderBytes = 16;
inline constexpr std::size_t kPcapModifiedRecordHeaderBytes = 24;

inline constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;

/// pcapng block types.
inline constexpr std::uint32_t kBlockSectionHeader = 0x0A0D0D0A;  // the same in both byte orders
inline constexpr std::uint32_t kBlockInterface = 1;
inline constexpr std::uint32_t kBlockPacketObsolete = 2;
inline constexpr std::uint32_t kBlockSimplePacket = 3;
inline constexpr std::uint32_t kBlockStatistics = 5;
inline constexpr std::uint32_t kBlockEnhancedPacket = 6;
/// Type and total length before the body, total length again behind it.
inline constexpr std::size_t kBlockOverhead = 12;

/// pcapng option codes.
inline constexpr std::uint16_t kOptEnd = 0;
inline constexpr std::uint16_t kOptComment = 1;
inline constexpr std::uint16_t kOptSectionHardware = 2;
inline constexpr std::uint16_t kOptSectionOs = 3;
inline constexpr std::uint16_t kOptSectionApplication = 4;
inline constexpr std::uint16_t kOptInterfaceName = 2;
inline constexpr std::uint16_t kOptInterfaceDescription = 3;
inline constexpr std::uint16_t kOptInterfaceResolution = 9;
inline constexpr std::uint16_t kOptInterfaceFilter = 11;
inline constexpr std::uint16_t kOptInterfaceFcsLength = 13;
inline constexpr std::uint16_t kOptInterfaceOffset = 14;
inline constexpr std::uint16_t kOptPacketFlags = 2;
inline constexpr std::uint16_t kOptPacketDropCount = 4;
inline constexpr std::uint16_t kOptStatisticsStart = 2;
inline constexpr std::uint16_t kOptStatisticsEnd = 3;
inline constexpr std::uint16_t kOptStatisticsReceived = 4;
inline constexpr std::uint16_t kOptStatisticsDroppedInterface = 5;
inline constexpr std::uint16_t kOptStatisticsAccepted = 6;
inline constexpr std::uint16_t kOptStatisticsDroppedOs = 7;
inline constexpr std::uint16_t kOptStatisticsDelivered = 8;

/// The snap length that every reader accepts (libpcap's MAXIMUM_SNAPLEN); a longer record needs a longer snap length.
inline constexpr std::uint32_t kUsualSnaplen = 262144;
/// The longest record, whatever the snap length; a longer one is damage.
inline constexpr std::uint32_t kMaxCaptured = 16U << 20;
/// The longest block that has to be in memory as a whole. Other blocks are skipped whatever their length.
inline constexpr std::uint32_t kMaxBlock = 32U << 20;
inline constexpr std::size_t kMaxInterfaces = 65536;
inline constexpr std::size_t kMaxSections = 65536;
inline constexpr std::size_t kMaxText = 1024;

}  // namespace roce::link::detail
