// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/udp_link.h"

#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "link/udp_groups.h"
#include "link/udp_ports.h"
#include "link/udp_socket.h"

namespace roce::link {

namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kMinSlotBytes = 9 << 10;
// Slots that are a power of two apart would begin in the same few sets of the caches.
constexpr std::size_t kSlotStagger = 3 * 64;
// Address, class, hop limit and time take 112 bytes with IPv6.
constexpr std::size_t kReceiveControl = 256;
constexpr std::size_t kSendControl = 2 * CMSG_SPACE(sizeof(int));
constexpr std::size_t kSegmentedControl = kSendControl + CMSG_SPACE(sizeof(std::uint16_t));
// With Ethernet, IPv6 and UDP less than 64 KiB, from which on interfaces refuse super-frames (gso_max_size); and as
// many segments as every kernel takes that segments UDP (UDP_MAX_SEGMENTS).
constexpr std::size_t kMaxSuperFrame = 65535 - 14 - 40 - 8;
constexpr std::uint32_t kMaxSegments = 64;
constexpr std::size_t kLongestDatagram = 64 << 10;

struct alignas(cmsghdr) ReceiveControl {
  std::byte bytes[kReceiveControl];
};
struct alignas(cmsghdr) SendControl {
  std::byte bytes[kSegmentedControl];
};

template <typename T>
[[nodiscard]] T content(const cmsghdr* message) {
  T result;
  std::memcpy(&result, CMSG_DATA(message), sizeof result);
  return result;
}

void read_v4(const cmsghdr* message, UdpMeta& out) {
  if (message->cmsg_type == IP_PKTINFO) {
    out.destination = mapped(content<in_pktinfo>(message).ipi_addr);
  } else if (message->cmsg_type == IP_TOS) {
    out.traffic_class = content<std::uint8_t>(message);
  } else if (message->cmsg_type == IP_TTL) {
    out.hop_limit = static_cast<std::uint8_t>(content<int>(message));
  }
}

void read_v6(const cmsghdr* message, UdpMeta& out) {
  if (message->cmsg_type == IPV6_PKTINFO) {
    out.destination = mapped(content<in6_pktinfo>(message).ipi6_addr);
  } else if (message->cmsg_type == IPV6_TCLASS) {
    out.traffic_class = static_cast<std::uint8_t>(content<int>(message));
  } else if (message->cmsg_type == IPV6_HOPLIMIT) {
    out.hop_limit = static_cast<std::uint8_t>(content<int>(message));
  }
}

void read_control(const msghdr& header, RxFrame& out) {
  // CMSG_NXTHDR takes a pointer to non-const and changes nothing.
  auto* changeable = const_cast<msghdr*>(&header);
  for (cmsghdr* message = CMSG_FIRSTHDR(changeable); message != nullptr; message = CMSG_NXTHDR(changeable, message)) {
    if (message->cmsg_level == IPPROTO_IP) {
      read_v4(message, out.udp);
    } else if (message->cmsg_level == IPPROTO_IPV6) {
      read_v6(message, out.udp);
    } else if (message->cmsg_level == SOL_SOCKET && message->cmsg_type == SO_TIMESTAMPNS) {
      const auto time = content<timespec>(message);
      out.timestamp_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    } else if (message->cmsg_level == IPPROTO_UDP && message->cmsg_type == UDP_GRO) {
      out.segment_size = static_cast<std::uint32_t>(content<int>(message));
    }
  }
}

/// Returns the kernel's count of datagrams that it dropped for want of room, since the socket was made.
[[nodiscard]] std::optional<std::uint32_t> count_drops(const FileDescriptor& socket) {
  // Unlike SO_RXQ_OVFL, which comes with the next datagram, this includes losses after which nothing came.
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return std::nullopt;
  return memory[SK_MEMINFO_DROPS];
}

/// Everything behind the UDP header of one outgoing frame, and the header fields that the kernel writes for it.
struct Outgoing {
  SocketAddress destination{};
  iovec piece{};
  SendControl control{};
};

}  // namespace

struct UdpLink::State {
  State(UdpEndpoint own, FileDescriptor socket, const AddressOwner& owner, const UdpLinkOptions& options);

  [[nodiscard]] bool may_send(const TxFrame& frame) const;
  void prepare(std::size_t place, const TxFrame& frame);
  [[nodiscard]] LinkResult<std::size_t> send_run(const UdpPorts::Port& port, std::span<const TxFrame> frames);
  /// Takes up to `wanted` datagrams of a socket into the slots from `first` on.
  [[nodiscard]] LinkResult<std::size_t> receive_at(int socket, std::size_t first, std::size_t wanted,
                                                   std::span<RxFrame> frames);
  void stop_segmentation(int error);
  [[nodiscard]] LinkError gone(int error) const;

