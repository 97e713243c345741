// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <xdp/xsk.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "roce/link/link.h"

namespace roce::link {

// What the memory of a queue and the objects of libxdp are deleted with.
struct XdpUnmap {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};
struct XdpDelete {
  void operator()(xsk_umem* umem) const;
  void operator()(xsk_socket* socket) const;
};

/// The AF_XDP socket of one receive queue with its memory and rings. Memory is divided into chunks; a frame has one
/// descriptor for each chunk that it is in.
class XdpQueue {
 public:
  struct Shape {
    std::uint32_t chunk_bytes = 4096;
    std::uint32_t receive_chunks = 4096;  ///< a power of two; 0: sends only
    bool sends = false;                   ///< or receives only
    bool frags = false;                   ///< frames may be longer than a chunk
    bool copies = false;                  ///< not zero-copy, also where the driver could
  };
  /// How far `open` got.
  enum class Stage : std::uint8_t { memory, socket };
  struct OpenError {
    Stage stage = Stage::memory;
    int error = 0;
  };

  XdpQueue() = default;
  XdpQueue(const XdpQueue&) = delete;
  XdpQueue& operator=(const XdpQueue&) = delete;
  ~XdpQueue() = default;

  [[nodiscard]] tl::expected<void, OpenError> open(const std::string& interface, unsigned queue, const Shape& shape);
  /// Gives back what the last call handed out, and hands out what is there.
  std::size_t receive(std::span<RxFrame> frames);

  struct Sent {
    std::size_t taken = 0;    ///< of the frames that were given, in their order
    std::size_t bytes = 0;    ///< of these
    std::size_t refused = 0;  ///< of these: lost, the interface takes nothing now
    int error = 0;            ///< an errno: the interface is gone
  };
  /// Sends what there is room for. No frame is empty.
  [[nodiscard]] Sent send(std::span<const TxFrame> frames);
  /// To be called now and then as long as it holds: the kernel did not take all that was sent.
  [[nodiscard]] bool is_behind() const { return is_behind_; }
  void push();

  [[nodiscard]] int fd() const;
  [[nodiscard]] bool zero_copy() const { return zero_copy_; }
  /// Frames for which there was no room.
  [[nodiscard]] std::uint64_t drops() const;
  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  void give_back(std::uint32_t chunks);
  [[nodiscard]] std::span<const std::byte> gather(std::uint32_t first, std::uint32_t descriptors);
  void reclaim();
  [[nodiscard]] std::size_t write(std::span<const TxFrame> frames, std::size_t& bytes, std::uint32_t& descriptors);
  [[nodiscard]] int drain(std::size_t& refused);
  void take_back(std::uint32_t descriptors);

  // The order is that in which they are made; libxdp keeps pointers to the rings.
  std::size_t memory_bytes_ = 0;
  std::unique_ptr<std::byte, XdpUnmap> memory_;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  xsk_ring_cons receive_{};
  xsk_ring_prod send_{};
  std::unique_ptr<xsk_umem, XdpDelete> umem_;
  std::unique_ptr<xsk_socket, XdpDelete> socket_;

  Shape shape_;
  std::uint32_t held_ = 0;  // descriptors handed out
  std::vector<std::vector<std::byte>> gathered_;
  std::size_t gathered_count_ = 0;
  std::vector<std::uint64_t> free_;  // addresses of chunks that may be written to
  bool is_behind_ = false;
  bool zero_copy_ = false;
};

}  // namespace roce::link
