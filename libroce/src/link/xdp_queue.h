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

// The deleters of a queue's memory and of the objects of libxdp.
struct XdpUnmap {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};
struct XdpDelete {
  void operator()(xsk_umem* umem) const;
  void operator()(xsk_socket* socket) const;
};

/// The AF_XDP socket of one receive queue, with its memory and rings. Memory is divided into chunks; a frame has one
/// descriptor for each chunk that it is in.
class XdpQueue {
 public:
  struct Shape {
    std::uint32_t chunk_bytes = 4096;
    std::uint32_t receive_chunks = 4096;  ///< a power of two; 0: sends only
    bool sends = false;                   ///< false: receives only
    bool frags = false;                   ///< frames may be longer than a chunk
    bool copies = false;                  ///< not zero-copy, even if the driver could
  };
  /// The step of `open` that failed.
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
  /// Gives back the frames that the last call handed out, hands out those that are there, and returns their number.
  std::size_t receive(std::span<RxFrame> frames);

  struct Sent {
    std::size_t taken = 0;    ///< number of frames taken, from the first one given
    std::size_t bytes = 0;    ///< bytes of the frames taken
    std::size_t refused = 0;  ///< number of frames taken but lost: the interface takes nothing now
    int error = 0;            ///< an errno: the interface is gone
  };
  /// Sends the frames that there is room for. No frame may be empty.
  [[nodiscard]] Sent send(std::span<const TxFrame> frames);
  /// True if the kernel did not take all that was sent; as long as it holds, call `push` now and then.
  [[nodiscard]] bool is_behind() const { return is_behind_; }
  void push();

  [[nodiscard]] int fd() const;
  [[nodiscard]] bool zero_copy() const { return zero_copy_; }
  /// Returns the number of frames for which there was no room.
  [[nodiscard]] std::uint64_t drops() const;
  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  void give_back(std::uint32_t chunks);
  [[nodiscard]] std::span<const std::byte> gather(std::uint32_t first, std::uint32_t descriptors);
  void reclaim();
  [[nodiscard]] std::size_t write(std::span<const TxFrame> frames, std::size_t& bytes, std::uint32_t& descriptors);
  [[nodiscard]] int drain(std::size_t& refused);
  void take_back(std::uint32_t descriptors);

  // The members are in the order in which they are made; libxdp keeps pointers to the rings.
  std::size_t memory_bytes_ = 0;
  std::unique_ptr<std::byte, XdpUnmap> memory_;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  xsk_ring_cons receive_{};
  xsk_ring_prod send_{};
  std::unique_ptr<xsk_umem, XdpDelete> umem_;
  std::unique_ptr<xsk_socket, XdpDelete> socket_;

  Shape shape_;
  std::uint32_t held_ = 0;  // number of descriptors handed out
  std::vector<std::vector<std::byte>> gathered_;
  std::size_t gathered_count_ = 0;
  std::vector<std::uint64_t> free_;  // addresses of chunks that may be written to
  bool is_behind_ = false;
  bool zero_copy_ = false;
};

}  // namespace roce::link
