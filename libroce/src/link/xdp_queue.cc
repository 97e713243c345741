// SPDX-License-Identifier: BSD-2-Clause
#include "link/xdp_queue.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/xdp_abi.h"

namespace roce::link {

namespace {

constexpr std::uint32_t kSendChunks = 2048;
constexpr int kSendBuffer = 4 << 20;
/// Descriptors that one call to the kernel may send.
constexpr int kSendBudget = 256;
// A ring has at least one entry.
constexpr std::uint32_t kUnusedRing = 1;

}  // namespace

void XdpUnmap::operator()(std::byte* memory) const {
  ::munmap(memory, bytes);
}
void XdpDelete::operator()(xsk_umem* umem) const {
  (void)xsk_umem__delete(umem);
}
void XdpDelete::operator()(xsk_socket* socket) const {
  xsk_socket__delete(socket);
}

tl::expected<void, XdpQueue::OpenError> XdpQueue::open(const std::string& interface, unsigned queue,
                                                       const Shape& shape) {
  shape_ = shape;
  const std::uint32_t send_chunks = shape.sends ? kSendChunks : 0;
  memory_bytes_ = std::size_t{shape.receive_chunks + send_chunks} * shape.chunk_bytes;
  void* memory = ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return tl::unexpected(OpenError{Stage::memory, errno});
  memory_ = {static_cast<std::byte*>(memory), XdpUnmap{memory_bytes_}};

  xsk_umem_config memory_config{};
  memory_config.fill_size = std::max(shape.receive_chunks, kUnusedRing);
  memory_config.comp_size = shape.sends ? kSendChunks : kUnusedRing;
  memory_config.frame_size = shape.chunk_bytes;
  xsk_umem* umem = nullptr;
  if (const int result = xsk_umem__create(&umem, memory_.get(), memory_bytes_, &fill_, &completion_, &memory_config)) {
    return tl::unexpected(OpenError{Stage::memory, -result});
  }
  umem_.reset(umem);

  xsk_socket_config config{};
  config.rx_size = shape.receive_chunks;
  config.tx_size = kSendChunks;
  config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
  config.bind_flags =
      static_cast<std::uint16_t>(XDP_USE_NEED_WAKEUP | (shape.frags ? kXdpUseSg : 0) | (shape.copies ? XDP_COPY : 0));
  xsk_socket* socket = nullptr;
  if (const int result =
          xsk_socket__create(&socket, interface.c_str(), queue, umem, shape.receive_chunks != 0 ? &receive_ : nullptr,
                             shape.sends ? &send_ : nullptr, &config)) {
    return tl::unexpected(OpenError{Stage::socket, -result});
  }
  socket_.reset(socket);
  (void)::fcntl(fd(), F_SETFD, FD_CLOEXEC);

  xdp_options options{};
  socklen_t size = sizeof options;
  zero_copy_ =
      ::getsockopt(fd(), SOL_XDP, XDP_OPTIONS, &options, &size) == 0 && (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
  if (shape.sends) {
    // Without these it is only slower: a kernel may not know the budget, or have a lower limit.
    (void)::setsockopt(fd(), SOL_XDP, kXdpMaxTxSkbBudget, &kSendBudget, sizeof kSendBudget);
    (void)::setsockopt(fd(), SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
  }

  std::uint32_t at = 0;
  (void)xsk_ring_prod__reserve(&fill_, shape.receive_chunks, &at);
  for (std::uint32_t i = 0; i < shape.receive_chunks; ++i) {
    *xsk_ring_prod__fill_addr(&fill_, at + i) = std::uint64_t{i} * shape.chunk_bytes;
  }
  xsk_ring_prod__submit(&fill_, shape.receive_chunks);
  free_.reserve(send_chunks);
  for (std::uint32_t i = shape.receive_chunks + send_chunks; i > shape.receive_chunks; --i) {
    free_.push_back(std::uint64_t{i - 1} * shape.chunk_bytes);
  }
  return {};
}

int XdpQueue::fd() const {
  return xsk_socket__fd(socket_.get());
}

std::uint64_t XdpQueue::drops() const {
  xdp_statistics statistics{};
  socklen_t size = sizeof statistics;
  if (::getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &statistics, &size) != 0) return 0;
  // An empty fill ring is also counted in rx_dropped.
  return statistics.rx_dropped + statistics.rx_ring_full;
}

void XdpQueue::give_back(std::uint32_t chunks) {
  if (chunks == 0) return;
  // There is always room: the ring has an entry for every chunk.
  std::uint32_t to = 0;
  (void)xsk_ring_prod__reserve(&fill_, chunks, &to);
  const std::uint32_t from = receive_.cached_cons - chunks;
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const std::uint64_t address = xsk_ring_cons__rx_desc(&receive_, from + i)->addr;
    *xsk_ring_prod__fill_addr(&fill_, to + i) = address - address % shape_.chunk_bytes;
  }
  xsk_ring_prod__submit(&fill_, chunks);
  xsk_ring_cons__release(&receive_, chunks);
  if (xsk_ring_prod__needs_wakeup(&fill_) != 0) (void)::recvfrom(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

/// Copies a frame that is in several chunks into one piece.
std::span<const std::byte> XdpQueue::gather(std::uint32_t first, std::uint32_t descriptors) {
  if (gathered_count_ == gathered_.size()) gathered_.emplace_back();
  std::vector<std::byte>& whole = gathered_[gathered_count_++];
  whole.clear();
  for (std::uint32_t i = 0; i < descriptors; ++i) {
    const xdp_desc* piece = xsk_ring_cons__rx_desc(&receive_, first + i);
    const std::byte* start = memory_.get() + piece->addr;
    whole.insert(whole.end(), start, start + piece->len);
  }
  return whole;
}

std::size_t XdpQueue::receive(std::span<RxFrame> frames) {
  if (shape_.receive_chunks == 0) return 0;
  give_back(held_);
  held_ = 0;
  gathered_count_ = 0;
  std::uint32_t at = 0;
  std::uint32_t available = xsk_ring_cons__peek(&receive_, shape_.receive_chunks, &at);
  const std::uint32_t peeked = available;
  std::size_t count = 0;
  while (count < frames.size() && available != 0) {
    std::uint32_t pieces = 1;
    while (pieces < available && (xsk_ring_cons__rx_desc(&receive_, at + pieces - 1)->options & kXdpPktContd) != 0) {
      ++pieces;
    }
    const xdp_desc* last = xsk_ring_cons__rx_desc(&receive_, at + pieces - 1);
    if ((last->options & kXdpPktContd) != 0) {
      // The kernel has not delivered the whole frame yet. libxdp looks again only if nothing is left.
      receive_.cached_prod = __atomic_load_n(receive_.producer, __ATOMIC_ACQUIRE);
      break;
    }
    RxFrame& frame = frames[count++];
    frame.bytes = pieces == 1 ? std::span<const std::byte>{memory_.get() + last->addr, last->len} : gather(at, pieces);
    frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
    frame.segment_size = 0;
    at += pieces;
    available -= pieces;
  }
  if (available != 0) xsk_ring_cons__cancel(&receive_, available);
  held_ = peeked - available;
  return count;
}

/// Takes back the chunks whose frames are on their way.
void XdpQueue::reclaim() {
  std::uint32_t at = 0;
  const std::uint32_t count = xsk_ring_cons__peek(&completion_, kSendChunks, &at);
  if (count == 0) return;
  for (std::uint32_t i = 0; i < count; ++i) free_.push_back(*xsk_ring_cons__comp_addr(&completion_, at + i));
  xsk_ring_cons__release(&completion_, count);
}

std::size_t XdpQueue::write(std::span<const TxFrame> frames, std::size_t& bytes, std::uint32_t& descriptors) {
  std::size_t taken = 0;
  for (const TxFrame& frame : frames) {
    const auto pieces = static_cast<std::uint32_t>((frame.bytes.size() + shape_.chunk_bytes - 1) / shape_.chunk_bytes);
    std::uint32_t at = 0;
    if (pieces > free_.size() || xsk_ring_prod__reserve(&send_, pieces, &at) == 0) break;
    std::span<const std::byte> left = frame.bytes;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const std::size_t length = std::min<std::size_t>(left.size(), shape_.chunk_bytes);
      xdp_desc* piece = xsk_ring_prod__tx_desc(&send_, at + i);
      piece->addr = free_.back();
      free_.pop_back();
      std::memcpy(memory_.get() + piece->addr, left.data(), length);
      left = left.subspan(length);
      piece->len = static_cast<std::uint32_t>(length);
      piece->options = left.empty() ? 0 : kXdpPktContd;
    }
    descriptors += pieces;
    bytes += frame.bytes.size();
    ++taken;
  }
  return taken;
}

/// Makes the kernel send what is in the ring, as far as it can. Returns 0 or the errno of a socket that cannot send:
/// ENETDOWN, or that of an interface that is gone. Adds the frames that the interface did not want to `refused`.
int XdpQueue::drain(std::size_t& refused) {
  const auto waiting = [this] { return *send_.producer - __atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE); };
  std::uint32_t before = waiting();
  is_behind_ = false;
  // Each call that does not end with "try again later" takes at least one descriptor.
  for (std::uint32_t calls = 0; calls <= 2 * kSendChunks; ++calls) {
    if (zero_copy_ && xsk_ring_prod__needs_wakeup(&send_) == 0) return 0;
    if (::sendto(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) return 0;
    switch (errno) {
      case EINTR:
      case EOVERFLOW:
        break;
      case EBUSY:
        // The driver dropped the frame, as it does if its queue is full or its cable is out. A driver that works in our
        // memory reports this while it is busy with earlier frames.
        if (zero_copy_) return 0;
        ++refused;
        break;
      case EAGAIN:
      case ENOBUFS:
      case ENOMEM: {
        const std::uint32_t now = waiting();
        is_behind_ = now != 0;
        if (now == 0 || now == before) return 0;
        before = now;
        break;
      }
      default:
        return errno;
    }
  }
  is_behind_ = waiting() != 0;
  return 0;
}

/// Takes back descriptors that the kernel has not looked at, so that they are not sent. Not for a driver that works in
/// our memory: it may look at any time.
void XdpQueue::take_back(std::uint32_t descriptors) {
  send_.cached_prod -= descriptors;
  __atomic_store_n(send_.producer, send_.cached_prod, __ATOMIC_RELEASE);
  for (std::uint32_t i = descriptors; i > 0; --i) {
    free_.push_back(xsk_ring_prod__tx_desc(&send_, send_.cached_prod + i - 1)->addr);
  }
}

XdpQueue::Sent XdpQueue::send(std::span<const TxFrame> frames) {
  Sent sent;
  std::uint32_t descriptors = 0;
  reclaim();
  sent.taken = write(frames, sent.bytes, descriptors);
  if (descriptors != 0) xsk_ring_prod__submit(&send_, descriptors);
  if (descriptors == 0 && !is_behind_) return sent;
  const int error = drain(sent.refused);
  if (error == ENETDOWN && !zero_copy_) {
    // Otherwise the frames would go out whenever the interface is up again.
    take_back(descriptors);
    sent.refused = sent.taken;
    sent.bytes = 0;
  } else if (error != 0 && error != ENETDOWN) {
    sent.error = error;
  }
  return sent;
}

void XdpQueue::push() {
  std::size_t refused = 0;
  (void)drain(refused);
}

}  // namespace roce::link
