// SPDX-License-Identifier: BSD-2-Clause
#include "link/packet_ring.h"

#include <linux/if_ether.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "link/offload.h"

namespace roce::link {

namespace {

constexpr std::uint32_t kSlotBlockBytes = 1 << 20;
// Small blocks fill, and so arrive, sooner.
constexpr std::uint32_t kBlockBytes = 1 << 18;
constexpr unsigned kBlockTimeoutMs = 1;
constexpr std::uint32_t kTagBytes = 4;
constexpr std::size_t kAddressBytes = 12;
// The most super-frames that one call hands out, so that their memory stays in the cache.
constexpr std::size_t kLongFrames = 8;
constexpr std::size_t kLongFrameBytes = (64 << 10) + 256;
// Offset of SCTP's checksum, which is not a sum; no other protocol has its checksum there.
constexpr std::uint16_t kSctpChecksumOffset = 8;

[[nodiscard]] Offload offload_of(const std::byte* start) {
  Offload header;
  std::memcpy(&header, start - sizeof header, sizeof header);
  return header;
}

/// Completes the checksum that the sender's stack left to the NIC: the field holds the sum of the pseudo header.
void finish_checksum(std::span<std::byte> frame, const Offload& offload) {
  const std::size_t field = std::size_t{offload.checksum_start} + offload.checksum_offset;
  if ((offload.flags & kNeedsChecksum) == 0 || offload.checksum_offset == kSctpChecksumOffset ||
      field + sizeof(std::uint16_t) > frame.size()) {
    return;
  }
  std::uint16_t checksum = internet_checksum(frame.subspan(offload.checksum_start));
  // A UDP checksum of 0 would mean that there is none; to other protocols 0 and 0xffff mean the same.
  if (checksum == 0) checksum = 0xffff;
  std::memcpy(frame.data() + field, &checksum, sizeof checksum);
}

/// Returns the frame at `start` with its VLAN tag put back in front of the type; the ring has room for the tag.
[[nodiscard]] std::span<const std::byte> frame_at(std::byte* start, std::uint32_t captured, std::uint32_t status,
                                                  std::uint16_t tci, std::uint16_t tpid) {
  if ((status & TP_STATUS_VLAN_VALID) == 0 || captured < kAddressBytes) return {start, captured};
  if ((status & TP_STATUS_VLAN_TPID_VALID) == 0) tpid = ETH_P_8021Q;
  std::byte* tagged = start - kTagBytes;
  std::memmove(tagged, start, kAddressBytes);
  tagged[12] = static_cast<std::byte>(tpid >> 8);
  tagged[13] = static_cast<std::byte>(tpid);
  tagged[14] = static_cast<std::byte>(tci >> 8);
  tagged[15] = static_cast<std::byte>(tci);
  return {tagged, captured + kTagBytes};
}

[[nodiscard]] constexpr std::int64_t nanoseconds(std::uint32_t seconds, std::uint32_t fraction) {
  return static_cast<std::int64_t>(seconds) * 1'000'000'000 + fraction;
}

/// The members that TPACKET_V2 and TPACKET_V3 have in common.
struct FrameHeader {
  std::uint32_t captured = 0;
  std::uint32_t length = 0;
  std::uint32_t status = 0;
  std::uint16_t tci = 0;
  std::uint16_t tpid = 0;
  std::int64_t timestamp_ns = 0;
};

void fill(RxFrame& frame, std::byte* start, const FrameHeader& header) {
  // Read first: the VLAN tag overwrites it.
  const Offload offload = offload_of(start);
  // The checksum of a super-frame belongs to none of its packets.
  if (header.captured == header.length && offload.segmentation == 0) finish_checksum({start, header.captured}, offload);
  frame.bytes = frame_at(start, header.captured, header.status, header.tci, header.tpid);
  frame.wire_length = header.length + static_cast<std::uint32_t>(frame.bytes.size() - header.captured);
  frame.timestamp_ns = header.timestamp_ns;
  frame.segment_size = offload.segmentation == kUdpSegmentation ? offload.segment_size : 0;
}

[[nodiscard]] std::uint32_t load(const std::uint32_t& status) {
  return std::atomic_ref(const_cast<std::uint32_t&>(status)).load(std::memory_order_acquire);
}

void store(std::uint32_t& status, std::uint32_t value) {
  std::atomic_ref(status).store(value, std::memory_order_release);
}

[[nodiscard]] int set(int socket, int option, const void* value, std::size_t size) {
  return ::setsockopt(socket, SOL_PACKET, option, value, static_cast<socklen_t>(size)) == 0 ? 0 : errno;
}

}  // namespace

PacketRing::~PacketRing() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

int PacketRing::open(int socket, bool blocks, std::size_t ring_bytes, std::size_t frame_bytes) {
  blocks_ = blocks;
  socket_ = socket;
  const int version = blocks ? TPACKET_V3 : TPACKET_V2;
  if (const int error = set(socket, PACKET_VERSION, &version, sizeof version)) return error;
  // Each frame then has a virtio_net_hdr directly in front of it, which names what the sender left to the NIC.
  const int on = 1;
  if (const int error = set(socket, PACKET_VNET_HDR, &on, sizeof on)) return error;
  if (!blocks) {
    // A slot for a super-frame would take as much as forty ordinary frames. SO_RCVBUFFORCE exceeds net.core.rmem_max.
    if (const int error = set(socket, PACKET_COPY_THRESH, &on, sizeof on)) return error;
    const int room = static_cast<int>(std::min<std::size_t>(ring_bytes, std::numeric_limits<int>::max()));
    if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0) {
      (void)::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    }
  }
  const unsigned reserve = kTagBytes;
  if (const int error = set(socket, PACKET_RESERVE, &reserve, sizeof reserve)) return error;
  // In front of a frame are its header, the sender's address, and padding by the kernel.
  const std::size_t overhead =
      (blocks ? TPACKET3_HDRLEN : TPACKET2_HDRLEN) + 2 * TPACKET_ALIGNMENT + reserve + sizeof(Offload);
  slot_bytes_ = static_cast<std::uint32_t>(TPACKET_ALIGN(overhead + frame_bytes));
  block_bytes_ = std::max(blocks ? kBlockBytes : kSlotBlockBytes, std::bit_ceil(slot_bytes_));
  slots_per_block_ = block_bytes_ / slot_bytes_;
  block_count_ = static_cast<std::uint32_t>(std::max<std::size_t>(2, ring_bytes / block_bytes_));
  slot_count_ = slots_per_block_ * block_count_;
  tpacket_req3 request{};
  request.tp_block_size = block_bytes_;
  request.tp_block_nr = block_count_;
  request.tp_frame_size = slot_bytes_;
  request.tp_frame_nr = slot_count_;
  request.tp_retire_blk_tov = kBlockTimeoutMs;
  const std::size_t request_bytes = blocks ? sizeof(tpacket_req3) : sizeof(tpacket_req);
  if (const int error = set(socket, PACKET_RX_RING, &request, request_bytes)) return error;
  size_ = std::size_t{block_bytes_} * block_count_;
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = static_cast<std::byte*>(memory);
  return 0;
}

