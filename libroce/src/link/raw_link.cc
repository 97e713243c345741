// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/raw_link.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <pcap/pcap.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "link/ethernet_interface.h"
#include "link/link_failure.h"
#include "link/offload.h"
#include "link/packet_fanout.h"
#include "link/packet_ring.h"
#include "roce/link/file_descriptor.h"

namespace roce::link {

namespace {

constexpr std::size_t kBatch = 64;
constexpr int kSendBuffer = 4 << 20;
// Bytes: less than 64 KiB, from which on interfaces refuse super-frames (gso_max_size). Segments: as many as every
// kernel takes that segments UDP (UDP_MAX_SEGMENTS).
constexpr std::size_t kMaxSuperFrame = 65535;
constexpr std::uint32_t kMaxSegments = 64;
/// The number of times that an interface that went down is checked for deletion.
constexpr int kLooksForDeletion = 25;
constexpr std::chrono::milliseconds kLookInterval{10};
// The length at which a filter cuts frames: longer than any, because super-frames are longer than the MTU.
constexpr int kSnapLength = 1 << 18;

[[nodiscard]] std::uint16_t network_order(std::uint16_t value) {
  return __builtin_bswap16(value);
}

[[nodiscard]] tl::unexpected<LinkError> failure(const std::string& what, int error, std::string_view advice = {}) {
  return link_failure(
      what, error, advice,
      "it needs CAP_NET_RAW: run it as root, in a user namespace of your own (unshare -rn), or use --link udp");
}

/// Compiles a filter expression and gives it to the kernel.
[[nodiscard]] LinkResult<void> attach_filter(int socket, const std::string& expression) {
  std::unique_ptr<pcap_t, decltype(&pcap_close)> handle{pcap_open_dead(DLT_EN10MB, kSnapLength), &pcap_close};
  bpf_program program{};
  if (handle == nullptr || pcap_compile(handle.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return tl::unexpected(LinkError{"the filter \"" + expression + "\" is not understood: " +
                                    (handle != nullptr ? pcap_geterr(handle.get()) : "no memory") +
                                    "; see pcap-filter(7)"});
  }
  static_assert(sizeof(bpf_insn) == sizeof(sock_filter));
  sock_fprog filter{};
  filter.len = static_cast<unsigned short>(program.bf_len);
  filter.filter = reinterpret_cast<sock_filter*>(program.bf_insns);
  const int result = ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
  const int error = errno;
  pcap_freecode(&program);
  if (result != 0) return failure("cannot set the filter \"" + expression + "\"", error);
  return {};
}

}  // namespace

struct RawLink::State {
  EthernetInterface interface;
  FileDescriptor receiver;
  FileDescriptor sender;
  FileDescriptor segmenter;  ///< sends super-frames
  PacketRing ring;
  LinkCounters counters;
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> pieces{};
  std::string refusal;  ///< the reason why there are no super-frames
  std::array<SegmentedHeaders, kBatch> segmented{};
  std::array<mmsghdr, kBatch> segmented_messages{};
  std::array<std::array<iovec, 2>, kBatch> segmented_pieces{};

