// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roce/transport/loss_recovery.h"
#include "roce/transport/verbs.h"
#include "roce/wire/types.h"

namespace roce::model {

/// The parts of each QP's memory on each device. Each is a region of its own with guards around it.
enum class Area : std::uint8_t {
  local,       ///< memory that the own requests send from and read into
  remote,      ///< memory that the peer's requests read and write
  receive,     ///< receive buffers
  forbidden,   ///< memory that the peer can only read
  spare_own,   ///< invalidated at most once, by a LOCAL INVALIDATE of the owner
  spare_peer,  ///< invalidated at most once, by a SEND with invalidate of the peer
};
inline constexpr std::size_t kAreas = 6;

/// The source of a remote key: an area, or a window on `Area::remote`.
enum class Key : std::uint8_t { local, remote, receive, forbidden, spare_own, spare_peer, window1, window2 };

/// A piece of an area.
struct Piece {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

/// A send request of a program.
struct Work {
  transport::WorkOpcode opcode = transport::WorkOpcode::send;
  std::uint64_t wr_id = 0;
  std::vector<Piece> pieces;           ///< places in `Area::local`
  std::vector<std::byte> inline_data;  ///< used instead of `pieces` when `is_inline`
  std::uint32_t length = 0;
  std::uint32_t remote_offset = 0;  ///< offset in `Area::remote`, or in the area that `key` selects (`forbidden` …)
  Key key = Key::remote;            ///< remote key, or the key to invalidate or to bind
  std::uint32_t bind_length = 0;
  std::uint32_t immediate = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  bool signaled = true;
  bool fence = false;
  bool solicited = false;
  bool is_inline = false;
  bool whole_region = false;
  bool bad_key = false;  ///< the key's variant is wrong
};

struct Receive {
  std::uint64_t wr_id = 0;
  std::vector<Piece> pieces;  ///< places in `Area::receive`
};

/// One action of the program and its time. The actions of one QP happen in order.
struct Action {
  std::int64_t at_ns = 0;
  bool is_receive = false;
  std::uint32_t index = 0;  ///< index in `Side::operations` or `Side::receives`
};

/// The operations of one end of a QP in one phase.
struct Side {
  std::vector<Work> operations;
  std::vector<Receive> receives;
  std::vector<Action> sends_at;
  std::vector<Action> receives_at;
};

struct QpPlan {
  std::uint32_t mtu = 1024;
  std::uint8_t rd_atomic = 1;
  std::uint8_t timeout = 8;
  std::uint8_t min_rnr_timer = 1;
  std::uint8_t path = 0;  ///< index in the GID table
  std::uint16_t max_send = 16;
  bool with_srq = false;
  std::uint64_t rate_limit_bps = 0;
  std::array<Psn, 2> first_psn{};
  std::array<std::array<std::uint32_t, kAreas>, 2> area_size{};  ///< by device and area
  /// By phase and device. The second phase begins when the first is over, and may use the windows bound in it.
  std::array<std::array<Side, 2>, 2> phases;
};

/// The faults of the link: chances in 1024, times in nanoseconds.
struct Faults {
  std::uint32_t drop = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t reorder = 0;
  std::uint32_t corrupt = 0;
  std::int64_t delay_ns = 1000;
  std::int64_t jitter_ns = 0;
};

struct Program {
  std::uint64_t seed = 0;
  std::string_view profile;
  bool errors_allowed = false;  ///< some request is invalid, and retries are finite: only the invariants hold
  Faults faults;
  transport::LossRecovery recovery{};
  std::vector<QpPlan> qps;
};

/// Makes the program of a seed. It avoids everything that RDMA leaves undefined, so its result is defined:
/// - a request has a fence if it changes data that an earlier READ or atomic of the QP fetches,
///   or if it uses or overwrites data that one of these brings
///   (IBTA vol. 1, table 79: until then the answer to a READ may be fetched, and fetched again,
///   at any time);
/// - the two directions of a QP, and different QPs, touch disjoint memory; so do receive buffers;
/// - a window is used only in the phase after that in which it was bound;
/// - a key is invalidated at most once and not used afterwards.
[[nodiscard]] Program make_program(std::uint64_t seed);

/// Draws what a program's devices do about losses beyond the specification: each part is on in half of all.
[[nodiscard]] transport::LossRecovery draw_recovery(std::uint64_t seed);

[[nodiscard]] std::string describe(const transport::LossRecovery& recovery);
[[nodiscard]] std::string describe(const Program& program);

}  // namespace roce::model
