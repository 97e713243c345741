// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "conform/agent/destroy.h"
#include "conform/agent/guarded_pages.h"

namespace roce::conform {

/// Numbers that the control protocol gives to objects.
using ObjectNumber = std::uint32_t;

/// Memory of the agent, registered whole.
struct AgentMemory {
  GuardedPages pages;
  Mr mr;
  std::uint64_t address = 0;  ///< of the first byte, as the device counts
};

/// A registered part of a memory.
struct AgentRegion {
  Mr mr;
  std::uint64_t address = 0;  ///< of the first byte, as the device counts
};

struct AgentWindow {
  Mw mw;
  ibv_mw_type type{};
  ObjectNumber region = 0;  ///< that it was bound to last; 0: none yet
};

/// A queue pair, and for datagrams the address that it sends to.
struct AgentQp {
  Ah ah;
  Qp qp;
  ibv_qp_type type{};
};

/// The objects of one connection. The members stand in the order in which each needs those before it, so that they are
/// destroyed in the order that verbs need.
struct AgentObjects {
  Context context;
  Pd pd;          ///< the connection's own
  Cq cq;          ///< the connection's own
  Channel wakes;  ///< of the completion queues that requests make
  std::map<ObjectNumber, Pd> pds;
  std::map<ObjectNumber, Cq> cqs;
  std::map<ObjectNumber, AgentMemory> memories;
  std::map<ObjectNumber, AgentRegion> regions;
  std::map<ObjectNumber, Srq> srqs;
  std::map<std::uint32_t, AgentQp> qps;  ///< by QPN
  std::map<ObjectNumber, AgentWindow> windows;
};

}  // namespace roce::conform