  UdpEndpoint endpoint;
  bool v4;
  std::uint32_t interface_index;
  std::size_t max_payload;
  std::size_t slot_bytes;
  std::size_t slot_stride;
  FileDescriptor receiver;
  bool segmentation;
  std::string refusal;  ///< the reason why there are no super-frames
  UdpPorts ports;
  UdpGroups groups;
  std::size_t turn = 0;  ///< counts calls of `receive` while there are groups
  LinkCounters counters;
  /// The kernel's count at the last look; it has 32 bits.
  std::uint32_t drops_seen;

  // Not initialised, so that only the used part of the room for the longest datagrams takes memory.
  std::unique_ptr<std::byte[]> slots;
  std::array<mmsghdr, kBatch> incoming{};
  std::array<SocketAddress, kBatch> sources{};
  std::array<iovec, kBatch> incoming_pieces{};
  std::array<ReceiveControl, kBatch> incoming_control{};

  std::array<mmsghdr, kBatch> messages{};
  std::array<Outgoing, kBatch> outgoing{};
};

UdpLink::State::State(UdpEndpoint own, FileDescriptor socket, const AddressOwner& owner, const UdpLinkOptions& options)
    : endpoint(std::move(own)),
      v4(is_v4(endpoint.local)),
      interface_index(owner.index),
      max_payload(owner.max_payload),
      slot_bytes(options.segmentation ? kLongestDatagram : std::max(max_payload, kMinSlotBytes)),
      slot_stride((slot_bytes + 63) / 64 * 64 + kSlotStagger),
      receiver(std::move(socket)),
      segmentation(options.segmentation),
      ports(endpoint, receiver.get(), options.max_source_ports),
      groups(endpoint, options.receive_buffer_bytes, options.segmentation),
      drops_seen(count_drops(receiver).value_or(0)),
      slots(std::make_unique_for_overwrite<std::byte[]>(slot_stride * kBatch)) {
  if (segmentation && !allow_super_frames(receiver)) stop_segmentation(errno);
  for (std::size_t i = 0; i < kBatch; ++i) {
    incoming_pieces[i] = {slots.get() + i * slot_stride, slot_bytes};
    msghdr& in = incoming[i].msg_hdr;
    in.msg_name = &sources[i];
    in.msg_iov = &incoming_pieces[i];
    in.msg_iovlen = 1;
    in.msg_control = incoming_control[i].bytes;

    msghdr& out = messages[i].msg_hdr;
    out.msg_name = &outgoing[i].destination;
    out.msg_iov = &outgoing[i].piece;
    out.msg_iovlen = 1;
    out.msg_control = outgoing[i].control.bytes;
    out.msg_controllen = kSegmentedControl;
    cmsghdr* message = CMSG_FIRSTHDR(&out);
    for (const int type : {v4 ? IP_TOS : IPV6_TCLASS, v4 ? IP_TTL : IPV6_HOPLIMIT}) {
      message->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
      message->cmsg_type = type;
      message->cmsg_len = CMSG_LEN(sizeof(int));
      message = CMSG_NXTHDR(&out, message);
    }
    message->cmsg_level = IPPROTO_UDP;
    message->cmsg_type = UDP_SEGMENT;
    message->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  }
}

void UdpLink::State::stop_segmentation(int error) {
  segmentation = false;
  refusal = "the kernel takes no super-frames from " + text(endpoint.local) + " (UDP_SEGMENT): " + std::strerror(error);
}

bool UdpLink::State::may_send(const TxFrame& frame) const {
  const std::size_t packet = frame.segment_size != 0 ? frame.segment_size : frame.bytes.size();
  return frame.bytes.size() <= std::max(max_payload, kMaxSuperFrame) && packet <= max_payload &&
         (frame.udp.source == endpoint.local || frame.udp.source == MappedAddress{}) &&
         is_v4(frame.udp.destination) == v4;
}