std::size_t PacketRing::receive(std::span<RxFrame> frames) {
  return blocks_ ? receive_blocks(frames) : receive_slots(frames);
}

void PacketRing::release_slots() {
  for (; held_ != 0; --held_) {
    std::byte* slot = memory_ + std::size_t{held_from_ / slots_per_block_} * block_bytes_ +
                      std::size_t{held_from_ % slots_per_block_} * slot_bytes_;
    store(reinterpret_cast<tpacket2_hdr*>(slot)->tp_status, TP_STATUS_KERNEL);
    held_from_ = held_from_ + 1 == slot_count_ ? 0 : held_from_ + 1;
  }
}

std::size_t PacketRing::receive_slots(std::span<RxFrame> frames) {
  release_slots();
  held_from_ = next_;
  std::size_t count = 0;
  std::size_t long_frames = 0;
  // A slot that is held is still marked as ours: going round the whole ring would hand out its frame a second time.
  while (count < frames.size() && held_ < slot_count_) {
    std::byte* slot = memory_ + std::size_t{next_ / slots_per_block_} * block_bytes_ +
                      std::size_t{next_ % slots_per_block_} * slot_bytes_;
    auto& header = *reinterpret_cast<tpacket2_hdr*>(slot);
    const std::uint32_t status = load(header.tp_status);
    if ((status & TP_STATUS_USER) == 0) break;
    std::byte* start = slot + header.tp_mac;
    std::uint32_t captured = header.tp_snaplen;
    if ((status & TP_STATUS_COPY) != 0) {
      if (long_frames == kLongFrames) break;
      if (std::byte* whole = receive_long(long_frames++, header.tp_len)) {
        start = whole;
        captured = header.tp_len;
      }
    }
    fill(frames[count++], start,
         {.captured = captured,
          .length = header.tp_len,
          .status = status,
          .tci = header.tp_vlan_tci,
          .tpid = header.tp_vlan_tpid,
          .timestamp_ns = nanoseconds(header.tp_sec, header.tp_nsec)});
    next_ = next_ + 1 == slot_count_ ? 0 : next_ + 1;
    ++held_;
  }
  return count;
}

