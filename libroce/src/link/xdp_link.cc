// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/xdp_link.h"

#include <sys/epoll.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "link/ethernet_interface.h"
#include "link/interface_watch.h"
#include "link/link_failure.h"
#include "link/xdp_abi.h"
#include "link/xdp_program.h"
#include "link/xdp_queue.h"
#include "roce/link/file_descriptor.h"
#include "roce/link/raw_link.h"

namespace roce::link {

namespace {

using Mode = XdpLinkOptions::Mode;

constexpr std::uint32_t kSmallChunk = 2048;
constexpr std::uint32_t kLargeChunk = 4096;
constexpr std::uint32_t kFewestChunks = 64;
constexpr std::size_t kMaxTags = 2;
/// Frames are first written, then handed over: at most as many at a time as stay in a cache.
constexpr std::size_t kBatch = 64;
/// The kernel releases what a process held some time after the process ended.
constexpr int kBusyTries = 50;
constexpr std::chrono::milliseconds kBusyInterval{20};
/// Out of this number of calls that find nothing, one checks the interface.
constexpr unsigned kLooksAtInterface = 64;
/// For frames that go on to the kernel: a ring for a few frames, and a filter that lets none through.
constexpr std::size_t kCopiesBytes = 1 << 20;
constexpr const char* kNoCopies = "greater 262144";

[[nodiscard]] tl::unexpected<LinkError> failure(const std::string& what, int error, std::string_view advice = {}) {
  return link_failure(what, error, advice,
                      "it needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF of the host: run it as root (of no user "
                      "namespace), or use --link raw");
}

/// Repeats `action` while it returns EBUSY.
template <typename Action>
[[nodiscard]] int retry_while_busy(const Action& action) {
  for (int tries = 1;; ++tries) {
    const int error = action();
    if (error != EBUSY || tries == kBusyTries) return error;
    std::this_thread::sleep_for(kBusyInterval);
  }
}

[[nodiscard]] const char* name_of(XdpMode mode) {
  return mode == XdpMode::native ? "native" : "generic";
}

}  // namespace

struct XdpLink::State {
  EthernetInterface interface;
  XdpSetup setup;
  InterfaceWatch watch;
  FileDescriptor ready;
  // The program is destroyed before its sockets.
  std::vector<std::unique_ptr<XdpQueue>> queues;
  XdpProgram program;
  std::unique_ptr<RawLink> copies;
  LinkCounters counters;
  std::size_t next_queue = 0;
  unsigned idle_calls = 0;
  bool sends_only = false;
  bool waits_for_room = false;