void UdpLink::State::prepare(std::size_t place, const TxFrame& frame) {
  Outgoing& out = outgoing[place];
  messages[place].msg_hdr.msg_namelen = store(frame.udp.destination, kRocePort, endpoint.scope, out.destination);
  // The kernel only reads it.
  out.piece = {const_cast<std::byte*>(frame.bytes.data()), frame.bytes.size()};
  // Control messages cost a twentieth of all the work for a frame, and most frames have the socket's values anyway.
  if (frame.segment_size == 0 && frame.udp.traffic_class == 0 && frame.udp.hop_limit == kSenderHopLimit) {
    messages[place].msg_hdr.msg_controllen = 0;
    return;
  }
  messages[place].msg_hdr.msg_controllen = frame.segment_size != 0 ? kSegmentedControl : kSendControl;
  const auto segment_size = static_cast<std::uint16_t>(frame.segment_size);
  std::memcpy(out.control.bytes + kSendControl + CMSG_LEN(0), &segment_size, sizeof segment_size);
  const int values[] = {frame.udp.traffic_class, frame.udp.hop_limit};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    std::memcpy(out.control.bytes + i * CMSG_SPACE(sizeof(int)) + CMSG_LEN(0), &values[i], sizeof values[i]);
  }
}

LinkError UdpLink::State::gone(int error) const {
  return {"the way to the network from " + text(endpoint.local) + " is gone: " + std::strerror(error) +
          "; start again once its interface is back"};
}

LinkResult<std::unique_ptr<UdpLink>> UdpLink::open(const UdpLinkOptions& options) {
  FileDescriptor given{options.receiver};
  const MappedAddress any_v4 = mapped(in_addr{INADDR_ANY});
  const bool group = is_v4(options.local) ? (options.local[12] & std::byte{0xf0}) == std::byte{0xe0}
                                          : options.local[0] == std::byte{0xff};
  if (options.local == MappedAddress{} || options.local == any_v4 || group) {
    return tl::unexpected(LinkError{"cannot send RoCE from " + text(options.local) +
                                    ": it is not the address of one machine; use one that `ip address` lists"});
  }
  auto owner = find_owner(options.local, options.interface);
  if (!owner) return tl::unexpected(owner.error());
  UdpEndpoint endpoint{options.local, owner->index, options.only_interface ? owner->interface : std::string{}};
  auto receiver = given ? LinkResult<FileDescriptor>{std::move(given)}
                        : open_receiver(endpoint, *owner, options.receive_buffer_bytes);
  if (!receiver) return tl::unexpected(receiver.error());
  auto state = std::make_unique<State>(std::move(endpoint), std::move(*receiver), *owner, options);
  return std::unique_ptr<UdpLink>(new UdpLink(std::move(state)));
}

UdpLink::UdpLink(std::unique_ptr<State> state) : state_(std::move(state)) {}
UdpLink::~UdpLink() = default;

std::size_t UdpLink::max_bytes() const {
  return state_->max_payload;
}

Segmentation UdpLink::segmentation() const {
  if (!state_->segmentation) return {.refusal = state_->refusal};
  return {.max_segments = kMaxSegments, .max_bytes = kMaxSuperFrame};
}

int UdpLink::fd() const {
  return state_->receiver.get();
}

LinkResult<std::size_t> UdpLink::State::receive_at(int socket, std::size_t first, std::size_t wanted,
                                                   std::span<RxFrame> frames) {
  for (std::size_t i = first; i < first + wanted; ++i) {
    incoming[i].msg_hdr.msg_namelen = sizeof(SocketAddress);
    incoming[i].msg_hdr.msg_controllen = kReceiveControl;
  }
  int got = 0;
  do {
    // With MSG_TRUNC the length is that of the datagram, not of the part that had room.
    got = ::recvmmsg(socket, incoming.data() + first, static_cast<unsigned>(wanted), MSG_DONTWAIT | MSG_TRUNC, nullptr);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno == EBADF || errno == ENOTSOCK || errno == ENODEV) return tl::unexpected(gone(errno));
    // Nothing is there, or the error is about an earlier datagram, and reporting it has cleared it.
    return std::size_t{0};
  }
  const auto count = static_cast<std::size_t>(got);
  for (std::size_t i = first; i < first + count; ++i) {
    RxFrame& frame = frames[i];
    frame = {};
    frame.wire_length = incoming[i].msg_len;
    frame.bytes = {slots.get() + i * slot_stride, std::min<std::size_t>(frame.wire_length, slot_bytes)};
    const SocketAddress& source = sources[i];
    frame.udp.source = v4 ? mapped(source.v4.sin_addr) : mapped(source.v6.sin6_addr);
    frame.udp.source_port = ntohs(v4 ? source.v4.sin_port : source.v6.sin6_port);
    read_control(incoming[i].msg_hdr, frame);
    counters.received_bytes += frame.wire_length;
  }
  counters.received += count;
  return count;
}

