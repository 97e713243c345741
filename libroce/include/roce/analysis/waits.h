// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// Reasons why a requester does not send its next packet at once.
enum class WaitFor : std::uint8_t {
  nothing,      ///< it sends: the next packet follows about as fast as packets ever did
  link,         ///< its host's link is busy with other packets of the host
  answers,      ///< with requests under way it sends the next one when an answer comes
  application,  ///< a message had ended, and no answer made the next one begin
  credits,      ///< the responder had granted no further message
  receiver,     ///< an RNR NAK made it wait, and send again
  losses,       ///< from the last progress until everything that had been sent before is answered
  pauses,       ///< the link partner had paused its packets
  rate,         ///< since a CNP it sends more slowly than it did
  host,         ///< in the middle of a message, no answer made it send, and nothing on the wire kept it from sending
};
inline constexpr std::size_t kWaits = 10;

/// Returns the name of a wait, as in JSON: `nothing`, `answers` …
[[nodiscard]] std::string_view to_string(WaitFor wait);

/// How the time of one requester went, from its first request to its last request or answer.
struct WaitSummary {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< 0: of `StreamSummary::ends[0]`
  std::uint16_t point = 0;     ///< `Observation::point`
  Gid source{};
  Gid destination{};
  Qpn dest_qp{};
  std::uint64_t requests = 0;  ///< packets
  std::uint64_t resent = 0;    ///< of them, packets that had been sent before
  std::uint64_t payload = 0;   ///< bytes of requests and READ responses, without what was sent again
  std::array<Duration, kWaits> times{};
  std::uint64_t most_under_way = 0;            ///< the most PSNs without an answer at a time, as seen here
  double mean_under_way = 0;                   ///< PSNs, while there were any
  std::optional<Duration> least_round_trip{};  ///< least time from a request to its answer
  Duration mean_round_trip{};                  ///< mean time for which a PSN was under way
  /// Its host may be an end of the captured link: everything at this point went to it or came from it. Of others is not
  /// seen what they see.
  bool is_near = false;

  [[nodiscard]] Duration of(WaitFor wait) const { return times[static_cast<std::size_t>(wait)]; }
  [[nodiscard]] Duration all() const;
};

/// A part of the time of a requester, and what it waited for then.
struct WaitSpan {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< of the requester: 0: of `StreamSummary::ends[0]`
  WaitFor wait{};
  Time begin{};
  Time end{};  ///< after `begin`

  friend bool operator==(const WaitSpan&, const WaitSpan&) = default;
};

/// The PSNs without an answer from a time on.
struct UnderWay {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< of the requester
  Time time{};
  std::uint64_t psns = 0;  ///< of this requester
  std::uint64_t all = 0;   ///< of all requesters together

  friend bool operator==(const UnderWay&, const UnderWay&) = default;
};

/// Receives how the time of requesters went, when it has become certain.
class WaitTaker {
 public:
  WaitTaker() = default;
  WaitTaker(const WaitTaker&) = delete;
  WaitTaker& operator=(const WaitTaker&) = delete;
  virtual ~WaitTaker() = default;

  /// The spans of a requester come in their order, and those of a wait add up to its time in `WaitSummary::times`.
  /// Between an answer and the next they are exact unless they are many: then those of one wait are taken together.
  virtual void take(const WaitSpan& span) = 0;
  virtual void take(const UnderWay& under_way) = 0;
};

/// Divides the time of each requester of RC by what it waited for, as far as a capture near it shows: "what limits
/// this connection". Requesters of UC wait for nothing, and are left out. Bounded, deterministic, without I/O and
/// clock.
class WaitSurvey {
 public:
  /// `link_bits_per_second`: speed of the captured links, by which PFC and PAUSE count; 0: 100 Gbit/s are assumed, and
  /// a pause lasts until the XON. `taker`: has to live as long; null: nobody wants to know when it was.
  explicit WaitSurvey(std::uint64_t link_bits_per_second = 0, std::size_t most_requesters = std::size_t{1} << 20U,
                      WaitTaker* taker = nullptr);

  /// Takes the next packet of the capture, and what the tracker says of it.
  void observe(const Observation& packet, const PacketAnalysis& analysis);

  /// Gives up waiting for the answers to what a requester has sent so far: `UnderWay` counts it no longer, unless it is
  /// sent again. `direction`: of the requester. Summaries stay as they are.
  void give_up(std::uint32_t stream, std::uint8_t direction, Time time);
  /// Ends the capture: the taker gets what is not certain yet, as if nothing followed.
  void finish();

  /// Returns all requesters so far, by stream and direction.
  [[nodiscard]] std::vector<WaitSummary> summaries() const;
  /// Returns the number of packets of requesters for which there was no room.
  [[nodiscard]] std::uint64_t uncounted_packets() const { return uncounted_; }

 private:
  using Times = std::array<Duration, kWaits>;
  using Key = std::pair<std::uint32_t, std::uint8_t>;

  /// Measures the rate of the fastest packets in a row.
  struct Burst {
    static constexpr std::size_t kPackets = 8;
    std::array<std::pair<Time, std::uint32_t>, kPackets> last{};  ///< time and length
    std::size_t count = 0;
    std::uint64_t bytes = 0;     ///< of those in `last`
    double least_ns_a_byte = 0;  ///< 0: unknown

