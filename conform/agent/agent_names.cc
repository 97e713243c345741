// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/agent_names.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "roce/live/control_request.h"
#include "roce/transport/verbs.h"

namespace roce::conform {

namespace {

using live::Refusal;
using transport::CompletionOpcode;
using transport::CompletionStatus;
using transport::EventType;

template <typename T>
using Name = std::pair<std::string_view, T>;

constexpr std::array<Name<ibv_qp_type>, 3> kTypes{{{"rc", IBV_QPT_RC}, {"uc", IBV_QPT_UC}, {"ud", IBV_QPT_UD}}};

constexpr std::array<Name<ibv_wr_opcode>, 10> kOpcodes{{{"send", IBV_WR_SEND},
                                                        {"send_with_immediate", IBV_WR_SEND_WITH_IMM},
                                                        {"send_with_invalidate", IBV_WR_SEND_WITH_INV},
                                                        {"write", IBV_WR_RDMA_WRITE},
                                                        {"write_with_immediate", IBV_WR_RDMA_WRITE_WITH_IMM},
                                                        {"read", IBV_WR_RDMA_READ},
                                                        {"compare_swap", IBV_WR_ATOMIC_CMP_AND_SWP},
                                                        {"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD},
                                                        {"local_invalidate", IBV_WR_LOCAL_INV},
                                                        {"bind_window", IBV_WR_BIND_MW}}};

constexpr std::array<Name<unsigned>, 6> kAccess{{{"local_write", IBV_ACCESS_LOCAL_WRITE},
                                                 {"remote_write", IBV_ACCESS_REMOTE_WRITE},
                                                 {"remote_read", IBV_ACCESS_REMOTE_READ},
                                                 {"remote_atomic", IBV_ACCESS_REMOTE_ATOMIC},
                                                 {"mw_bind", IBV_ACCESS_MW_BIND},
                                                 {"zero_based", IBV_ACCESS_ZERO_BASED}}};

/// Names of the control protocol that the verbs of rdma-core 44 have nothing for.
constexpr std::array<std::string_view, 4> kBeyondVerbs{"atomic_write", "flush", "flush_global", "flush_persistent"};

constexpr std::array<Name<ibv_qp_state>, 7> kStates{{{"RESET", IBV_QPS_RESET},
                                                     {"INIT", IBV_QPS_INIT},
                                                     {"RTR", IBV_QPS_RTR},
                                                     {"RTS", IBV_QPS_RTS},
                                                     {"SQD", IBV_QPS_SQD},
                                                     {"SQE", IBV_QPS_SQE},
                                                     {"ERR", IBV_QPS_ERR}}};

template <typename T, std::size_t N>
[[nodiscard]] T value_of(const std::array<Name<T>, N>& names, std::string_view name, std::string_view what) {
  std::string all;
  for (const auto& [known, value] : names) {
    if (known == name) return value;
    all += all.empty() ? "" : ", ";
    all += known;
  }
  for (const std::string_view beyond : kBeyondVerbs) {
    if (beyond == name) throw Refusal(fmt::format("the verbs of this program have no {}; there are {}", name, all));
  }
  throw Refusal(fmt::format("\"{}\" is no {}; there are {}", json_input::shown_text(name), what, all));
}

static_assert(static_cast<int>(CompletionStatus::local_protection_error) == IBV_WC_LOC_PROT_ERR);
static_assert(static_cast<int>(CompletionStatus::remote_access_error) == IBV_WC_REM_ACCESS_ERR);
static_assert(static_cast<int>(CompletionStatus::rnr_retry_exceeded) == IBV_WC_RNR_RETRY_EXC_ERR);
static_assert(static_cast<int>(CompletionStatus::general_error) == IBV_WC_GENERAL_ERR);

}  // namespace

ibv_qp_type qp_type_of(std::string_view name) {
  return value_of(kTypes, name, "type of queue pair");
}

ibv_wr_opcode opcode_of(std::string_view name) {
  return value_of(kOpcodes, name, "opcode");
}

ibv_qp_state state_of(std::string_view name) {
  return value_of(kStates, name, "state of a queue pair");
}

unsigned access_of(const nlohmann::json& request) {
  unsigned rights = 0;
  for (const nlohmann::json& name : live::list(request, "access")) {
    if (!name.is_string()) {
      throw Refusal(fmt::format("\"access\" has {}, needs names of rights", json_input::shown_value(name)));
    }
    rights |= value_of(kAccess, name.get_ref<const std::string&>(), "access right");
  }
  return rights;
}

ibv_mtu path_mtu_of(std::uint32_t bytes) {
  constexpr std::uint32_t kSmallest = 256;
  constexpr std::uint32_t kLargest = 4096;
  if (!std::has_single_bit(bytes) || bytes < kSmallest || bytes > kLargest) {
    throw Refusal(fmt::format("\"path_mtu\" is {}, needs 256, 512, 1024, 2048 or 4096", bytes));
  }
  return static_cast<ibv_mtu>(IBV_MTU_256 + std::countr_zero(bytes / kSmallest));
}

std::string_view to_text(ibv_qp_state state) {
  for (const auto& [name, value] : kStates) {
    if (value == state) return name;
  }
  return "unknown";
}

std::string_view to_text(ibv_wc_status status) {
  if (status <= IBV_WC_GENERAL_ERR) return to_string(static_cast<CompletionStatus>(status));
  return ibv_wc_status_str(status);
}

std::optional<std::string_view> to_text(ibv_wc_opcode opcode) {
  switch (opcode) {
    case IBV_WC_SEND:
      return to_string(CompletionOpcode::send);
    case IBV_WC_RDMA_WRITE:
      return to_string(CompletionOpcode::write);
    case IBV_WC_RDMA_READ:
      return to_string(CompletionOpcode::read);
    case IBV_WC_COMP_SWAP:
      return to_string(CompletionOpcode::compare_swap);
    case IBV_WC_FETCH_ADD:
      return to_string(CompletionOpcode::fetch_add);
    case IBV_WC_BIND_MW:
      return to_string(CompletionOpcode::bind_mw);
    case IBV_WC_LOCAL_INV:
      return to_string(CompletionOpcode::local_invalidate);
    case IBV_WC_RECV:
      return to_string(CompletionOpcode::receive);
    case IBV_WC_RECV_RDMA_WITH_IMM:
      return to_string(CompletionOpcode::receive_write_with_immediate);
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> to_text(ibv_event_type event) {
  switch (event) {
    case IBV_EVENT_CQ_ERR:
      return to_string(EventType::cq_overflow);
    case IBV_EVENT_QP_FATAL:
      return to_string(EventType::qp_fatal);
    case IBV_EVENT_QP_REQ_ERR:
      return to_string(EventType::qp_request_error);
    case IBV_EVENT_QP_ACCESS_ERR:
      return to_string(EventType::qp_access_error);
    case IBV_EVENT_COMM_EST:
      return to_string(EventType::communication_established);
    case IBV_EVENT_SQ_DRAINED:
      return to_string(EventType::sq_drained);
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return to_string(EventType::last_wqe_reached);
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return to_string(EventType::srq_limit);
    default:
      return std::nullopt;
  }
}

}  // namespace roce::conform
