// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roce/link/link.h"
#include "roce/link/port_holder.h"
#include "roce/link/raw_link.h"
#include "roce/link/stream_link.h"
#include "roce/live/clock.h"
#include "roce/live/driver.h"
#include "roce/live/endpoint_counters.h"
#include "roce/live/endpoint_options.h"
#include "roce/live/host_membership.h"
#include "roce/live/metrics.h"
#include "roce/live/random.h"
#include "roce/live/recorder.h"
#include "roce/live/result.h"
#include "roce/port/dcbx_peer.h"
#include "roce/port/neighbours.h"
#include "roce/port/own_address.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"

namespace roce::live {

/// A device on a link of this machine, with all it needs to run.
class Endpoint {
 public:
  /// Opens what `options` describe. Failures: anything that is wrong with interface, address, link and capture file.
  [[nodiscard]] static Result<std::unique_ptr<Endpoint>> open(const EndpointOptions& options);
  /// Opens `options.shards` shards, which share an interface and an address; the first has QP1, ARP and everything that
  /// is not RoCE, and is the one that `before_first_frame` is called for. Each shard may belong to a thread of its own;
  /// all have to live as long as one of them runs. Failures: as `open`; options that work with one shard only.
  [[nodiscard]] static Result<std::vector<std::unique_ptr<Endpoint>>> open_shards(const EndpointOptions& options);
  /// Opens an endpoint on an Ethernet link of the caller's, such as an end of a link::MemoryLink. What is behind `link`
  /// is its whole network, so `options.ip` has to give it an address of its own; options about interfaces do not count.
  [[nodiscard]] static Result<std::unique_ptr<Endpoint>> open_on(std::unique_ptr<link::Link> link,
                                                                 const EndpointOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] transport::Device& device() { return *device_; }
  [[nodiscard]] port::Port& port() { return *port_; }
  [[nodiscard]] link::Link& link() { return *link_; }
  [[nodiscard]] Driver& driver() { return *driver_; }
  /// Returns the time that the device and the event loop go by.
  [[nodiscard]] Time now() const { return clock_.now(); }
  [[nodiscard]] Random& random() { return random_; }
  /// Returns our address, and its row in the GID table.
  [[nodiscard]] const Gid& gid() const { return gid_; }
  [[nodiscard]] std::uint16_t sgid_index() const { return sgid_index_; }
  /// Returns the largest path MTU that the interface takes, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const { return max_path_mtu_; }
  /// Returns one line that tells what was opened, and why.
  [[nodiscard]] const std::string& description() const { return description_; }

  /// Joins a multicast group until the endpoint is destroyed, for its own address or for the host whose address it
  /// uses. `group` is an IPv6 or IPv4-mapped address. Failure: it is not a group, or of another kind than the address.
  [[nodiscard]] Result<void> join(const Gid& group);
  [[nodiscard]] EndpointCounters counters() const;
  /// Returns all counters, of the other shards too, with their names and a sentence each.
  [[nodiscard]] Metrics metrics() const;
  /// Sets the source of the other shards' counters, which the metrics include. To be called before the driver runs.
  void set_other_counters(std::function<EndpointCounters()> others) { other_counters_ = std::move(others); }
  /// Counts a completed message of the program itself, for the metrics.
  void count_message(std::uint64_t bytes);
  /// Makes a QP misbehave if the options ask for it; to be called for each QP that is created.
  void adopt(Qpn qp);
  /// Ends the capture file, if one was asked for.
  [[nodiscard]] Result<void> close();

 private:
  /// The links of the shards that are not open yet, and the number of the next one.
  struct Shards {
    std::uint8_t bits = 0;
    std::uint8_t next = 0;
    std::vector<std::unique_ptr<link::RawLink>> links;
  };

  explicit Endpoint(const EndpointOptions& options) : random_(options.seed) {}
  /// `given`: the link to use; null: the one that the options describe.
  [[nodiscard]] static Result<std::unique_ptr<Endpoint>> open_one(const EndpointOptions& options, Shards& shards,
                                                                  std::unique_ptr<link::Link> given = nullptr);
  /// Takes a link without an interface, and returns its other end as if it were one.
  [[nodiscard]] Result<port::Interface> take_link(std::unique_ptr<link::Link> link, const EndpointOptions& options);
  [[nodiscard]] Result<void> open_link(const EndpointOptions& options, const port::Interface& interface,
                                       Shards& shards);
  [[nodiscard]] Result<void> open_raw(const EndpointOptions& options, Shards& shards);
  [[nodiscard]] Result<void> open_udp(const EndpointOptions& options);
  /// `copies` is a filter for frames that the kernel gets and that we want to see too.
  [[nodiscard]] Result<void> open_xdp(const EndpointOptions& options, const std::string& copies);
  /// Opens the stream and returns its other end as if it were an interface.
  [[nodiscard]] Result<port::Interface> open_stream(const EndpointOptions& options);
  /// Chooses the address of the endpoint and returns its GID table.
  [[nodiscard]] Result<std::vector<transport::GidEntry>> choose_address(const EndpointOptions& options,
                                                                        const port::Interface& interface);
  /// Waits until it is certain that no other host has our own address.
  [[nodiscard]] Result<void> claim_address();
  /// Notes whether packets leave as super-frames, and later if the kernel refuses them.
  void tell_segmentation(const EndpointOptions& options);
  /// Makes the end that speaks DCBX, if the options ask for one, before the link that it needs.
  [[nodiscard]] Result<void> make_dcbx(const EndpointOptions& options, const port::Interface& interface);
  /// Lets it speak.
  void start_dcbx(const EndpointOptions& options);
  [[nodiscard]] Result<void> open_neighbours(const EndpointOptions& options, const port::Interface& interface);

  Clock clock_;
  Random random_;
  std::string interface_;
  std::vector<HostMembership> memberships_;
  std::unique_ptr<link::Link> link_;
  link::StreamLink* time_source_ = nullptr;  ///< `link_`, if it sets the time
  std::optional<link::PortHolder> port_holder_;
  std::unique_ptr<port::OwnAddress> own_address_;
  std::unique_ptr<port::Neighbours> neighbours_;  ///< used without an own address, or instead of its search
  std::unique_ptr<port::DcbxPeer> dcbx_;
  std::optional<transport::Device> device_;
  std::optional<port::Port> port_;
  std::optional<Driver> driver_;
  std::optional<Recorder> recorder_;
  std::unique_ptr<transport::MisbehaviourHook> hook_;
  Gid gid_{};
  std::uint16_t sgid_index_ = 0;
  bool roce_v1_ = false;
  std::optional<std::uint16_t> vlan_{};
  std::uint32_t max_path_mtu_ = 0;
  std::string description_;
  std::uint64_t messages_ = 0;
  std::uint64_t message_bytes_ = 0;
  std::function<EndpointCounters()> other_counters_;
};

}  // namespace roce::live
