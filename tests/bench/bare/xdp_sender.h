// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace bare {

/// Sends frames through AF_XDP as fast as the kernel takes them: they are written where the kernel copies them from,
/// without an XDP program, and with nothing around it. Frames are not longer than a chunk.
class XdpSender {
 public:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::uint32_t kChunkBytes = 4096;

  explicit XdpSender(const std::string& interface) {
    void* memory = ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) check(-1);
    memory_ = static_cast<std::uint8_t*>(memory);
    xsk_umem_config umem{};
    umem.fill_size = 1;
    umem.comp_size = kSlots;
    umem.frame_size = kChunkBytes;
    check(xsk_umem__create(&umem_, memory, kMemoryBytes, &fill_, &completion_, &umem));
    xsk_socket_config config{};
    config.tx_size = kSlots;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP | kSeveralPieces;
    // The kernel releases the previous socket only some time after it was closed.
    int result = -EBUSY;
    for (int i = 0; i < 100 && result == -EBUSY; ++i) {
      result = xsk_socket__create(&socket_, interface.c_str(), 0, umem_, nullptr, &send_, &config);
      if (result == -EBUSY) std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    check(result);
    const int budget = 256;
    (void)::setsockopt(xsk_socket__fd(socket_), SOL_XDP, kSendBudget, &budget, sizeof budget);
    const int buffer = 4 << 20;
    (void)::setsockopt(xsk_socket__fd(socket_), SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
    for (std::uint32_t i = 0; i < kSlots; ++i) free_.push_back(std::uint64_t{i} * kChunkBytes);
  }
  XdpSender(const XdpSender&) = delete;
  XdpSender& operator=(const XdpSender&) = delete;
  ~XdpSender() {
    xsk_socket__delete(socket_);
    (void)xsk_umem__delete(umem_);
    ::munmap(memory_, kMemoryBytes);
  }

  /// Sends `count` frames, at most a batch: calls `write(place)` for each, which writes it and returns its length.
  template <typename Write>
  void send(std::size_t count, const Write& write) {
    while (free_.size() < count) reclaim();
    std::uint32_t at = 0;
    while (xsk_ring_prod__reserve(&send_, static_cast<std::uint32_t>(count), &at) == 0) {
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      xdp_desc* frame = xsk_ring_prod__tx_desc(&send_, at + i);
      frame->addr = free_.back();
      frame->options = 0;
      free_.pop_back();
      frame->len = static_cast<std::uint32_t>(write(memory_ + frame->addr));
    }
    xsk_ring_prod__submit(&send_, static_cast<std::uint32_t>(count));
    while (::sendto(xsk_socket__fd(socket_), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0) {
      if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR) check(-1);
    }
    reclaim();
  }

 private:
  // As many slots as XdpLink has.
  static constexpr std::uint32_t kSlots = 2048;
  static constexpr std::size_t kMemoryBytes = std::size_t{kSlots} * kChunkBytes;
  // Since Linux 6.6: XDP_USE_SG; since 6.18: XDP_MAX_TX_SKB_BUDGET.
  static constexpr std::uint16_t kSeveralPieces = 1 << 4;
  static constexpr int kSendBudget = 9;

  static void check(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "AF_XDP socket");
  }

  void reclaim() {
    std::uint32_t at = 0;
    const std::uint32_t count = xsk_ring_cons__peek(&completion_, kSlots, &at);
    for (std::uint32_t i = 0; i < count; ++i) free_.push_back(*xsk_ring_cons__comp_addr(&completion_, at + i));
    if (count != 0) xsk_ring_cons__release(&completion_, count);
  }

  std::uint8_t* memory_ = nullptr;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  xsk_ring_prod send_{};
  xsk_umem* umem_ = nullptr;
  xsk_socket* socket_ = nullptr;
  std::vector<std::uint64_t> free_;
};

}  // namespace bare
