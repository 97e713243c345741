// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

namespace bare {

/// Sends and receives frames through an interface as fast as the kernel does: a ring of slots to receive (TPACKET_V2),
/// sendmmsg to send, and nothing around it.
class PacketSocket {
 public:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kFrameBytes = 9216;

  explicit PacketSocket(const std::string& interface) : frames_(kBatch * kFrameBytes) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    sender_ = open(index, 0);
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    check(::ioctl(sender_, SIOCGIFHWADDR, &request));
    std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
    receiver_ = open(index, htons(ETH_P_ALL));
    const int buffer = 4 << 20;
    check(::setsockopt(sender_, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer));
    for (std::size_t i = 0; i < kBatch; ++i) {
      pieces_[i].iov_base = frame(i);
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket() {
    ::munmap(ring_, kRingBytes);
    ::close(receiver_);
    ::close(sender_);
  }

  /// Returns the interface's own address.
  [[nodiscard]] const std::array<std::uint8_t, 6>& mac() const { return mac_; }
  /// Returns where frame `i` of the next batch is to be written.
  [[nodiscard]] std::uint8_t* frame(std::size_t i) { return frames_.data() + i * kFrameBytes; }
  void set_length(std::size_t i, std::size_t bytes) { pieces_[i].iov_len = bytes; }
  /// Sets a frame that lies elsewhere, instead of `frame` and `set_length`.
  void set_frame(std::size_t i, const std::uint8_t* bytes, std::size_t size) {
    pieces_[i] = {const_cast<std::uint8_t*>(bytes), size};
  }
  void send(std::size_t count) {
    for (std::size_t sent = 0; sent < count;) {
      const int result = ::sendmmsg(sender_, messages_.data() + sent, static_cast<unsigned>(count - sent), 0);
      if (result < 0 && errno != EAGAIN && errno != ENOBUFS && errno != EINTR) check(result);
      if (result > 0) sent += static_cast<std::size_t>(result);
    }
  }

  struct Received {
    const std::uint8_t* bytes = nullptr;  ///< nullptr: no frame is there
    std::size_t size = 0;
    std::int64_t timestamp_ns = 0;
  };
  /// Returns the oldest frame, which is valid until `release`.
  [[nodiscard]] Received receive() {
    auto* header = reinterpret_cast<tpacket2_hdr*>(ring_ + next_ * kSlotBytes);
    if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) return {};
    return {reinterpret_cast<const std::uint8_t*>(header) + header->tp_mac, header->tp_snaplen,
            std::int64_t{header->tp_sec} * 1'000'000'000 + header->tp_nsec};
  }
  void release() {
    auto* header = reinterpret_cast<tpacket2_hdr*>(ring_ + next_ * kSlotBytes);
    __atomic_store_n(&header->tp_status, std::uint32_t{TP_STATUS_KERNEL}, __ATOMIC_RELEASE);
    next_ = (next_ + 1) % kSlots;
  }
  /// Waits until a frame is there or `milliseconds` have passed.
  void wait(int milliseconds) const {
    pollfd set{receiver_, POLLIN, 0};
    ::poll(&set, 1, milliseconds);
  }

 private:
  // As large as RawLink's ring, and divided like it for an MTU of 9000.
  static constexpr std::size_t kRingBytes = 16 << 20;
  static constexpr std::size_t kSlotBytes = 16 << 10;
  static constexpr std::size_t kSlots = kRingBytes / kSlotBytes;

  static void check(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "packet socket");
  }

  [[nodiscard]] int open(unsigned interface, std::uint16_t protocol) {
    const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    check(fd);
    if (protocol != 0) {
      const int version = TPACKET_V2;
      const int on = 1;
      check(::setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version));
      check(::setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on));
      const tpacket_req request{kRingBytes, 1, kSlotBytes, kSlots};
      check(::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request));
      void* memory = ::mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
      if (memory == MAP_FAILED) check(-1);
      ring_ = static_cast<std::byte*>(memory);
    }
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = protocol;
    address.sll_ifindex = static_cast<int>(interface);
    check(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    return fd;
  }

  std::array<std::uint8_t, 6> mac_{};
  int sender_ = -1;
  int receiver_ = -1;
  std::byte* ring_ = nullptr;
  std::size_t next_ = 0;
  std::vector<std::uint8_t> frames_;
  std::array<mmsghdr, kBatch> messages_{};
  std::array<iovec, kBatch> pieces_{};
};

}  // namespace bare
