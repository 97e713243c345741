// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "roce/cm/gsi_agent.h"
#include "roce/link/file_descriptor.h"
#include "roce/link/link.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"
#include "roce/wire/time.h"
#include "verbs/cm/cm_records.h"
#include "verbs/devices/places.h"

namespace roce::verbs {

/// The communication manager of an address, on QP1 of a device of its own, for the processes there. Its timers and
/// repetitions outlive the processes, as a kernel's do; the connections of a process that ends are ended.
class CmService {
 public:
  /// Begins to serve QP1 on a socket of UDP port 4791, which is duplicated.
  [[nodiscard]] static link::LinkResult<std::unique_ptr<CmService>> open(const Place& place, int receiver);
  CmService(const CmService&) = delete;
  CmService& operator=(const CmService&) = delete;
  ~CmService() = default;

  /// Takes the connection on which a process sends commands. Returns the number of the process; 0 is none.
  std::uint32_t add_process(link::FileDescriptor commands);
  /// Takes the connection to an event channel of a process. False if there is no such process, or it has that channel.
  [[nodiscard]] bool add_channel(std::uint32_t process, std::uint32_t channel, link::FileDescriptor connection);

  /// Appends what is to be polled.
  void append_to(std::vector<pollfd>& polled) const;
  /// Does what is due; `polled` is what `append_to` appended. Error: the link is gone.
  [[nodiscard]] link::LinkResult<void> serve(std::span<const pollfd> polled);
  /// Returns when `serve` is to be called at the latest.
  [[nodiscard]] Time next_timeout() const;
  /// Returns how many connections of processes are open.
  [[nodiscard]] std::size_t open_connections() const;
  /// True while a process is connected.
  [[nodiscard]] bool is_used() const { return !processes_.empty(); }
  /// True while connections of processes that are gone have not ended on the other side.
  [[nodiscard]] bool is_busy() const { return !ending_.empty(); }

  /// Returns the time of the clock that `next_timeout` is of.
  [[nodiscard]] static Time now();

 private:
  struct Channel {
    link::FileDescriptor connection;
    std::deque<CmNotice> waiting{};  // until the process has read others
  };
  struct Process {
    link::FileDescriptor commands;
    std::map<std::uint32_t, Channel> channels{};
    std::map<std::uint32_t, ServiceId> listeners{};  // by its own number
  };
  /// To whom a notice goes.
  struct Receiver {
    std::uint32_t process = 0;
    std::uint32_t channel = 0;
    std::uint32_t listener = 0;  // its number, of a listener
  };

  /// A service whose listener has gone, or is about to come. Programs that make a new listener for each connection
  /// (perftest's -R does for its second one) have none for a moment, which is long on a busy machine, and others tell
  /// their port before they listen (qperf): requests wait for the next one.
  struct Linger {
    Time until{};
    std::vector<cm::Event> requests{};
  };

  CmService(transport::Device device, std::unique_ptr<link::Link> link, const Place& place);
  /// Lets the port, the manager and its events move on until nothing does.
  [[nodiscard]] link::LinkResult<void> step();
  [[nodiscard]] bool hear(std::uint32_t number, Process& process);
  [[nodiscard]] CmAnswer carry_out(std::uint32_t number, Process& process, const CmCommand& command);
  [[nodiscard]] int listen(std::uint32_t number, Process& process, const CmCommand& command);
  [[nodiscard]] int announce(ServiceId service);
  [[nodiscard]] int stop_listening(Process& process, const CmCommand& command);
  [[nodiscard]] CmAnswer connect(std::uint32_t number, const CmCommand& command);
  [[nodiscard]] CmAnswer resolve(std::uint32_t number, const CmCommand& command);
  [[nodiscard]] int accept(const CmCommand& command);
  [[nodiscard]] int reject(CommId id, std::span<const std::byte> data);
  [[nodiscard]] int move(std::uint32_t number, Process& process, const CmCommand& command);
  void abandon(CommId connection);
  void drop(std::uint32_t number);
  /// Lets nobody answer requests to a service any more, or for some time not yet: see `Linger`.
  void close_service(ServiceId service);
  /// Refuses what came to services that nobody listens to any more, once that is certain.
  void end_lingering();
  void report(const cm::Event& event);
  void send(const Receiver& to, const CmNotice& notice);
  /// Sends what waits; false once the process has closed the channel.
  [[nodiscard]] static bool flush(Channel& channel);

  transport::Device device_;
  std::unique_ptr<link::Link> link_;
  port::Port port_;
  Place place_;
  std::unique_ptr<cm::GsiAgent> agent_;
  std::uint32_t last_number_ = 0;
  std::map<std::uint32_t, Process> processes_;
  std::map<ServiceId, Receiver> listeners_;
  std::map<ServiceId, Linger> lingering_;
  std::map<CommId, Receiver> receivers_;  // of connections
  std::set<CommId> ending_;               // connections of processes that are gone, until their peers agree
};

}  // namespace roce::verbs
