// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/nvme_capsule.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// How a command of NVMe over RDMA ended.
enum class NvmeEnd : std::uint8_t {
  answered,
  missed,  ///< the capture lacks its answer: its identifier was used again, or packets of the connection are missing
  /// Its connection ended, or it had waited longer than any other one of its queue had; a second if there was none.
  unanswered,
  open,  ///< the capture ended before it was answered, or has nothing of what its target sends
};

[[nodiscard]] std::string_view to_string(NvmeEnd end);

/// Where most of the time of a command went.
enum class NvmeDelay : std::uint8_t {
  target,    ///< the target had what it needed, and neither asked for data nor sent any, nor answered
  host,      ///< the target had asked for data, and the first had not come
  transfer,  ///< data were on their way
  loss,      ///< packets had been lost, until they were sent again
  receiver,  ///< an RNR NAK had asked for a wait, until packets were sent again
};
inline constexpr std::size_t kNvmeDelays = 5;

[[nodiscard]] std::string_view to_string(NvmeDelay delay);

/// A command and its response, as seen at the capture point. Of what was sent again, the transmission counts that
/// arrived, as far as that is known.
struct NvmeExchange {
  std::uint32_t queue = 0;  ///< index of its queue in `NvmeSurvey::queues`
  NvmeCommand command{};
  NvmeEnd end = NvmeEnd::open;
  NvmeStatus status{};  ///< with `answered`
  PacketId capsule{};   ///< the first packet of the command
  PacketId ask{};       ///< the controller's first READ request for data
  PacketId first_data{};
  PacketId last_data{};
  PacketId response{};
  Time start{};                       ///< time of `capsule`
  Time ask_time{};                    ///< with `ask`
  Time first_data_time{};             ///< with `first_data`
  Time last_data_time{};              ///< with `first_data`
  Time finish{};                      ///< time of `response`; without one, the time until which it was waited for
  std::uint64_t data_bytes = 0;       ///< bytes that went in either direction, in capsules too
  std::uint32_t retransmissions = 0;  ///< packets of it that were sent again
  Duration lost{};                    ///< of its time, waiting for packets of its connection that had been lost
  Duration not_ready{};               ///< of its time, waiting because of an RNR NAK
  NvmeDelay delay{};

  [[nodiscard]] bool has_data() const { return static_cast<bool>(first_data); }
  [[nodiscard]] Duration latency() const { return finish - start; }
  /// Returns the time until the first data, the time from those to the last, and the time from those to the response.
  /// Without data, all of it is in the last one.
  [[nodiscard]] Duration until_data() const { return has_data() ? first_data_time - start : Duration{}; }
  [[nodiscard]] Duration data() const { return has_data() ? last_data_time - first_data_time : Duration{}; }
  [[nodiscard]] Duration until_response() const { return finish - (has_data() ? last_data_time : start); }
};

/// A queue of commands: one connection.
struct NvmeQueue {
  std::uint32_t stream = kNoStream;
  std::uint8_t host_direction = 0;  ///< direction of the commands in the stream
  std::uint16_t point = 0;          ///< `Observation::point`
  Gid host{};
  Gid target{};
  std::optional<Qpn> host_qp{};
  std::optional<Qpn> target_qp{};
  std::optional<std::uint16_t> queue_id{};  ///< by its set-up; 0 is the admin queue
  std::uint32_t size = 0;                   ///< entries as agreed; 0: unknown
  std::optional<std::uint16_t> controller_id{};
  bool is_admin = false;  ///< by its set-up or, without one, by a command that only admin queues have
  bool is_closed = false;
  std::uint64_t commands = 0;
  std::uint64_t most_outstanding = 0;  ///< without Asynchronous Event Requests, which wait for events
  double mean_outstanding = 0;         ///< while there were any
  std::uint64_t responses_without_command = 0;
  std::uint64_t cut_capsules = 0;      ///< capsules of which a snap length has left too little
  std::uint64_t strange_messages = 0;  ///< SENDs that are not capsules
  Duration keep_alive_timeout{};       ///< as agreed; 0: none, or it is unknown
  std::uint64_t keep_alives = 0;
  /// The longest time between two Keep Alive commands, from the Connect on and, if it was not closed, to the end.
  Duration longest_keep_alive_gap{};
  /// The longest time without any command to its controller; only of an admin queue whose Connect was seen.
  Duration longest_silence{};
};

