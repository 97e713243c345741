// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "roce/transport/device.h"
#include "verbs/engine/engine.h"
#include "verbs/ibverbs/adapter.h"
#include "verbs/ibverbs/device_object.h"
#include "verbs/ibverbs/event_queue.h"
#include "verbs/ibverbs/memory_region.h"
#include "verbs/ibverbs/verbs_api.h"
#include "verbs/ibverbs/work_builder.h"

namespace roce::verbs {

// The structures of verbs.h, with the parts of ours behind them. A program gets a pointer to the structure.

struct ContextObject : verbs_context {
  EventQueue<ibv_async_event> events;
  std::shared_ptr<Adapter> adapter;  // destroyed first: its engine puts events into the queue
};
[[nodiscard]] inline ContextObject& object_of(ibv_context* context) {
  return *static_cast<ContextObject*>(::verbs_get_ctx(context));
}

struct PdObject : ibv_pd {
  Engine* engine = nullptr;
  const ibv_context* made_by = nullptr;
  transport::Pd handle_of_device{};
  PdObject* parent = nullptr;            // of a parent domain: the PD in it, whose handle it has
  std::atomic<std::uint32_t> users = 0;  // parent domains with it
};
[[nodiscard]] inline PdObject& object_of(ibv_pd* pd) {
  return *static_cast<PdObject*>(pd);
}

struct MrObject : ibv_mr {
  Engine* engine = nullptr;
  transport::Mr handle_of_device{};
  Memory memory;
  std::shared_ptr<void> device_memory;  ///< the bytes, if it is a region of device memory
};
[[nodiscard]] inline MrObject& object_of(ibv_mr* mr) {
  return *static_cast<MrObject*>(mr);
}

struct MwObject : ibv_mw {
  Engine* engine = nullptr;
  transport::Mw handle_of_device{};
};
[[nodiscard]] inline MwObject& object_of(ibv_mw* mw) {
  return *static_cast<MwObject*>(mw);
}

struct AhObject : ibv_ah {
  Engine* engine = nullptr;
  transport::Ah handle_of_device{};
};
[[nodiscard]] inline AhObject& object_of(ibv_ah* ah) {
  return *static_cast<AhObject*>(ah);
}

struct CqObject;
struct ChannelObject : ibv_comp_channel {
  EventQueue<CqObject*> events;
};
[[nodiscard]] inline ChannelObject& object_of(ibv_comp_channel* channel) {
  return *static_cast<ChannelObject*>(channel);
}

struct CqObject : ibv_cq_ex {
  Engine* engine = nullptr;
  transport::Cq handle_of_device{};
  // Events that the program took, and has to acknowledge before it destroys the CQ. Guarded by the queues' locks.
  std::uint32_t comp_events_taken = 0;
  std::uint32_t async_events_taken = 0;
  // An extended CQ has the completion that the program looks at, and when it was taken.
  transport::Completion current{};
  std::uint64_t taken_at = 0;          // in nanoseconds of the clock of `query_clock`
  std::uint64_t wall_clock_taken = 0;  // in nanoseconds since 1970

  [[nodiscard]] ibv_cq* as_cq() { return ::ibv_cq_ex_to_cq(this); }
};
[[nodiscard]] inline CqObject& object_of(ibv_cq* cq) {
  // An `ibv_cq` is the beginning of an `ibv_cq_ex`.
  return *static_cast<CqObject*>(reinterpret_cast<ibv_cq_ex*>(cq));
}

/// A domain that several `ibv_xrcd` may have, if they were opened by the same file.
struct XrcDomain {
  XrcDomain() = default;
  XrcDomain(const XrcDomain&) = delete;
  XrcDomain& operator=(const XrcDomain&) = delete;
  ~XrcDomain() {
    if (keeps_file >= 0) ::close(keeps_file);
  }

  transport::Xrcd handle_of_device{};
  FileId file{};             // nobody else's, if it was opened without a file
  int keeps_file = -1;       // a descriptor of it: as long as it is open, no other file gets its number
  std::uint32_t opened = 0;  // changed under the engine's lock
};

struct XrcdObject : ibv_xrcd {
  Engine* engine = nullptr;
  std::shared_ptr<XrcDomain> domain;
};
[[nodiscard]] inline XrcdObject& object_of(ibv_xrcd* xrcd) {
  return *static_cast<XrcdObject*>(xrcd);
}

struct SrqObject : ibv_srq {
  Engine* engine = nullptr;
  transport::Srq handle_of_device{};
  ibv_srq_attr attributes{};  // the limit is changed under the engine's lock
  std::uint32_t events_taken = 0;
};
[[nodiscard]] inline SrqObject& object_of(ibv_srq* srq) {
  return *static_cast<SrqObject*>(srq);
}

struct QpObject : ibv_qp_ex {
  Engine* engine = nullptr;
  Qpn qpn{};
  ibv_qp_init_attr made_with{};           // with the capacities that it really has
  std::unique_ptr<WorkBuilder> builder;   // if the program builds requests by functions
  std::shared_ptr<XrcDomain> xrc_domain;  // of an XRC target
  std::uint32_t events_taken = 0;
};
[[nodiscard]] inline QpObject& object_of(ibv_qp* qp) {
  // An `ibv_qp` is the first member of an `ibv_qp_ex`.
  return *static_cast<QpObject*>(reinterpret_cast<ibv_qp_ex*>(qp));
}

/// Returns ENOENT if the program has changed the number of an object, by which a kernel would look for it; 0 otherwise.
template <typename Object>
[[nodiscard]] int error_of_handle(const Object& object) {
  return object.handle == object.handle_of_device.index ? 0 : ENOENT;
}
[[nodiscard]] inline int error_of_handle(const QpObject& qp) {
  return qp.qp_base.handle == qp.qpn.value() ? 0 : ENOENT;
}
[[nodiscard]] inline int error_of_handle(const PdObject& pd) {
  return pd.context == pd.made_by && pd.handle == pd.handle_of_device.index ? 0 : ENOENT;
}
/// Returns EIO if the engine of an object is gone, and otherwise what `error_of_handle` says.
template <typename Object>
[[nodiscard]] int error_of(const Object& object) {
  return object.engine->is_usable() ? error_of_handle(object) : EIO;
}

}  // namespace roce::verbs
