// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/engine.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "roce/link/udp_link.h"
#include "roce/live/random.h"
#include "roce/port/link_speed.h"
#include "roce/port/udp_meta.h"
#include "roce/transport/profile.h"
#include "verbs/engine/exits.h"
#include "verbs/engine/forks.h"

namespace roce::verbs {

namespace {

/// PSNs in flight: as many packets of 4096 bytes, with what the kernel adds, as the receive buffer has room for; the
/// peer's is taken to be alike. The least is for the buffer that Linux gives by default, and with more than the most
/// the packets leave the cache before they are read.
constexpr std::size_t kRoomOfPacket = 4437;
constexpr std::size_t kLeastWindow = 96;
constexpr std::size_t kMostWindow = 192;
constexpr std::uint32_t kMaxQps = 4096;
/// Posts that wait to leave together with later ones.
constexpr std::uint32_t kMostUnsentPosts = 32;
/// Empty polls in a row after which a polling thread lets others run: more than pass before a message is answered, for
/// Linux lets a thread that has yielded wait until the others have had their slices.
constexpr std::uint32_t kYieldEvery = 128;
/// Time that the end of a process waits for the engine's lock.
constexpr Duration kPatienceAtEnd = std::chrono::milliseconds{10};

[[nodiscard]] transport::VerbResult<transport::Device> make_device(const EngineOptions& options, const PortShare& share,
                                                                   std::size_t receive_buffer) {
  live::Random random;
  transport::DeviceConfig config;
  config.mac = options.mac;
  config.gids = {{.gid = options.address, .type = transport::GidType::roce_v2}};
  config.port_mtu = options.path_mtu;
  config.profile = transport::hardware_like_profile();
  config.profile.window =
      static_cast<std::uint32_t>(std::clamp(receive_buffer / kRoomOfPacket, kLeastWindow, kMostWindow));
  config.profile.late_checks = true;
  config.limits = Engine::limits();
  config.shard_bits = share.shard_bits;
  config.shard = share.shard;
  config.takes_groups = true;
  // Keys and numbers must not be guessable, nor those of the last process at this address.
  config.first_qpn = std::max(static_cast<std::uint32_t>(random.number()) & 0x7F'FFFFU, 0x11U);
  return transport::Device::make(std::move(config), [random]() mutable { return random.number(); });
}

/// Blocks all signals in the calling thread, and in those that it starts, for as long as it exists.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

transport::Limits Engine::limits() {
  transport::Limits limits;
  limits.max_qp = kMaxQps;
  return limits;
}

link::LinkResult<std::unique_ptr<Engine>> Engine::start(const EngineOptions& options, PortShare share,
                                                        Callbacks callbacks) {
  link::UdpLinkOptions udp;
  udp.interface = options.interface;
  udp.segmentation = true;
  udp.local = port::address_of(options.address);
  udp.receiver = share.receiver.release();
  link::LinkResult<std::unique_ptr<link::UdpLink>> link = link::UdpLink::open(udp);
  if (!link) return tl::unexpected(link.error());
  transport::VerbResult<transport::Device> device = make_device(options, share, (*link)->receive_buffer());
  if (!device) {
    return tl::unexpected(link::LinkError{.message = "cannot make the device: " + to_string(device.error())});
  }
  const std::uint64_t speed = port::link_speed_bps(options.interface).value_or(port::Port::kUsualSpeed);
  std::unique_ptr<Engine> engine{new Engine{std::move(*device), std::move(*link), std::move(share.daemon), speed,
                                            options.counter_file, std::move(callbacks)}};
  const SignalsBlocked blocked;
  engine->thread_ = std::make_unique<std::thread>([&running = *engine] { running.serve(); });
  answer_at_exit(*engine);
  return engine;
}

Engine::Engine(transport::Device device, std::unique_ptr<link::UdpLink> link, link::FileDescriptor port_daemon,
               std::uint64_t bits_per_second, const std::string& counter_file, Callbacks callbacks)
    : device_(std::move(device)),
      link_(std::move(link)),
      port_daemon_(std::move(port_daemon)),
      port_(device_, *link_, nullptr, nullptr, bits_per_second),
      callbacks_(std::move(callbacks)),
      counters_(counter_file, device_.config().shard),
      fork_count_(fork_count()) {}

Engine::~Engine() {
  forget(*this);
  if (fork_count_ != fork_count()) {
    // A forked child has no such thread, and can neither join nor detach it.
    (void)thread_.release();
    return;
  }
  answer();
  is_ending_ = true;
  wakeup_.ring();
  if (thread_ != nullptr) thread_->join();
}

bool Engine::is_usable() const {
  return fork_count_ == fork_count() && !is_gone_.load(std::memory_order_relaxed);
}

Time Engine::now() {
  return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

Urgency Engine::urgency_of(Qpn qp) const {
  const transport::VerbResult<transport::QpAttributes> attributes = device_.query_qp(qp);
  return attributes && attributes->sends_outstanding != 0 ? Urgency::merged : Urgency::now;
}

void Engine::sent(Urgency urgency) {
  if (urgency == Urgency::merged) {
    last_merged_post_.store(now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  if (urgency == Urgency::now || ++unsent_posts_ >= kMostUnsentPosts) (void)turn_port();
  settle();
}

void Engine::settle() {
  while (const std::optional<transport::Event> event = port_.poll_event(now())) callbacks_.on_event(*event);
  if (!sleeps_until_ || due() >= *sleeps_until_) return;
  sleeps_until_.reset();
  wakeup_.ring();
}

void Engine::count(Time time) {
  if (is_counted_ || time < counted_at_ + kCountInterval) return;
  counters_.publish(device_.counters());
  counted_at_ = time;
  is_counted_ = true;
}

Time Engine::due() const {
  const Time timeout = port_.next_timeout();
  return is_counted_ ? timeout : std::min(timeout, counted_at_ + kCountInterval);
}

bool Engine::turn_port() {
  unsent_posts_ = 0;
  if (is_gone_) return false;
  const link::LinkResult<bool> moved = port_.turn(now());
  if (moved) {
    if (*moved) is_counted_ = false;
    return *moved;
  }
  lose(moved.error().message);
  return false;
}

void Engine::lose(const std::string& why) {
  if (!is_gone_.exchange(true)) callbacks_.on_gone(why);
}

std::size_t Engine::poll(transport::Cq cq, std::span<transport::Completion> out) {
  std::size_t count = 0;
  {
    const Turn turn{*this};
    count = device_.poll_cq(cq, out);
    if (count == 0) {
      (void)turn_port();
      count = device_.poll_cq(cq, out);
      settle();
    }
  }
  note_poll(count != 0);
  return count;
}

void Engine::note_poll(bool found) {
  if (found) {
    empty_polls_.store(0, std::memory_order_relaxed);
    return;
  }
  last_poll_.store(now().time_since_epoch().count(), std::memory_order_relaxed);
  const std::uint32_t empty = empty_polls_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (empty % kYieldEvery == 0) ::sched_yield();
}

void Engine::stop_resting() {
  empty_polls_ = 0;
  if (is_resting_) wakeup_.ring();
}

transport::VerbResult<void> Engine::destroy_qp(Qpn qp) {
  const Turn turn{*this};
  // The program may end right after this, before the engine's thread gets to send what the QP owes.
  (void)turn_port();
  const transport::VerbResult<void> destroyed = device_.destroy_qp(qp);
  (void)turn_port();
  settle();
  return destroyed;
}

void Engine::answer() {
  if (!is_usable()) return;
  const Time give_up = now() + kPatienceAtEnd;
  std::unique_lock lock{mutex_, std::try_to_lock};
  while (!lock.owns_lock() && now() < give_up) {
    ::sched_yield();
    (void)lock.try_lock();
  }
  if (!lock.owns_lock()) return;
  const Time end = now() + transport::hardware_like_profile().ack_coalesce_delay;
  while (now() < end) (void)turn_port();
  (void)turn_port();
  counters_.publish(device_.counters());
}

transport::VerbResult<void> Engine::attach_group(Qpn qp, const Gid& group, std::string& why) {
  const Turn turn{*this};
  transport::VerbResult<void> attached = device_.attach_multicast(qp, group);
  if (!attached || !attached_.emplace(group, qp).second) return attached;
  const link::LinkResult<void> joined = link_->join(port::address_of(group));
  if (joined) {
    // The thread does not wait for the group's datagrams yet.
    if (sleeps_until_) wakeup_.ring();
    return attached;
  }
  why = joined.error().message;
  attached_.erase({group, qp});
  (void)device_.detach_multicast(qp, group);
  return tl::unexpected(transport::VerbError{.code = transport::VerbErrorCode::no_resources,
                                             .subject = "group",
                                             .needs = "a link that can join it",
                                             .found = 0,
                                             .expected = 1});
}

transport::VerbResult<void> Engine::detach_group(Qpn qp, const Gid& group) {
  const Turn turn{*this};
  transport::VerbResult<void> detached = device_.detach_multicast(qp, group);
  if (detached && attached_.erase({group, qp}) != 0) link_->leave(port::address_of(group));
  return detached;
}

}  // namespace roce::verbs