/// How connections of NVMe are recognised, and how much is remembered of them.
struct NvmeSurveyOptions {
  std::vector<std::uint16_t> ports{kNvmePort};  ///< connections that the RDMA CM sets up to these carry NVMe
  /// Addresses of targets: their connections that were set up before the capture carry NVMe, too, unless a SEND shows
  /// that they do not.
  std::vector<Gid> targets{};
  std::size_t most_queues = 65'536;
  std::size_t most_commands = std::size_t{1} << 20U;  ///< commands, and messages that belong to them, under way at once
};

class NvmeQueueFollower;
struct NvmeRoom;

/// Pairs the commands of NVMe over RDMA with their data and their responses. Bounded, deterministic, without I/O and
/// clock.
class NvmeSurvey {
 public:
  explicit NvmeSurvey(NvmeSurveyOptions options = {});
  ~NvmeSurvey();
  NvmeSurvey(const NvmeSurvey&) = delete;
  NvmeSurvey& operator=(const NvmeSurvey&) = delete;

  /// Takes the next packet of the capture, what is kept of it, and what the tracker says of it.
  void observe(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis);
  /// Takes what the tracker says later about an earlier packet: a response may have been lost after it was seen.
  void observe(const Verdict& verdict);
  /// Ends the capture: what is still open is reported as it is. Call it once, after the last packet.
  void finish();

  /// Appends the commands of which it has become certain since the last call how they ended.
  void drain(std::vector<NvmeExchange>& into);
  /// Returns all queues so far, in the order of their first packets. One that has no commands may have been merged.
  [[nodiscard]] std::vector<NvmeQueue> queues() const;
  /// Returns the number of the stream of a queue.
  [[nodiscard]] std::uint32_t stream_of(std::uint32_t queue) const;
  /// True if a queue is known to be an admin queue by now.
  [[nodiscard]] bool is_admin(std::uint32_t queue) const;
  /// Returns the number of packets of queues, and of commands, for which there was no room.
  [[nodiscard]] std::uint64_t uncounted() const;

 private:
  /// A connection that the CM sets up, known by either of its ends.
  struct Connection {
    Gid host{};
    Gid target{};
    Qpn host_qp{};
    std::optional<Qpn> target_qp{};
    std::uint64_t domain = 0;   ///< `Observation::domain`
    std::uint32_t host_id = 0;  ///< communication identifier
    NvmeQueueRequest request{};
  };
  using End = std::tuple<std::uint16_t, std::uint64_t, Gid, std::uint32_t>;  ///< point, domain, address, number
  using Connections = std::map<End, std::shared_ptr<Connection>>;
  /// The commands to one controller.
  struct Controller {
    Time last{};
    Duration longest{};
  };
  using ControllerKey = std::tuple<std::uint16_t, Gid, Gid, std::uint16_t>;

  void on_management(const Packet& packet, const Observation& seen);
  void on_request(const Packet& packet, const Observation& seen);
  void on_reply(const Observation& seen);
  [[nodiscard]] static End end_of(const Observation& seen, const Gid& address, std::uint32_t number);
  /// Ends the connection that has an end, if there is one: its queues are closed, and its QPNs may be others' then.
  void end(const Connections& connections, const End& one);
  [[nodiscard]] std::vector<std::uint32_t> queues_at(std::uint16_t point, const Gid& host, Qpn qp) const;
  /// Makes a queue known by the QP of its host, if that has been seen.
  void note_host_qp(std::uint32_t index);
  [[nodiscard]] NvmeQueueFollower* follower_of(const Packet& packet, const Observation& seen,
                                               const PacketAnalysis& analysis);
  [[nodiscard]] NvmeQueueFollower* begin(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis);
  [[nodiscard]] NvmeQueueFollower* add(const Observation& seen, const PacketAnalysis& analysis, bool is_to_target);
  void absorb(std::uint32_t from, std::uint32_t into);
  void note_command(const NvmeQueue& queue, Time time);
  [[nodiscard]] std::uint32_t& index_of(std::uint32_t stream);

  NvmeSurveyOptions options_;
  std::unique_ptr<NvmeRoom> room_;
  std::vector<std::unique_ptr<NvmeQueueFollower>> queues_;
  std::vector<std::uint32_t> by_stream_;  ///< index in `queues_`, or what is known instead
  Connections by_qp_;                     ///< of either end
  Connections by_comm_id_;                ///< of the host
  std::set<std::tuple<std::uint16_t, Gid, Qpn, std::uint32_t>> by_host_qp_;  ///< point, host, QPN, index in `queues_`
  std::map<ControllerKey, Controller> controllers_;
  std::map<std::uint16_t, Time> latest_;  ///< by point: their clocks differ
};

}  // namespace roce::analysis
