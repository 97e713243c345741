// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "roce/link/link.h"

namespace roce::link {

/// The memory through which the kernel hands frames to a packet socket (Linux Documentation/networking/packet_mmap).
class PacketRing {
 public:
  PacketRing() = default;
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  ~PacketRing();

  /// Makes the ring of a socket, of about `ring_bytes`, for frames up to `frame_bytes`: with one slot per frame
  /// (TPACKET_V2), or with blocks of frames (TPACKET_V3). With slots, longer frames (super-frames) come through
  /// the socket's queue, which gets room for as many bytes where the kernel allows it; a frame without room is cut.
  /// Returns 0 or an errno. The socket has to stay open.
  [[nodiscard]] int open(int socket, bool blocks, std::size_t ring_bytes, std::size_t frame_bytes);

  /// Gives back the frames that the last call handed out, hands out those that are there, and returns their number.
  std::size_t receive(std::span<RxFrame> frames);

 private:
  std::size_t receive_slots(std::span<RxFrame> frames);
  [[nodiscard]] std::byte* receive_long(std::size_t place, std::uint32_t length);
  std::size_t receive_blocks(std::span<RxFrame> frames);
  void release_slots();
  void release_blocks();

  int socket_ = -1;
  std::unique_ptr<std::byte[]> long_frames_;  // allocated when the first one comes
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  bool blocks_ = false;
  std::uint32_t block_bytes_ = 0;
  std::uint32_t block_count_ = 0;
  std::uint32_t slot_bytes_ = 0;
  std::uint32_t slots_per_block_ = 0;
  std::uint32_t slot_count_ = 0;
  std::uint32_t next_ = 0;            // the slot or block to look at next
  std::uint32_t held_from_ = 0;       // the first slot or block not given back
  std::uint32_t held_ = 0;            // number of slots or blocks not given back
  tpacket3_hdr* in_block_ = nullptr;  // the next frame in block `next_`
  std::uint32_t left_in_block_ = 0;
};

}  // namespace roce::link
