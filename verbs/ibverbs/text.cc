// SPDX-License-Identifier: BSD-2-Clause
// Names of numbers.
#include <array>
#include <cstddef>

#include "roce/transport/verbs.h"
#include "verbs/ibverbs/verbs_api.h"

namespace {

constexpr std::array<const char*, 8> kNodeTypes{"unknown node",      "InfiniBand channel adapter",
                                                "InfiniBand switch", "InfiniBand router",
                                                "iWARP NIC",         "usNIC",
                                                "usNIC UDP",         "unspecified node"};
constexpr std::array<const char*, 6> kPortStates{"no state change", "down",   "init",
                                                 "armed",           "active", "active deferred"};
constexpr std::array<const char*, 20> kEvents{"CQ error",
                                              "local work queue catastrophic error",
                                              "invalid request local work queue error",
                                              "local access violation work queue error",
                                              "communication established",
                                              "send queue drained",
                                              "path migrated",
                                              "path migration request error",
                                              "local catastrophic error",
                                              "port active",
                                              "port error",
                                              "LID change",
                                              "P_Key change",
                                              "SM change",
                                              "SRQ catastrophic error",
                                              "SRQ limit reached",
                                              "last WQE reached",
                                              "client reregistration",
                                              "GID table change",
                                              "work queue fatal error"};

template <std::size_t N>
[[nodiscard]] const char* name_of(const std::array<const char*, N>& names, int number) {
  return number >= 0 && static_cast<std::size_t>(number) < N ? names[static_cast<std::size_t>(number)] : "unknown";
}

}  // namespace

const char* ibv_node_type_str(enum ibv_node_type type) {
  return name_of(kNodeTypes, type);
}

const char* ibv_port_state_str(enum ibv_port_state state) {
  return name_of(kPortStates, state);
}

const char* ibv_event_type_str(enum ibv_event_type event) {
  return name_of(kEvents, event);
}

const char* ibv_wc_status_str(enum ibv_wc_status status) {
  if (status == IBV_WC_TM_ERR) return "tag matching error";
  if (status == IBV_WC_TM_RNDV_INCOMPLETE) return "tag matching rendezvous incomplete";
  // The numbers are those of libibverbs, and the text is a constant with its zero.
  return to_string(static_cast<roce::transport::CompletionStatus>(status)).data();
}