  [[nodiscard]] LinkResult<void> open_receiver(const RawLinkOptions& options);
  [[nodiscard]] LinkResult<FileDescriptor> open_sender();
  void open_segmenter();
  void stop_segmentation(int error);
  [[nodiscard]] bool prepare(std::size_t place, const TxFrame& frame);
  [[nodiscard]] bool prepare_segmented(std::size_t place, const TxFrame& frame);
  [[nodiscard]] LinkResult<std::size_t> send_run(std::span<const TxFrame> frames, bool segmented_run);
  [[nodiscard]] sockaddr_ll address(std::uint16_t protocol) const {
    sockaddr_ll result{};
    result.sll_family = AF_PACKET;
    result.sll_protocol = network_order(protocol);
    result.sll_ifindex = interface.index;
    return result;
  }
  /// Returns the socket that reports incoming frames and the state of the interface.
  [[nodiscard]] int watched() const { return receiver ? receiver.get() : sender.get(); }
  [[nodiscard]] LinkError gone(int error) const { return interface_gone(interface.name, error); }
};

LinkResult<void> RawLink::State::open_receiver(const RawLinkOptions& options) {
  // Protocol 0: nothing arrives before the filter is set.
  receiver = FileDescriptor{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!receiver) return failure("cannot open a packet socket on " + interface.name, errno);
  const int on = 1;
  if (::setsockopt(receiver.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0) {
    return failure("cannot leave out our own frames on " + interface.name, errno, "it needs Linux 4.20");
  }
  if (!options.filter.empty()) {
    if (auto attached = attach_filter(receiver.get(), options.filter); !attached) return attached;
  }
  const bool blocks = options.delivery == RawLinkOptions::Delivery::block;
  if (const int error = ring.open(receiver.get(), blocks, options.ring_bytes, interface.max_frame() + kVlanTagBytes)) {
    return failure(
        "cannot make a receive ring of " + std::to_string(options.ring_bytes) + " bytes on " + interface.name, error,
        "take a smaller one");
  }
  packet_mreq membership{};
  membership.mr_ifindex = interface.index;
  if (options.promiscuous) {
    membership.mr_type = PACKET_MR_PROMISC;
    if (::setsockopt(receiver.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
      return failure("cannot make " + interface.name + " promiscuous", errno);
    }
  }
  if (options.all_multicast) {
    membership.mr_type = PACKET_MR_ALLMULTI;
    if (::setsockopt(receiver.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
      return failure("cannot make " + interface.name + " receive all multicast groups", errno);
    }
  }
  const sockaddr_ll where = address(ETH_P_ALL);
  if (::bind(receiver.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    return failure("cannot receive on " + interface.name, errno);
  }
  return {};
}

LinkResult<FileDescriptor> RawLink::State::open_sender() {
  FileDescriptor opened{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!opened) return failure("cannot open a packet socket on " + interface.name, errno);
  // If the limit is lower, the kernel takes what it allows.
  (void)::setsockopt(opened.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  const sockaddr_ll where = address(0);
  if (::bind(opened.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    return failure("cannot send on " + interface.name, errno);
  }
  return opened;
}

/// Opens a socket of its own, because every frame on it needs one more header.
void RawLink::State::open_segmenter() {
  auto opened = open_sender();
  const int on = 1;
  if (!opened || ::setsockopt(opened->get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) {
    return stop_segmentation(errno);
  }
  segmenter = std::move(*opened);
}

void RawLink::State::stop_segmentation(int error) {
  segmenter = FileDescriptor{};
  refusal = "the kernel takes no super-frames on " + interface.name +
            " (UDP_L4 with PACKET_VNET_HDR, Linux 6.2): " + std::strerror(error);
}

RawLink::RawLink(std::unique_ptr<State> state) : state_(std::move(state)) {}
RawLink::~RawLink() = default;

LinkResult<std::unique_ptr<RawLink>> RawLink::open(const RawLinkOptions& options) {
  auto state = std::make_unique<State>();
  LinkResult<EthernetInterface> found = find_ethernet_interface(options.interface);
  if (!found) return tl::unexpected(std::move(found.error()));
  state->interface = std::move(*found);
  // If any socket receives on the interface, the kernel consults it for each outgoing frame, ours included.
  if (!options.sends_only) {
    if (auto opened = state->open_receiver(options); !opened) return tl::unexpected(std::move(opened.error()));
  }
  auto sender = state->open_sender();
  if (!sender) return tl::unexpected(std::move(sender.error()));
  state->sender = std::move(*sender);
  if (options.segmentation) state->open_segmenter();
  return std::unique_ptr<RawLink>{new RawLink{std::move(state)}};
}

LinkResult<std::vector<std::unique_ptr<RawLink>>> RawLink::open_shards(const RawLinkOptions& options,
                                                                       std::uint8_t shard_bits) {
  const std::size_t count = std::size_t{1} << shard_bits;
  std::vector<std::unique_ptr<RawLink>> links;
  links.reserve(count);
  PacketFanout group{shard_bits};
  while (links.size() < count) {
    LinkResult<std::unique_ptr<RawLink>> opened = open(options);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    links.push_back(std::move(*opened));
    if (count == 1) break;
    if (const int error = group.join(links.back()->fd())) {
      return failure(
          "cannot divide what " + options.interface + " receives among " + std::to_string(count) + " sockets", error,
          "it needs Linux 4.12");
    }
  }
  return links;
}

std::size_t RawLink::max_bytes() const {
  return state_->interface.max_frame();
}
int RawLink::fd() const {
  return state_->watched();
}
const std::array<std::byte, 6>& RawLink::mac() const {
  return state_->interface.mac;
}
int RawLink::interface_index() const {
  return state_->interface.index;
}

LinkResult<std::size_t> RawLink::receive(std::span<RxFrame> frames) {
  if (!state_->receiver) return std::size_t{0};
  const std::size_t count = state_->ring.receive(frames);
  for (std::size_t i = 0; i < count; ++i) state_->counters.received_bytes += frames[i].bytes.size();
  state_->counters.received += count;
  return count;
}

bool RawLink::State::prepare(std::size_t place, const TxFrame& frame) {
  pieces[place] = {const_cast<std::byte*>(frame.bytes.data()), frame.bytes.size()};
  messages[place].msg_hdr.msg_iov = &pieces[place];
  messages[place].msg_hdr.msg_iovlen = 1;
  return true;
}

/// Prepares a super-frame; false if the kernel would not cut it right.
bool RawLink::State::prepare_segmented(std::size_t place, const TxFrame& frame) {
  const auto headers = segmented_headers(frame.bytes, frame.segment_size);
  if (!headers) return false;
  const std::size_t header_bytes = headers->offload.header_bytes;
  // The kernel checks the length of the whole super-frame, not that of its parts.
  if (frame.bytes.size() > kMaxSuperFrame || header_bytes + frame.segment_size > interface.max_frame()) return false;
  segmented[place] = *headers;
  const std::span<const std::byte> first = segmented[place].sent();
  const std::span<const std::byte> rest = frame.bytes.subspan(header_bytes);
  segmented_pieces[place] = {
      {{const_cast<std::byte*>(first.data()), first.size()}, {const_cast<std::byte*>(rest.data()), rest.size()}}};
  segmented_messages[place].msg_hdr.msg_iov = segmented_pieces[place].data();
  segmented_messages[place].msg_hdr.msg_iovlen = segmented_pieces[place].size();
  return true;
}

/// Sends frames that are all super-frames or all not, at most one batch. Returns the number of frames taken.
LinkResult<std::size_t> RawLink::State::send_run(std::span<const TxFrame> frames, bool segmented_run) {
  std::size_t ready = 0;
  while (ready < frames.size() &&
         (segmented_run ? prepare_segmented(ready, frames[ready]) : prepare(ready, frames[ready]))) {
    ++ready;
  }
  if (ready == 0) {
    ++counters.send_errors;
    return std::size_t{1};
  }
  const int socket = segmented_run ? segmenter.get() : sender.get();
  mmsghdr* const first = segmented_run ? segmented_messages.data() : messages.data();
  while (true) {
    const int result = ::sendmmsg(socket, first, static_cast<unsigned>(ready), 0);
    if (result > 0) {
      const auto sent = static_cast<std::size_t>(result);
      for (const TxFrame& frame : frames.first(sent)) counters.sent_bytes += frame.bytes.size();
      counters.sent += sent;
      return sent;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return std::size_t{0};
    if (errno == ENXIO || errno == ENODEV) return tl::unexpected(gone(errno));
    if (segmented_run && (errno == EINVAL || errno == EOPNOTSUPP || errno == EIO || errno == EMSGSIZE)) {
      stop_segmentation(errno);
      return std::size_t{0};
    }
    // A full queue or an unplugged cable loses the frame, as a wire may; a frame that is too long is lost too.
    ++counters.send_errors;
    return std::size_t{1};
  }
}

Segmentation RawLink::segmentation() const {
  if (!state_->segmenter) return {.refusal = state_->refusal};
  return {.max_segments = kMaxSegments, .max_bytes = kMaxSuperFrame};
}

LinkResult<std::size_t> RawLink::send(std::span<const TxFrame> frames) {
  State& state = *state_;
  std::size_t taken = 0;
  while (taken < frames.size()) {
    const bool segmented = frames[taken].segment_size != 0;
    if (segmented && !state.segmenter) break;
    std::size_t run = 1;
    while (run < kBatch && taken + run < frames.size() && (frames[taken + run].segment_size != 0) == segmented) ++run;
    LinkResult<std::size_t> sent = state.send_run(frames.subspan(taken, run), segmented);
    if (!sent) return sent;
    if (*sent == 0) break;
    taken += *sent;
  }
  return taken;
}

LinkResult<void> RawLink::check() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(state_->watched(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0 && error != ENETDOWN) {
    return tl::unexpected(state_->gone(error));
  }
  // An interface that is only down comes back. One that is being deleted goes down first, and the kernel does not
  // report the rest to the socket.
  const int looks = error == ENETDOWN ? kLooksForDeletion : 1;
  for (int look = 0; look < looks; ++look) {
    if (look != 0) std::this_thread::sleep_for(kLookInterval);
    if (!is_there(state_->watched(), state_->interface.index)) return tl::unexpected(state_->gone(ENODEV));
  }
  return {};
}

LinkCounters RawLink::counters() const {
  if (!state_->receiver) return state_->counters;
  tpacket_stats_v3 statistics{};
  socklen_t size = sizeof statistics;
  // Reading the statistics resets the kernel's count.
  if (::getsockopt(state_->receiver.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0) {
    state_->counters.receive_drops += statistics.tp_drops;
  }
  return state_->counters;
}

}  // namespace roce::link