/// Returns the frame at the head of the socket's queue, laid out as in a slot; nullptr if it does not have `length`
/// bytes.
std::byte* PacketRing::receive_long(std::size_t place, std::uint32_t length) {
  if (long_frames_ == nullptr)
    long_frames_ = std::make_unique_for_overwrite<std::byte[]>(kLongFrames * kLongFrameBytes);
  std::byte* start = long_frames_.get() + place * kLongFrameBytes;
  ssize_t got = 0;
  do {
    got = ::recv(socket_, start, kLongFrameBytes, MSG_DONTWAIT);
    // The kernel reports the interface's state before the frame.
  } while (got < 0 && (errno == EINTR || errno == ENETDOWN));
  return got == static_cast<ssize_t>(sizeof(Offload) + length) ? start + sizeof(Offload) : nullptr;
}

void PacketRing::release_blocks() {
  for (; held_ != 0; --held_) {
    auto& block = *reinterpret_cast<tpacket_block_desc*>(memory_ + std::size_t{held_from_} * block_bytes_);
    store(block.hdr.bh1.block_status, TP_STATUS_KERNEL);
    held_from_ = held_from_ + 1 == block_count_ ? 0 : held_from_ + 1;
  }
}

std::size_t PacketRing::receive_blocks(std::span<RxFrame> frames) {
  release_blocks();
  std::size_t count = 0;
  // A block that is held is still marked as ours, like a slot.
  while (count < frames.size() && held_ < block_count_) {
    if (left_in_block_ == 0) {
      std::byte* start = memory_ + std::size_t{next_} * block_bytes_;
      auto& block = *reinterpret_cast<tpacket_block_desc*>(start);
      if ((load(block.hdr.bh1.block_status) & TP_STATUS_USER) == 0) break;
      left_in_block_ = block.hdr.bh1.num_pkts;
      in_block_ = reinterpret_cast<tpacket3_hdr*>(start + block.hdr.bh1.offset_to_first_pkt);
    }
    if (left_in_block_ != 0) {
      tpacket3_hdr& header = *in_block_;
      auto* start = reinterpret_cast<std::byte*>(&header);
      fill(frames[count++], start + header.tp_mac,
           {.captured = header.tp_snaplen,
            .length = header.tp_len,
            .status = header.tp_status,
            .tci = static_cast<std::uint16_t>(header.hv1.tp_vlan_tci),
            .tpid = header.hv1.tp_vlan_tpid,
            .timestamp_ns = nanoseconds(header.tp_sec, header.tp_nsec)});
      in_block_ = reinterpret_cast<tpacket3_hdr*>(start + header.tp_next_offset);
      --left_in_block_;
    }
    if (left_in_block_ == 0) {
      next_ = next_ + 1 == block_count_ ? 0 : next_ + 1;
      ++held_;
    }
  }
  return count;
}

}  // namespace roce::link