  [[nodiscard]] std::size_t longest() const { return interface.max_frame() + kMaxTags * kVlanTagBytes; }
  [[nodiscard]] bool fits_in_a_chunk() const { return longest() + kXdpHeadroom <= kLargeChunk; }
  [[nodiscard]] LinkResult<void> attach(const XdpLinkOptions& options);
  [[nodiscard]] LinkResult<int> try_to_attach(const XdpLinkOptions& options, XdpMode mode, bool frags);
  [[nodiscard]] LinkResult<void> open_queue(const XdpLinkOptions& options, unsigned number);
  [[nodiscard]] LinkResult<void> open_copies(const XdpLinkOptions& options);
  [[nodiscard]] LinkResult<void> open_ready();
  [[nodiscard]] bool is_sendable(const TxFrame& frame) const;
  [[nodiscard]] LinkResult<void> check();
  void wait_for_room(bool wanted);
};

/// Returns 0, or the errno of an attempt after which another may be made.
LinkResult<int> XdpLink::State::try_to_attach(const XdpLinkOptions& options, XdpMode mode, bool frags) {
  const XdpProgram::Shape shape{setup.queues, options.mac_control, frags};
  if (const int error = program.load(shape)) {
    // The kernel does not know the flag.
    if (error == EINVAL && frags) return error;
    return failure("cannot load the XDP program for " + interface.name, error,
                   "the kernel has to have CONFIG_BPF_SYSCALL and CONFIG_XDP_SOCKETS");
  }
  const int error = retry_while_busy([&] { return program.attach(interface.index, mode); });
  if (error == EBUSY || error == EEXIST) {
    return failure("cannot attach the XDP program to " + interface.name, error,
                   "there is another one, which ip link show " + interface.name +
                       " names: end the program that put it there, or ip link set " + interface.name + " xdp off");
  }
  if (error == EPERM || error == EACCES || error == ENODEV) {
    return failure("cannot attach the XDP program to " + interface.name, error);
  }
  setup.mode = mode;
  return error;
}

LinkResult<void> XdpLink::State::attach(const XdpLinkOptions& options) {
  struct Attempt {
    XdpMode mode;
    bool frags;
  };
  std::vector<Attempt> attempts;
  // Without frags first: some drivers have native mode only without them.
  if (options.mode != Mode::generic && fits_in_a_chunk()) attempts.push_back({XdpMode::native, false});
  if (options.mode != Mode::generic) attempts.push_back({XdpMode::native, true});
  if (options.mode != Mode::native && !fits_in_a_chunk()) attempts.push_back({XdpMode::generic, true});
  if (options.mode != Mode::native) attempts.push_back({XdpMode::generic, false});
  int error = 0;
  for (const Attempt& attempt : attempts) {
    LinkResult<int> result = try_to_attach(options, attempt.mode, attempt.frags);
    if (!result) return tl::unexpected(std::move(result.error()));
    if (*result == 0) return {};
    error = *result;
    if (options.mode == Mode::automatic && attempt.mode == XdpMode::native) setup.why_generic = std::strerror(error);
  }
  return failure("cannot attach the XDP program to " + interface.name + " in " + name_of(attempts.back().mode) +
                     " mode with an MTU of " + std::to_string(interface.mtu),
                 error,
                 options.mode == Mode::native
                     ? "the driver may not know XDP, or not with frames of this length: take a smaller MTU, generic "
                       "mode, or --link raw"
                     : "take --link raw");
}

LinkResult<void> XdpLink::State::open_queue(const XdpLinkOptions& options, unsigned number) {
  XdpQueue::Shape shape;
  shape.chunk_bytes = longest() + kXdpHeadroom <= kSmallChunk ? kSmallChunk : kLargeChunk;
  if (!options.sends_only) {
    const std::size_t chunks = options.ring_bytes / setup.queues / shape.chunk_bytes;
    shape.receive_chunks = std::bit_floor(static_cast<std::uint32_t>(std::max<std::size_t>(chunks, kFewestChunks)));
  } else {
    shape.receive_chunks = 0;
  }
  shape.sends = number == 0;
  shape.frags = !fits_in_a_chunk();
  // A generic program sees frames only after the driver has given up the memory that they came in.
  shape.copies = setup.mode == XdpMode::generic;
  std::unique_ptr<XdpQueue> queue;
  XdpQueue::OpenError reason;
  const int error = retry_while_busy([&] {
    queue = std::make_unique<XdpQueue>();
    const auto opened = queue->open(interface.name, number, shape);
    reason = opened ? XdpQueue::OpenError{} : opened.error();
    return reason.error;
  });
  const std::string where = "queue " + std::to_string(number) + " of " + interface.name;
  if (error != 0 && reason.stage == XdpQueue::Stage::memory) {
    return failure("cannot lock " + std::to_string(queue->memory_bytes()) + " bytes for " + where, error,
                   "raise the limit of locked memory (ulimit -l), or take fewer queues or smaller rings");
  }
  if (error == EINVAL && shape.frags) {
    return failure(
        "cannot open an AF_XDP socket for frames of more than one piece on " + where, error,
        "an MTU of " + std::to_string(interface.mtu) + " needs Linux 6.6: take one of 3818 at most, or --link raw");
  }
  if (error == EBUSY) {
    return failure("cannot open an AF_XDP socket on " + where, error, "another program has one there; end it");
  }
  if (error != 0) return failure("cannot open an AF_XDP socket on " + where, error, "take --link raw");
  if (!options.sends_only) {
    if (const int refused = program.set_socket(number, queue->fd())) {
      return failure("cannot hand the frames of " + where + " to its socket", refused);
    }
  }
  setup.zero_copy = queue->zero_copy() && (number == 0 || setup.zero_copy);
  queues.push_back(std::move(queue));
  return {};
}

LinkResult<void> XdpLink::State::open_copies(const XdpLinkOptions& options) {
  if (options.copies.empty() && !options.all_multicast && !options.promiscuous) return {};
  RawLinkOptions raw;
  raw.interface = options.interface;
  raw.filter = options.copies.empty() ? kNoCopies : options.copies;
  raw.promiscuous = options.promiscuous;
  raw.all_multicast = options.all_multicast;
  raw.ring_bytes = kCopiesBytes;
  LinkResult<std::unique_ptr<RawLink>> opened = RawLink::open(raw);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  copies = std::move(*opened);
  return {};
}

LinkResult<void> XdpLink::State::open_ready() {
  if (const int error = watch.open()) return failure("cannot watch interface " + interface.name, error);
  ready = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<int> all{watch.fd()};
  if (copies != nullptr) all.push_back(copies->fd());
  // The kernel wakes a waiter on a socket for each frame that was sent, which costs time.
  if (!sends_only) {
    for (const auto& queue : queues) all.push_back(queue->fd());
  }
  for (const int one : all) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(ready.get(), EPOLL_CTL_ADD, one, &event) != 0) {
      return failure("cannot wait for frames on " + interface.name, errno);
    }
  }
  return {};
}

bool XdpLink::State::is_sendable(const TxFrame& frame) const {
  return frame.bytes.size() >= kEthernetBytes && frame.bytes.size() <= interface.max_frame() + kVlanTagBytes;
}

LinkResult<void> XdpLink::State::check() {
  if (!watch.is_there(interface.index)) return tl::unexpected(interface_gone(interface.name, ENODEV));
  return {};
}