std::size_t UdpLink::receive_buffer() const {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(state_->receiver.get(), SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

LinkResult<void> UdpLink::join(const std::array<std::byte, 16>& group) {
  return state_->groups.join(group);
}

void UdpLink::leave(const std::array<std::byte, 16>& group) {
  state_->groups.leave(group);
}

int UdpLink::group_fd() const {
  return state_->groups.fd();
}

LinkResult<std::size_t> UdpLink::receive(std::span<RxFrame> frames) {
  State& state = *state_;
  const std::size_t wanted = std::min(frames.size(), kBatch);
  if (wanted == 0) return std::size_t{0};
  // Another socket goes first each time, so that none is left out while one is full.
  const std::vector<UdpGroups::Group>& groups = state.groups.joined();
  const std::size_t first = groups.empty() ? 0 : state.turn++ % (groups.size() + 1);
  std::size_t count = 0;
  for (std::size_t i = 0; i <= groups.size() && count < wanted; ++i) {
    const std::size_t which = (first + i) % (groups.size() + 1);
    const int socket = which == 0 ? state.receiver.get() : groups[which - 1].socket.get();
    auto came = state.receive_at(socket, count, wanted - count, frames);
    if (!came) return came;
    count += *came;
  }
  return count;
}

/// Sends frames of one source port that are all super-frames or all not, at most one batch. Returns the number taken.
LinkResult<std::size_t> UdpLink::State::send_run(const UdpPorts::Port& port, std::span<const TxFrame> frames) {
  const bool segmented = frames.front().segment_size != 0;
  if (!ports.set_checksums(port, segmented)) {
    if (segmented) stop_segmentation(errno);
    return std::size_t{0};
  }
  for (std::size_t i = 0; i < frames.size(); ++i) prepare(i, frames[i]);
  std::size_t taken = 0;
  while (taken < frames.size()) {
    const int sent =
        ::sendmmsg(port.socket, messages.data() + taken, static_cast<unsigned>(frames.size() - taken), MSG_DONTWAIT);
    if (sent > 0) {
      for (int i = 0; i < sent; ++i) counters.sent_bytes += frames[taken++].bytes.size();
      counters.sent += static_cast<std::uint64_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) break;
    if (errno == EBADF || errno == ENOTSOCK || errno == ENODEV) return tl::unexpected(gone(errno));
    if (segmented && (errno == EINVAL || errno == EOPNOTSUPP || errno == EIO)) {
      stop_segmentation(errno);
      break;
    }
    // No route, too long for the path, forbidden: the frame is lost, as a wire may lose it.
    ++counters.send_errors;
    ++taken;
  }
  return taken;
}

LinkResult<std::size_t> UdpLink::send(std::span<const TxFrame> frames) {
  State& state = *state_;
  std::size_t taken = 0;
  while (taken < frames.size()) {
    const std::uint16_t port = frames[taken].udp.source_port;
    const bool segmented = frames[taken].segment_size != 0;
    if (segmented && !state.segmentation) break;
    std::size_t run = 0;
    while (run < kBatch && taken + run < frames.size() && frames[taken + run].udp.source_port == port &&
           (frames[taken + run].segment_size != 0) == segmented && state.may_send(frames[taken + run])) {
      ++run;
    }
    const UdpPorts::Port sender = run == 0 ? UdpPorts::Port{} : state.ports.find(port);
    if (sender.socket < 0) {
      const std::size_t refused = std::max<std::size_t>(run, 1);
      state.counters.send_errors += refused;
      taken += refused;
      continue;
    }
    const auto sent = state.send_run(sender, frames.subspan(taken, run));
    if (!sent) return tl::unexpected(sent.error());
    taken += *sent;
    if (*sent < run) break;
  }
  return taken;
}

LinkResult<void> UdpLink::check() {
  int error = 0;
  socklen_t size = sizeof error;
  // Reading the error clears it, so that poll rests.
  (void)::getsockopt(state_->receiver.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  char name[IF_NAMESIZE];
  if (state_->interface_index != 0 && ::if_indextoname(state_->interface_index, name) == nullptr) {
    return tl::unexpected(state_->gone(ENODEV));
  }
  return {};
}

LinkCounters UdpLink::counters() const {
  const std::uint32_t drops = count_drops(state_->receiver).value_or(state_->drops_seen);
  state_->counters.receive_drops += drops - state_->drops_seen;
  state_->drops_seen = drops;
  return state_->counters;
}

std::uint16_t UdpLink::source_port(std::uint16_t wanted) {
  const UdpPorts::Port port = state_->ports.find(wanted);
  return port.socket < 0 ? wanted : port.number;
}

}  // namespace roce::link
