// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace bare {

/// Sends and receives frames through AF_XDP in native mode as fast as the kernel does: an XDP program that takes every
/// frame, one socket, and nothing around it. The members are those of `PacketSocket`.
class XdpSocket {
 public:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kFrameBytes = 9216;

  explicit XdpSocket(const std::string& interface) : frames_(kBatch * kFrameBytes), gathered_(kFrameBytes) {
    const int index = static_cast<int>(::if_nametoindex(interface.c_str()));
    find_mac(interface);
    attach(index);
    open(interface);
    const std::uint32_t queue = 0;
    const int socket = fd();
    check(bpf_map_update_elem(sockets_, &queue, &socket, BPF_ANY));
  }
  XdpSocket(const XdpSocket&) = delete;
  XdpSocket& operator=(const XdpSocket&) = delete;
  ~XdpSocket() {
    for (const int file : {attachment_, program_, sockets_}) ::close(file);
    xsk_socket__delete(socket_);
    (void)xsk_umem__delete(umem_);
    ::munmap(memory_, kMemoryBytes);
  }

  [[nodiscard]] const std::array<std::uint8_t, 6>& mac() const { return mac_; }
  [[nodiscard]] std::uint8_t* frame(std::size_t i) { return frames_.data() + i * kFrameBytes; }
  void set_length(std::size_t i, std::size_t bytes) { set_frame(i, frame(i), bytes); }
  /// Sets a frame that lies elsewhere, instead of `frame` and `set_length`.
  void set_frame(std::size_t i, const std::uint8_t* bytes, std::size_t size) {
    sources_[i] = bytes;
    lengths_[i] = size;
  }
  void send(std::size_t count) {
    std::uint32_t queued = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t at = 0; at < lengths_[i]; at += kChunkBytes) {
        const std::size_t length = std::min(kChunkBytes, lengths_[i] - at);
        while (free_.empty()) reclaim();
        std::uint32_t place = 0;
        while (xsk_ring_prod__reserve(&send_, 1, &place) == 0) {
        }
        xdp_desc* piece = xsk_ring_prod__tx_desc(&send_, place);
        piece->addr = free_.back();
        free_.pop_back();
        piece->len = static_cast<std::uint32_t>(length);
        piece->options = at + length < lengths_[i] ? kContinued : 0;
        std::memcpy(memory_ + piece->addr, sources_[i] + at, length);
        ++queued;
      }
    }
    xsk_ring_prod__submit(&send_, queued);
    while (::sendto(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0) {
      if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR) check(-1);
      if (*send_.producer == __atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE)) break;
    }
    reclaim();
  }

  struct Received {
    const std::uint8_t* bytes = nullptr;  ///< nullptr: no frame is there
    std::size_t size = 0;
  };
  /// Returns the oldest frame, which is valid until `release`.
  [[nodiscard]] Received receive() {
    std::uint32_t at = 0;
    if (taken_ == seen_) {
      give_back();
      seen_ = xsk_ring_cons__peek(&receive_, kSlots, &first_);
      if (seen_ == 0) return {};
    }
    at = first_ + taken_;
    const xdp_desc* piece = xsk_ring_cons__rx_desc(&receive_, at);
    pieces_ = 1;
    if ((piece->options & kContinued) == 0) return {memory_ + piece->addr, piece->len};
    std::size_t size = 0;
    for (;; piece = xsk_ring_cons__rx_desc(&receive_, at + pieces_++)) {
      std::memcpy(gathered_.data() + size, memory_ + piece->addr, piece->len);
      size += piece->len;
      if ((piece->options & kContinued) == 0) break;
    }
    return {gathered_.data(), size};
  }
  void release() { taken_ += pieces_; }

 private:
  static constexpr std::size_t kChunkBytes = 4096;
  // As many slots as XdpLink has.
  static constexpr std::uint32_t kSlots = 8192;
  static constexpr std::uint32_t kSendSlots = 2048;
  static constexpr std::size_t kMemoryBytes = (kSlots + kSendSlots) * kChunkBytes;
  // Since Linux 6.6: XDP_USE_SG, XDP_PKT_CONTD; since 5.18: BPF_F_XDP_HAS_FRAGS; since 6.18: XDP_MAX_TX_SKB_BUDGET.
  static constexpr std::uint16_t kSeveralPieces = 1 << 4;
  static constexpr std::uint32_t kContinued = 1 << 0;
  static constexpr std::uint32_t kHasFrags = 1 << 5;
  static constexpr int kSendBudget = 9;

  static void check(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "AF_XDP socket");
  }
  [[nodiscard]] int fd() const { return xsk_socket__fd(socket_); }

  void find_mac(const std::string& interface) {
    const int query = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    const int result = ::ioctl(query, SIOCGIFHWADDR, &request);
    ::close(query);
    check(result);
    std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
  }

  /// Attaches the XDP program: r2 = queue; return redirect_map(sockets, r2, XDP_PASS).
  void attach(int index) {
    sockets_ = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "bare", 4, 4, 1, nullptr);
    check(sockets_);
    const std::array<bpf_insn, 6> code{{{BPF_LDX | BPF_MEM | BPF_W, 2, 1, 16, 0},
                                        {BPF_LD | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, sockets_},
                                        {0, 0, 0, 0, 0},
                                        {BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS},
                                        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
                                        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
    bpf_prog_load_opts options{};
    options.sz = sizeof options;
    options.prog_flags = kHasFrags;
    program_ = bpf_prog_load(BPF_PROG_TYPE_XDP, "bare", "BSD", code.data(), code.size(), &options);
    check(program_);
    bpf_link_create_opts link{};
    link.sz = sizeof link;
    link.flags = XDP_FLAGS_DRV_MODE;
    attachment_ = bpf_link_create(program_, index, BPF_XDP, &link);
    check(attachment_);
  }

  void open(const std::string& interface) {
    void* memory = ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) check(-1);
    memory_ = static_cast<std::uint8_t*>(memory);
    xsk_umem_config umem{};
    umem.fill_size = kSlots;
    umem.comp_size = kSendSlots;
    umem.frame_size = kChunkBytes;
    check(xsk_umem__create(&umem_, memory, kMemoryBytes, &fill_, &completion_, &umem));
    xsk_socket_config config{};
    config.rx_size = kSlots;
    config.tx_size = kSendSlots;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP | kSeveralPieces;
    // The kernel releases the previous socket only some time after it was closed.
    int result = -EBUSY;
    for (int i = 0; i < 100 && result == -EBUSY; ++i) {
      result = xsk_socket__create(&socket_, interface.c_str(), 0, umem_, &receive_, &send_, &config);
      if (result == -EBUSY) std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    check(result);
    const int budget = 256;
    (void)::setsockopt(fd(), SOL_XDP, kSendBudget, &budget, sizeof budget);
    std::uint32_t at = 0;
    (void)xsk_ring_prod__reserve(&fill_, kSlots, &at);
    for (std::uint32_t i = 0; i < kSlots; ++i)
      *xsk_ring_prod__fill_addr(&fill_, at + i) = std::uint64_t{i} * kChunkBytes;
    xsk_ring_prod__submit(&fill_, kSlots);
    for (std::uint32_t i = kSlots; i < kSlots + kSendSlots; ++i) free_.push_back(std::uint64_t{i} * kChunkBytes);
  }

  void reclaim() {
    std::uint32_t at = 0;
    const std::uint32_t count = xsk_ring_cons__peek(&completion_, kSendSlots, &at);
    for (std::uint32_t i = 0; i < count; ++i) free_.push_back(*xsk_ring_cons__comp_addr(&completion_, at + i));
    if (count != 0) xsk_ring_cons__release(&completion_, count);
  }

  void give_back() {
    if (seen_ == 0) return;
    std::uint32_t to = 0;
    (void)xsk_ring_prod__reserve(&fill_, seen_, &to);
    for (std::uint32_t i = 0; i < seen_; ++i) {
      const std::uint64_t address = xsk_ring_cons__rx_desc(&receive_, first_ + i)->addr;
      *xsk_ring_prod__fill_addr(&fill_, to + i) = address - address % kChunkBytes;
    }
    xsk_ring_prod__submit(&fill_, seen_);
    xsk_ring_cons__release(&receive_, seen_);
    taken_ = seen_ = 0;
  }

  std::array<std::uint8_t, 6> mac_{};
  int sockets_ = -1;
  int program_ = -1;
  int attachment_ = -1;
  std::uint8_t* memory_ = nullptr;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  xsk_ring_cons receive_{};
  xsk_ring_prod send_{};
  xsk_umem* umem_ = nullptr;
  xsk_socket* socket_ = nullptr;
  std::vector<std::uint64_t> free_;
  std::vector<std::uint8_t> frames_;
  std::vector<std::uint8_t> gathered_;
  std::array<const std::uint8_t*, kBatch> sources_{};
  std::array<std::size_t, kBatch> lengths_{};
  std::uint32_t first_ = 0;
  std::uint32_t seen_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t pieces_ = 0;
};

}  // namespace bare