/// Sets whether `ready` reports that there is room to send.
void XdpLink::State::wait_for_room(bool wanted) {
  if (wanted == waits_for_room) return;
  epoll_event event{};
  event.events =
      (sends_only ? 0U : static_cast<std::uint32_t>(EPOLLIN)) | (wanted ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  const int change = !sends_only ? EPOLL_CTL_MOD : wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
  if (::epoll_ctl(ready.get(), change, queues.front()->fd(), &event) == 0) waits_for_room = wanted;
}

XdpLink::XdpLink(std::unique_ptr<State> state) : state_(std::move(state)) {}
XdpLink::~XdpLink() = default;

LinkResult<std::unique_ptr<XdpLink>> XdpLink::open(const XdpLinkOptions& options) {
  auto state = std::make_unique<State>();
  state->sends_only = options.sends_only;
  LinkResult<EthernetInterface> found = find_ethernet_interface(options.interface);
  if (!found) return tl::unexpected(std::move(found.error()));
  state->interface = std::move(*found);
  XdpSetup& setup = state->setup;
  setup.interface_queues = receive_queues(options.interface);
  setup.queues = options.sends_only ? 1 : options.queues == 0 ? setup.interface_queues : options.queues;
  if (setup.queues > setup.interface_queues) {
    return tl::unexpected(LinkError{"cannot listen on " + std::to_string(setup.queues) + " receive queues of " +
                                    options.interface + ": it has " + std::to_string(setup.interface_queues) +
                                    "; take fewer, or make more (ethtool -L)"});
  }
  if (!options.sends_only) {
    if (auto attached = state->attach(options); !attached) return tl::unexpected(std::move(attached.error()));
  }
  for (unsigned queue = 0; queue < setup.queues; ++queue) {
    if (auto opened = state->open_queue(options, queue); !opened) return tl::unexpected(std::move(opened.error()));
  }
  if (!options.sends_only) {
    if (auto opened = state->open_copies(options); !opened) return tl::unexpected(std::move(opened.error()));
  }
  if (auto opened = state->open_ready(); !opened) return tl::unexpected(std::move(opened.error()));
  return std::unique_ptr<XdpLink>{new XdpLink{std::move(state)}};
}

std::size_t XdpLink::max_bytes() const {
  return state_->interface.max_frame();
}
int XdpLink::fd() const {
  return state_->ready.get();
}
const XdpSetup& XdpLink::setup() const {
  return state_->setup;
}
const std::array<std::byte, 6>& XdpLink::mac() const {
  return state_->interface.mac;
}

LinkResult<std::size_t> XdpLink::receive(std::span<RxFrame> frames) {
  State& state = *state_;
  if (state.queues.front()->is_behind()) state.queues.front()->push();
  std::size_t count = 0;
  for (std::size_t i = 0; i < state.queues.size(); ++i) {
    count += state.queues[(state.next_queue + i) % state.queues.size()]->receive(frames.subspan(count));
  }
  state.next_queue = (state.next_queue + 1) % state.queues.size();
  if (count != 0) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t timestamp_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    for (RxFrame& frame : frames.first(count)) {
      frame.timestamp_ns = timestamp_ns;
      state.counters.received_bytes += frame.bytes.size();
    }
    state.counters.received += count;
  }
  if (state.copies != nullptr) {
    LinkResult<std::size_t> copied = state.copies->receive(frames.subspan(count));
    if (!copied) return copied;
    count += *copied;
  }
  if (count == 0 && ++state.idle_calls % kLooksAtInterface == 0) {
    if (const LinkResult<void> alive = state.check(); !alive) return tl::unexpected(alive.error());
  }
  return count;
}

LinkResult<std::size_t> XdpLink::send(std::span<const TxFrame> frames) {
  State& state = *state_;
  XdpQueue& queue = *state.queues.front();
  std::size_t taken = 0;
  while (taken < frames.size()) {
    std::span<const TxFrame> batch = frames.subspan(taken, std::min(kBatch, frames.size() - taken));
    const auto bad = std::ranges::find_if_not(batch, [&](const TxFrame& frame) { return state.is_sendable(frame); });
    batch = batch.first(static_cast<std::size_t>(bad - batch.begin()));
    if (batch.empty()) {
      ++state.counters.send_errors;
      ++taken;
      continue;
    }
    const XdpQueue::Sent sent = queue.send(batch);
    taken += sent.taken;
    state.counters.sent += sent.taken;
    state.counters.sent -= std::min<std::uint64_t>(sent.refused, state.counters.sent);
    state.counters.sent_bytes += sent.bytes;
    state.counters.send_errors += sent.refused;
    if (sent.error != 0) return tl::unexpected(interface_gone(state.interface.name, sent.error));
    if (sent.taken < batch.size()) break;
  }
  state.wait_for_room(taken < frames.size() || queue.is_behind());
  return taken;
}

LinkResult<void> XdpLink::check() {
  return state_->check();
}

LinkCounters XdpLink::counters() const {
  LinkCounters result = state_->counters;
  for (const auto& queue : state_->queues) result.receive_drops += queue->drops();
  if (state_->copies != nullptr) {
    const LinkCounters copies = state_->copies->counters();
    result.received += copies.received;
    result.received_bytes += copies.received_bytes;
    result.receive_drops += copies.receive_drops;
  }
  return result;
}

}  // namespace roce::link