    void add(Time time, std::uint32_t length);
  };

  /// Everything that a host sends.
  struct Host {
    Burst burst{};
    std::uint64_t bytes = 0;
  };

  /// The last pause of one priority.
  struct Pause {
    Time begin{};
    Time end{};
    bool is_on = false;  ///< no XON since the last XOFF
  };
  using Pauses = std::array<Pause, 8>;

  /// The link that is captured at a point.
  struct Link {
    bool has_ends = false;
    std::array<std::optional<MacAddress>, 2> ends{};  ///< stations that all RoCE so far came from or went to
    std::map<MacAddress, Pauses> pauses{};
  };

  /// The parts of the time since the last progress of a requester, in their order: all but the sending becomes losses
  /// if it ends with one. Bounded: of many parts, those of one wait are put together.
  class Recent {
   public:
    struct Part {
      WaitFor wait{};
      Duration time{};
    };

    void add(WaitFor wait, Duration time);
    void lose(WaitFor recovery);
    void clear() { parts_.clear(); }
    [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

   private:
    static constexpr std::size_t kMost = 16;

    std::vector<Part> parts_;
  };

  struct Requester {
    WaitSummary sum{};
    MacAddress station{};  ///< that it sends from
    Time latest{};         ///< the time before it is in `sum`, `recent` or `deferred`
    Duration deferred{};   ///< the time since the last request with requests under way
    Time progressed{};     ///< where `recent` begins
    Recent recent{};
    std::uint64_t counted = 0;  ///< PSNs under way that `under_way_` has
    std::int64_t next = 0;
    std::int64_t answered = 0;   ///< PSNs before this one
    std::int64_t given_up = 0;   ///< PSNs before this one are not waited for
    std::int64_t recovered = 0;  ///< what has to be answered for a loss to be over
    bool is_recovering = false;
    bool was_not_ready = false;         ///< the loss is an RNR NAK
    bool had_credits = false;           ///< an answer since the last request ended a credit stall
    std::optional<Time> last_answer{};  ///< since the last request, the last one that came with much under way
    std::optional<Time> last_cnp{};     ///< of one that still bears on the rate
    unsigned fast = 0;                  ///< packets in a row that followed as fast as ever
    std::uint64_t host_bytes = 0;       ///< of its host when it sent last
    double psn_ns = 0;                  ///< integral of what was under way
    Duration open_time{};
    Burst burst{};

    [[nodiscard]] bool is_open() const { return next > answered; }
    [[nodiscard]] std::uint64_t under_way() const {
      return is_open() ? static_cast<std::uint64_t>(next - answered) : 0;
    }
    [[nodiscard]] std::uint64_t awaited() const {
      return static_cast<std::uint64_t>(next - std::min(next, std::max(answered, given_up)));
    }
    [[nodiscard]] WaitFor recovery() const { return was_not_ready ? WaitFor::receiver : WaitFor::losses; }
    void on_cnp(Time time);
    void progress(WaitTaker* taker);
    void end(WaitTaker* taker);
    void integrate(Duration time);
    void add_earlier(const Requester& earlier);
  };

  [[nodiscard]] Requester* find(Key key, const Observation& packet, bool is_request);
  [[nodiscard]] Requester* known(Key key);
  [[nodiscard]] Host* host_of(const Observation& packet);
  void absorb(std::uint32_t from, std::uint32_t into);
  void follow_link(const Observation& packet);
  void on_pause(const Observation& packet);
  void on_request(Requester& requester, const Observation& packet, const PacketAnalysis& analysis);
  void on_response(Requester& requester, const Observation& packet, const PacketAnalysis& analysis);
  void account(Requester& requester, const Observation& packet, const Verdict* resent);
  void note_under_way(Requester& requester, Time time);
  [[nodiscard]] WaitFor reason(const Requester& requester, const Observation& packet, Duration gap) const;
  [[nodiscard]] bool was_paused(const Observation& packet, Duration gap) const;
  [[nodiscard]] bool is_at_end(std::uint16_t point, const MacAddress& station) const;

  std::uint64_t link_bits_per_second_;
  std::size_t most_;
  WaitTaker* taker_;
  std::map<Key, Requester> requesters_;
  std::map<Key, Time> early_cnps_;  ///< for requesters of which nothing was seen yet
  std::map<std::pair<std::uint16_t, Gid>, Host> hosts_;
  /// The requesters and hosts of the latest packets, so that few have to be searched.
  std::array<std::pair<Key, Requester*>, 64> recent_requesters_{};
  std::array<std::pair<std::pair<std::uint16_t, Gid>, Host*>, 16> recent_hosts_{};
  Link* link_ = nullptr;
  std::uint16_t link_point_ = 0;
  const Host* sender_ = nullptr;  ///< of the packet that is observed; null: there was no room for it
  std::map<std::uint16_t, Link> links_;
  std::uint64_t under_way_ = 0;   ///< PSNs of all requesters
  bool has_nanoseconds_ = false;  ///< times are finer than microseconds
  std::uint64_t uncounted_ = 0;
};

}  // namespace roce::analysis
