// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "roce/link/link.h"
#include "roce/link/udp_link.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"
#include "verbs/engine/counter_part.h"
#include "verbs/engine/wakeup.h"
#include "verbs/port/port_share.h"

namespace roce::verbs {

/// The place of an engine in the network.
struct EngineOptions {
  Gid address{};               ///< address of this machine, IPv4 in the mapped form; the only entry of the GID table
  std::string interface;       ///< the interface that has it
  MacAddress mac{};            ///< of that interface
  std::uint32_t path_mtu = 0;  ///< bytes: 256, 512, 1024, 2048 or 4096
  std::string counter_file{};  ///< a `CounterPage` to count in; empty: none
};

/// Counters are written for others to see so often, which takes as long as there are QPs.
inline constexpr Duration kCountInterval = std::chrono::milliseconds{20};

/// When the packets of posted requests leave.
enum class Urgency : std::uint8_t {
  now,     ///< before the call returns
  merged,  ///< with those that are posted soon afterwards
};

/// A device on a UDP link, driven by the threads that poll its CQs, and by a thread of its own while none does.
/// All functions may be called by any thread, but not from the functions of `Callbacks`.
class Engine {
 public:
  struct Callbacks {
    std::function<void(const transport::Event&)> on_event;  ///< called under the lock of the engine
    std::function<void(const std::string&)> on_gone;        ///< the link is gone; called once, under the lock
  };

  /// Returns what the device of every engine has room for.
  [[nodiscard]] static transport::Limits limits();
  /// Opens the link on a share of port 4791 and begins to serve it. Errors: no such address here, port 4791 taken.
  [[nodiscard]] static link::LinkResult<std::unique_ptr<Engine>> start(const EngineOptions& options, PortShare share,
                                                                       Callbacks callbacks);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Returns the result of `work`, which gets the device for itself and the time. Nothing waits inside.
  template <typename Work>
  auto use(Work&& work) {
    const Turn turn{*this};
    auto result = std::forward<Work>(work)(device_, now());
    settle();
    return result;
  }

  /// Returns the result of `work`, which posts sends to `qp`, and sees to it that they leave. The packets leave at
  /// once if `qp` was idle before, and with those of further calls otherwise.
  template <typename Work>
  auto post(Qpn qp, Work&& work) {
    const Turn turn{*this};
    const Urgency urgency = urgency_of(qp);
    auto result = std::forward<Work>(work)(device_);
    sent(urgency);
    return result;
  }

  /// Takes completions as `Device::poll_cq` does, after a round of the port if there is none yet.
  [[nodiscard]] std::size_t poll(transport::Cq cq, std::span<transport::Completion> out);
  /// Has the engine's thread serve the port from now on: the program waits for an event, and polls no more.
  void stop_resting();
  /// Destroys a QP after everything that it has to answer has left.
  [[nodiscard]] transport::VerbResult<void> destroy_qp(Qpn qp);

  /// Answers what has arrived, with the ACKs that are held back. For the end of the process, which another thread, or
  /// what a signal's handler has interrupted, may keep from the lock: then it gives up soon.
  void answer();

  /// Attaches a UD QP to a multicast group. Errors: as of `Device::attach_multicast`; `no_resources`, with `why` filled
  /// in, if the link cannot join the group.
  [[nodiscard]] transport::VerbResult<void> attach_group(Qpn qp, const Gid& group, std::string& why);
  /// Detaches it. Errors: as of `Device::detach_multicast`.
  [[nodiscard]] transport::VerbResult<void> detach_group(Qpn qp, const Gid& group);

  /// False in a child that a process with an engine forked: its thread and the state behind its locks are not there,
  /// and no other function may be called. False also once the link is gone.
  [[nodiscard]] bool is_usable() const;

 private:
  /// The engine's lock, with the knowledge of how many application threads wait for it.
  class Turn {
   public:
    explicit Turn(Engine& engine) : engine_(engine) {
      engine_.waiting_.fetch_add(1, std::memory_order_relaxed);
      engine_.mutex_.lock();
      engine_.waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { engine_.mutex_.unlock(); }

   private:
    Engine& engine_;
  };

  Engine(transport::Device device, std::unique_ptr<link::UdpLink> link, link::FileDescriptor port_daemon,
         std::uint64_t bits_per_second, const std::string& counter_file, Callbacks callbacks);
  [[nodiscard]] static Time now();
  [[nodiscard]] Urgency urgency_of(Qpn qp) const;
  void sent(Urgency urgency);
  /// Reports events, and wakes the engine's thread if there is something to do earlier than it knows.
  void settle();
  /// Runs one round of the port; true if anything moved.
  bool turn_port();
  /// Ends the engine's work for good. Under the lock.
  void lose(const std::string& why);
  void note_poll(bool found);

  // The engine's own thread.
  void serve();
  [[nodiscard]] bool program_polls() const;
  [[nodiscard]] bool program_posts() const;
  void rest(Duration longest);
  void wait();
  /// Publishes the counters if packets have moved since, and not too often. Under the lock.
  void count(Time time);
  /// Returns when the thread has to do something at the latest. Under the lock.
  [[nodiscard]] Time due() const;
  /// Loses the engine if the daemon that lent it its share of the port has ended.
  void look_after_port_daemon();

  transport::Device device_;
  std::unique_ptr<link::UdpLink> link_;
  std::set<std::pair<Gid, Qpn>> attached_;  // to groups that the link has joined
  link::FileDescriptor port_daemon_;        // none if the port is all its own
  port::Port port_;
  Callbacks callbacks_;
  CounterPart counters_;
  Time counted_at_{};
  bool is_counted_ = true;  // no packet has moved since
  Wakeup wakeup_;
  std::uint32_t fork_count_;  // at the start

  std::mutex mutex_;
  std::atomic<std::uint32_t> waiting_ = 0;
  std::uint32_t unsent_posts_ = 0;
  std::optional<Time> sleeps_until_;  // set while the thread waits in ppoll
  std::atomic<bool> is_gone_ = false;
  std::atomic<bool> is_ending_ = false;
  std::atomic<std::uint32_t> empty_polls_ = 0;  // in a row
  std::atomic<bool> is_resting_ = false;        // the thread leaves the port to the program
  std::atomic<Time::rep> last_poll_ = 0;
  std::atomic<Time::rep> last_merged_post_ = 0;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace roce::verbs
