// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
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

/// Sends and receives super-frames through an interface as fast as the kernel does: PACKET_VNET_HDR with sendmmsg and
/// recvmmsg, and nothing around it.
class SegmentSocket {
 public:
  static constexpr std::size_t kBatch = 4;
  static constexpr std::size_t kFrameBytes = 65536 + 4096;

  /// The layout of struct virtio_net_hdr.
  struct Offload {
    std::uint8_t flags;
    std::uint8_t segmentation;
    std::uint16_t header_bytes;
    std::uint16_t segment_size;
    std::uint16_t checksum_start;
    std::uint16_t checksum_offset;
  };

  explicit SegmentSocket(const std::string& interface) : frames_(2 * kBatch * kFrameBytes) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    sender_ = open(index, 0);
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    check(::ioctl(sender_, SIOCGIFHWADDR, &request));
    std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
    receiver_ = open(index, htons(ETH_P_ALL));
    for (std::size_t i = 0; i < kBatch; ++i) {
      pieces_[i].iov_base = frame(i) - sizeof(Offload);
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
      incoming_pieces_[i] = {frame(kBatch + i) - sizeof(Offload), kFrameBytes - 64};
      incoming_[i].msg_hdr.msg_iov = &incoming_pieces_[i];
      incoming_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  SegmentSocket(const SegmentSocket&) = delete;
  SegmentSocket& operator=(const SegmentSocket&) = delete;
  ~SegmentSocket() {
    ::close(receiver_);
    ::close(sender_);
  }

  /// Returns the interface's own address.
  [[nodiscard]] const std::array<std::uint8_t, 6>& mac() const { return mac_; }
  /// Returns where frame `i` of the next batch is to be written, from its Ethernet header on.
  [[nodiscard]] std::uint8_t* frame(std::size_t i) { return frames_.data() + i * kFrameBytes + 64; }
  void set_length(std::size_t i, std::size_t bytes, const Offload& offload) {
    std::memcpy(frame(i) - sizeof offload, &offload, sizeof offload);
    pieces_[i].iov_len = sizeof offload + bytes;
  }
  void send(std::size_t count) {
    for (std::size_t sent = 0; sent < count;) {
      const int result = ::sendmmsg(sender_, messages_.data() + sent, static_cast<unsigned>(count - sent), 0);
      if (result < 0 && errno != EAGAIN && errno != ENOBUFS && errno != EINTR) check(result);
      if (result > 0) sent += static_cast<std::size_t>(result);
    }
  }

  struct Received {
    const std::uint8_t* bytes;
    std::size_t size;
    std::size_t segment_size;
  };
  /// Returns how many frames came in; `received` gives them until the next call.
  [[nodiscard]] std::size_t receive() {
    const int result = ::recvmmsg(receiver_, incoming_.data(), kBatch, MSG_DONTWAIT, nullptr);
    return result > 0 ? static_cast<std::size_t>(result) : 0;
  }
  [[nodiscard]] Received received(std::size_t i) {
    Offload offload{};
    std::memcpy(&offload, frame(kBatch + i) - sizeof offload, sizeof offload);
    return {frame(kBatch + i), incoming_[i].msg_len - sizeof offload, offload.segment_size};
  }

 private:
  static void check(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "packet socket");
  }

  [[nodiscard]] static int open(unsigned interface, std::uint16_t protocol) {
    const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    check(fd);
    const int on = 1;
    check(::setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on));
    check(::setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on));
    const int buffer = 16 << 20;
    const int kind = protocol != 0 ? SO_RCVBUFFORCE : SO_SNDBUFFORCE;
    // As in RawLink: the size that is allowed, if a larger one is not.
    if (::setsockopt(fd, SOL_SOCKET, kind, &buffer, sizeof buffer) != 0) {
      check(::setsockopt(fd, SOL_SOCKET, protocol != 0 ? SO_RCVBUF : SO_SNDBUF, &buffer, sizeof buffer));
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
  std::vector<std::uint8_t> frames_;
  std::array<mmsghdr, kBatch> messages_{};
  std::array<iovec, kBatch> pieces_{};
  std::array<mmsghdr, kBatch> incoming_{};
  std::array<iovec, kBatch> incoming_pieces_{};
};

}  // namespace bare
