// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_names.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace roce::live {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

template <typename T, std::size_t N>
[[nodiscard]] T value_of(const std::array<std::pair<std::string_view, T>, N>& names, std::string_view name,
                         std::string_view what) {
  std::string all;
  for (const auto& [known, value] : names) {
    if (known == name) return value;
    all += all.empty() ? "" : ", ";
    all += known;
  }
  throw std::runtime_error(fmt::format("\"{}\" is no {}; there are {}", name, what, all));
}

template <typename T, std::size_t N>
[[nodiscard]] std::string_view known_name(const std::array<std::pair<std::string_view, T>, N>& names, T value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  return "";
}

constexpr std::array<std::pair<std::string_view, QpType>, 3> kTypes{
    {{"rc", QpType::rc}, {"uc", QpType::uc}, {"ud", QpType::ud}}};

constexpr std::array<std::pair<std::string_view, WorkOpcode>, 12> kOpcodes{
    {{"send", WorkOpcode::send},
     {"send_with_immediate", WorkOpcode::send_with_immediate},
     {"send_with_invalidate", WorkOpcode::send_with_invalidate},
     {"write", WorkOpcode::write},
     {"write_with_immediate", WorkOpcode::write_with_immediate},
     {"read", WorkOpcode::read},
     {"compare_swap", WorkOpcode::compare_swap},
     {"fetch_add", WorkOpcode::fetch_add},
     {"atomic_write", WorkOpcode::atomic_write},
     {"flush", WorkOpcode::flush},
     {"local_invalidate", WorkOpcode::local_invalidate},
     {"bind_window", WorkOpcode::bind_mw}}};

constexpr std::array<std::pair<std::string_view, Access>, 8> kAccess{{{"local_write", Access::local_write},
                                                                      {"remote_write", Access::remote_write},
                                                                      {"remote_read", Access::remote_read},
                                                                      {"remote_atomic", Access::remote_atomic},
                                                                      {"mw_bind", Access::mw_bind},
                                                                      {"zero_based", Access::zero_based},
                                                                      {"flush_global", Access::flush_global},
                                                                      {"flush_persistent", Access::flush_persistent}}};

constexpr std::array<std::pair<std::string_view, QpState>, 7> kStates{{{"RESET", QpState::reset},
                                                                       {"INIT", QpState::init},
                                                                       {"RTR", QpState::rtr},
                                                                       {"RTS", QpState::rts},
                                                                       {"SQD", QpState::sqd},
                                                                       {"SQE", QpState::sqe},
                                                                       {"ERR", QpState::err}}};

}  // namespace

QpType qp_type_of(std::string_view name) {
  return value_of(kTypes, name, "type of queue pair");
}
WorkOpcode opcode_of(std::string_view name) {
  return value_of(kOpcodes, name, "opcode");
}
Access access_of(std::string_view name) {
  return value_of(kAccess, name, "access right");
}

QpState state_of(std::string_view name) {
  return value_of(kStates, name, "state of a queue pair");
}

std::string_view name_of(QpType type) {
  return known_name(kTypes, type);
}
std::string_view name_of(WorkOpcode opcode) {
  return known_name(kOpcodes, opcode);
}
std::vector<std::string_view> names_of(Access access) {
  std::vector<std::string_view> names;
  for (const auto& [name, right] : kAccess) {
    if (transport::allows(access, right)) names.push_back(name);
  }
  return names;
}

transport::VerbResult<void> connect(transport::Device& device, Qpn qpn, QpType type, const ConnectOptions& options,
                                    Time now) {
  transport::QpChange rtr{.state = QpState::rtr};
  transport::QpChange rts{.state = QpState::rts, .sq_psn = options.psn};
  if (type != QpType::ud) {
    rtr.address = transport::AddressVector{
        .sgid_index = options.sgid_index, .dgid = options.gid, .traffic_class = options.traffic_class};
    rtr.path_mtu = options.path_mtu;
    rtr.dest_qp = options.remote_qp;
    rtr.rq_psn = options.remote_psn;
  }
  if (type == QpType::rc) {
    constexpr std::uint8_t min_rnr_timer = 12;
    rtr.max_dest_rd_atomic = options.rd_atomic;
    rtr.min_rnr_timer = min_rnr_timer;
    rts.max_rd_atomic = options.rd_atomic;
    rts.timeout = options.timeout;
    rts.retry_count = options.retry_count;
    rts.rnr_retry = options.rnr_retry;
  }
  if (options.rate_limit_bps != 0) rts.rate_limit_bps = options.rate_limit_bps;
  if (options.rate_limit_pps != 0) rts.rate_limit_pps = options.rate_limit_pps;
  if (transport::VerbResult<void> moved = device.modify_qp(qpn, rtr, now); !moved) return moved;
  return device.modify_qp(qpn, rts, now);
}

}  // namespace roce::live
