// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "roce/transport/device.h"
#include "transport/class_scheduler.h"
#include "transport/congestion.h"
#include "transport/faults.h"
#include "transport/memory.h"
#include "transport/qp.h"
#include "transport/queues.h"
#include "transport/slot_table.h"
#include "transport/timer_heap.h"

namespace roce::transport::detail {

struct ProtectionDomain {
  std::uint32_t users = 0;
};

struct XrcDomain {
  std::uint32_t users = 0;
};

struct AddressHandle {
  std::uint32_t pd = 0;
  Pd pd_handle{};
  AddressVector address{};
  Path path{};
};

/// The whole state of a device. The functions that act on it are in the files named after their subjects.
struct DeviceState {
  static constexpr std::uint32_t kNoQp = ~0U;
  static constexpr std::uint16_t kNoVlan = 0xFFFF;  ///< in place of a VLAN id in `neighbours`
  static constexpr std::uint32_t kCnpRing = 256;

  DeviceState(DeviceConfig device_config, RandomSource random_source, CongestionFactory congestion_factory);

  DeviceConfig config;
  RandomSource random;
  CongestionFactory congestion;
  std::uint16_t id;

  MemoryTable memory;
  SlotTable<ProtectionDomain, Pd> pds;
  SlotTable<CompletionQueue, Cq> cqs;
  SlotTable<SharedReceiveQueue, Srq> srqs;
  SlotTable<XrcDomain, Xrcd> xrcds;
  SlotTable<AddressHandle, Ah> ahs;

  /// Indexed by the QPN's bits above the shard bits; the last element is QP1.
  std::vector<std::unique_ptr<Qp>> qps;
  std::uint32_t slot_mask;
  std::uint32_t next_qpn;
  std::uint32_t live_qps = 0;
  std::vector<std::pair<Gid, std::uint32_t>> groups;  ///< multicast group, QP slot

  std::unordered_map<std::uint32_t, SharedReceiveQueue*> xrc_srqs;  ///< by number
  std::uint32_t next_xrc_srq = 1;

  TimerHeap timers;
  struct ReadyList {
    std::uint32_t first = kNoQp;
    std::uint32_t last = kNoQp;
    std::uint32_t turn_of = kNoQp;  ///< slot of the QP whose turn was cut short because there was no room
    std::uint32_t turn_left = 0;    ///< packets that are left of that turn
  };
  std::array<ReadyList, 8> ready;
  std::uint8_t ready_classes = 0;  ///< one bit per class, set if its list is not empty
  std::uint8_t paused = 0;         ///< one bit per class
  ClassScheduler classes;
  std::array<ReceiveLevel, 8> receive_levels{};  ///< by class
  Ring<PendingCnp> cnps;
  std::vector<std::unique_ptr<Qp>> left;  ///< responses of QPs that are gone, with what is needed to send them

  std::map<std::pair<Gid, std::uint16_t>, MacAddress> neighbours;  ///< by GID and VLAN id
  std::vector<std::uint32_t> waiting_for_neighbour;

  Ring<Event> events;
  std::uint64_t lost_events = 0;
  std::uint32_t prefetched = kNoQp;  ///< slot of the QP fetched last: a burst is often of one QP
  bool cq_overflowed = false;        ///< a CQ has overflowed since `settle_overflows` last ran
  Counters other{};                  ///< counts that belong to no existing QP

  [[nodiscard]] const Profile& profile() const { return config.profile; }
  [[nodiscard]] Qp* find_qp(Qpn qpn) const {
    if (qpn.value() == 1) return qps.back().get();
    Qp* qp = qps[qpn.value() >> config.shard_bits & slot_mask].get();
    if (fault(Fault::qpn_20_bits) && qp != nullptr && ((qp->qpn.value() ^ qpn.value()) & 0xFFFFF) == 0) return qp;
    return qp != nullptr && qp->qpn == qpn ? qp : nullptr;
  }
  void report(const Event& event) {
    if (events.full()) {
      ++lost_events;
    } else {
      events.push() = event;
    }
  }
};

}  // namespace roce::transport::detail
