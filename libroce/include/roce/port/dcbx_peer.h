// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roce/transport/traffic_classes.h"
#include "roce/wire/lldp.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// The destination of LLDP frames that no bridge passes on: the other end of the wire (IEEE 802.1AB, 7.1).
inline constexpr MacAddress kNearestBridge{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}};

/// The settings of this end of a wire, and its recommendation to the other one.
struct DcbxConfig {
  DcbxEts ets{};  ///< `willing`: the other end's recommendation replaces it
  std::optional<DcbxEtsRecommendation> recommendation{};
  DcbxPfc pfc{};                             ///< `willing`: the other end's setting replaces it
  std::vector<DcbxAppEntry> applications{};  ///< at most `DcbxPeer::kMaxApplications`
};

/// The settings that hold at this end, as they follow from those of both.
struct DcbxOperational {
  DcbxEts ets{};
  DcbxPfc pfc{};
  bool ets_is_recommended = false;                ///< `ets` is the other end's recommendation
  bool pfc_is_of_peer = false;                    ///< `pfc` is what the other end is set to
  std::vector<DcbxAppEntry> peer_applications{};  ///< as the other end announced them

  friend bool operator==(const DcbxOperational&, const DcbxOperational&) = default;
};

/// Returns how a device divides its link by an ETS configuration. Error: a selection that it does not have, a class
/// beyond 7, or shares that do not add up to 100.
[[nodiscard]] transport::VerbResult<transport::TrafficClasses> traffic_classes_of(const DcbxEts& ets);

/// Returns a configuration as a recommendation to the other end.
[[nodiscard]] DcbxEtsRecommendation recommendation_of(const DcbxEts& ets);

/// One end of a wire that agrees with the other one on shares (ETS), priorities without loss (PFC) and priorities of
/// applications by DCBX as IEEE 802.1Q, clause 38, has it, in LLDP frames (IEEE 802.1AB). Nothing is negotiated: each
/// end announces its settings, and computes from those of both what holds. Frames and times only: no I/O, no clock.
class DcbxPeer {
 public:
  static constexpr Duration kInterval = std::chrono::seconds{30};     ///< between two frames
  static constexpr Duration kFastInterval = std::chrono::seconds{1};  ///< the same, when an end is new to the other
  static constexpr std::uint32_t kFastFrames = 4;
  static constexpr std::uint32_t kMostAtOnce = 5;  ///< frames without a second between them
  static constexpr std::chrono::seconds kTimeToLive{121};
  static constexpr std::size_t kMaxApplications = 168;
  static constexpr std::size_t kMaxNeighbours = 8;

  /// `mac`: source of the frames, the chassis ID, and what decides which end yields if both are willing.
  /// `port_name`: the port ID, at most 64 bytes.
  DcbxPeer(DcbxConfig config, const MacAddress& mac, std::string port_name);

  /// Processes a frame, from its Ethernet header on. Returns false if it is not an LLDP frame for this end of the wire.
  bool receive(Bytes frame, Time now);
  /// Lets time pass. Returns true if `frame` is to be sent now.
  bool update(Time now);
  /// Returns the latest time for the next call of `update`.
  [[nodiscard]] Time next_timeout() const;
  /// Returns the frame to send; valid until the next call of a member.
  [[nodiscard]] Bytes frame() const { return Bytes{frame_}.first(frame_size_); }
  /// Returns the last frame to send: it tells the other end that this one is gone. Valid until the next call.
  [[nodiscard]] Bytes goodbye();
  /// Changes what this end is set to; the next `update` sends it.
  void set_config(DcbxConfig config, Time now);

  [[nodiscard]] const DcbxConfig& config() const { return config_; }
  [[nodiscard]] const DcbxOperational& operational() const { return operational_; }
  /// True if exactly one other end has spoken DCBX on this wire, and not fallen silent since.
  [[nodiscard]] bool has_peer() const { return speaking_peer() != nullptr; }
  /// Returns how often `operational`, `has_peer` or `problem` has changed.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// Returns why the settings of the ends do not go together, and what to do: sentences; empty if they do.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// The last announcement of another end.
  struct Neighbour {
    std::vector<std::byte> id{};    ///< its chassis ID and port ID
    std::vector<std::byte> said{};  ///< its LLDPDU
    MacAddress mac{};
    Time until{};
    std::optional<DcbxEtsRecommendation> recommendation{};
    std::optional<DcbxPfc> pfc{};
    std::vector<DcbxAppEntry> applications{};
    unsigned ets_tlvs = 0;  ///< of its configuration, which decides nothing here
    unsigned recommendation_tlvs = 0;
    unsigned pfc_tlvs = 0;
    unsigned application_tlvs = 0;
    bool speaks_cee = false;
    std::string problem{};

    [[nodiscard]] bool speaks_dcbx() const {
      return ets_tlvs + recommendation_tlvs + pfc_tlvs + application_tlvs != 0 || !problem.empty();
    }
  };

  /// Reads an LLDPDU; nothing if it is not one.
  [[nodiscard]] static std::optional<Neighbour> read(Bytes pdu, const MacAddress& from, Time now);
  /// Reads TLV number `count` of an LLDPDU, from 0. False if it makes the LLDPDU worthless.
  [[nodiscard]] static bool read_tlv(Bytes pdu, const LldpItem& item, std::size_t count, Time now,
                                     Neighbour& neighbour);
  static void read_organization(Bytes value, Neighbour& neighbour);
  void take(Neighbour neighbour, Time now);
  /// Forgets the TLVs that an LLDPDU has more than once.
  static void drop_doubles(Neighbour& neighbour);
  [[nodiscard]] const Neighbour* speaking_peer() const;
  void forget_silent(Time now);
  void decide(Time now);
  void add_problem(std::string_view problem);
  void decide_ets(const Neighbour& peer, DcbxOperational& result);
  void decide_pfc(const Neighbour& peer, DcbxOperational& result);
  void send_soon(Time now, std::uint32_t fast_frames);
  void write_frame(std::chrono::seconds time_to_live, bool with_dcbx);

  DcbxConfig config_;
  MacAddress mac_;
  std::string port_name_;
  DcbxOperational operational_;
  std::vector<Neighbour> neighbours_;
  std::string problem_;
  std::uint64_t changes_ = 0;
  bool had_peer_ = false;  ///< when `decide` was called last
  std::uint32_t fast_left_ = kFastFrames;
  std::uint32_t credit_ = kMostAtOnce;
  Time credit_at_ = kNever;  ///< when there is credit for one frame more
  Time due_ = Time::min();   ///< when the next frame is to be sent
  std::vector<std::byte> frame_;
  std::size_t frame_size_ = 0;
};

}  // namespace roce::port
