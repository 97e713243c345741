// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gen/driver.h"
#include "gen/endpoint_counters.h"
#include "gen/endpoint_options.h"
#include "gen/failure.h"
#include "gen/host_membership.h"
#include "gen/metrics_output.h"
#include "gen/recorder.h"
#include "roce/link/link.h"
#include "roce/link/port_holder.h"
#include "roce/link/raw_link.h"
#include "roce/link/stream_link.h"
#include "roce/port/neighbours.h"
#include "roce/port/own_address.h"
#include "roce/port/port.h"
#include "roce/transport/device.h"

namespace roce::gen {

/// A device on a link of this machine, with all it needs to run.
class Endpoint {
 public:
  /// Opens what the options say. Failures: everything that is wrong with interface, address, link and capture file.
  [[nodiscard]] static Outcome<std::unique_ptr<Endpoint>> open(const EndpointOptions& options);
  /// The shards of an endpoint, `options.shards` of them, which share an interface and an address; the first has QP1,
  /// ARP and all that is no RoCE, and serves the metrics of all. A shard may belong to a thread of its own; all have to
  /// live as long as one runs. Failures: as `open`; options that go with one shard only.
  [[nodiscard]] static Outcome<std::vector<std::unique_ptr<Endpoint>>> open_shards(const EndpointOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] transport::Device& device() { return *device_; }
  [[nodiscard]] port::Port& port() { return *port_; }
  [[nodiscard]] link::Link& link() { return *link_; }
  [[nodiscard]] Driver& driver() { return *driver_; }
  /// Our address, and where it is in the GID table.
  [[nodiscard]] const Gid& gid() const { return gid_; }
  [[nodiscard]] std::uint16_t sgid_index() const { return sgid_index_; }
  /// The largest path MTU that the interface takes, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const { return max_path_mtu_; }
  /// What was opened, and why: one line.
  [[nodiscard]] const std::string& description() const { return description_; }

  /// Becomes a member of a multicast group, for itself or for the host whose address it has, until it goes. `group` is
  /// an IPv6 or IPv4-mapped address. Failure: it is no group, or of another kind than the address.
  [[nodiscard]] Outcome<void> join(const Gid& group);
  [[nodiscard]] EndpointCounters counters() const;
  /// What the metrics count besides: the other shards. To be set before the driver runs.
  void set_other_counters(std::function<EndpointCounters()> others) { other_counters_ = std::move(others); }
  /// Messages of the program's own that are done, for the metrics.
  void count_message(std::uint64_t bytes);
  /// To be called for each QP that is made: options that make it misbehave take effect.
  void adopt(Qpn qp);
  /// Ends the capture file and writes the metrics, if that was wanted.
  [[nodiscard]] Outcome<void> close();

 private:
  /// What is there for the shards that are not yet open.
  struct Shards {
    std::uint8_t bits = 0;
    std::uint8_t next = 0;
    std::vector<std::unique_ptr<link::RawLink>> links;
  };

  Endpoint() = default;
  [[nodiscard]] static Outcome<std::unique_ptr<Endpoint>> open_one(const EndpointOptions& options, Shards& shards);
  [[nodiscard]] Outcome<void> open_link(const EndpointOptions& options, const port::Interface& interface,
                                        Shards& shards);
  [[nodiscard]] Outcome<void> open_raw(const EndpointOptions& options, Shards& shards);
  [[nodiscard]] Outcome<void> open_udp(const EndpointOptions& options);
  /// `copies` is a filter for what the kernel gets and we want to see too.
  [[nodiscard]] Outcome<void> open_xdp(const EndpointOptions& options, const std::string& copies);
  /// The other end of a stream as if it were an interface.
  [[nodiscard]] Outcome<port::Interface> open_stream(const EndpointOptions& options);
  [[nodiscard]] Outcome<void> open_metrics(const EndpointOptions& options);
  [[nodiscard]] Metrics collect_metrics() const;
  /// The address that the endpoint will have, with its GID table.
  [[nodiscard]] Outcome<std::vector<transport::GidEntry>> choose_address(const EndpointOptions& options,
                                                                         const port::Interface& interface);
  /// Waits until it is sure that nobody else has the own address.
  [[nodiscard]] Outcome<void> claim_address();
  /// Says whether packets leave as super-frames, and later if the kernel refuses them.
  void tell_segmentation(const EndpointOptions& options);
  [[nodiscard]] Outcome<void> open_neighbours(const EndpointOptions& options, const port::Interface& interface);

  std::string interface_;
  std::vector<HostMembership> memberships_;
  std::unique_ptr<link::Link> link_;
  link::StreamLink* clock_ = nullptr;  ///< `link_`, if it says what time it is
  std::optional<link::PortHolder> port_holder_;
  std::unique_ptr<port::OwnAddress> own_address_;
  std::unique_ptr<port::Neighbours> neighbours_;  ///< without an own address, or instead of its search
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
  std::unique_ptr<MetricsOutput> metrics_;
};

}  // namespace roce::gen
