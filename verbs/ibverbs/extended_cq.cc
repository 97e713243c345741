// SPDX-License-Identifier: BSD-2-Clause
// Extended CQs: a program takes one completion after the other, and reads of each what it wants.
#include <time.h>

#include <chrono>
#include <span>

#include "verbs/ibverbs/completion_queue.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

/// The fields of a completion that programs can read. Raw packets and tag matching would add VLAN, flow and matched
/// tags.
constexpr std::uint64_t kReadable = static_cast<unsigned>(IBV_WC_STANDARD_FLAGS) |
                                    static_cast<unsigned>(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) |
                                    static_cast<unsigned>(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);

[[nodiscard]] CqObject& cq_of(ibv_cq_ex* cq) {
  return *static_cast<CqObject*>(cq);
}

[[nodiscard]] std::uint64_t nanoseconds(auto since) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// Takes the next completion. ENOENT: there is none.
int take_next(ibv_cq_ex* cq) {
  // That there is none is not a failure: errno stays as it is.
  bool none = false;
  const int error = status_of([&] {
    CqObject& object = cq_of(cq);
    if (!object.engine->is_usable()) return EIO;
    none = object.engine->poll(object.handle_of_device, std::span{&object.current, 1}) == 0;
    if (none) return 0;
    object.taken_at = nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
    object.wall_clock_taken = nanoseconds(std::chrono::system_clock::now().time_since_epoch());
    object.wr_id = object.current.wr_id;
    // The numbers are those of libibverbs.
    object.status = wc_status_of(object.current);
    return 0;
  });
  return none ? ENOENT : error;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  if (attributes->comp_mask != 0) return status_of([] { return EINVAL; });
  return take_next(cq);
}

void set_functions(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = take_next;
  cq.end_poll = [](ibv_cq_ex*) {};
  cq.read_opcode = [](ibv_cq_ex* self) { return opcode_of(cq_of(self).current); };
  cq.read_vendor_err = [](ibv_cq_ex* self) -> std::uint32_t { return cq_of(self).current.syndrome; };
  cq.read_byte_len = [](ibv_cq_ex* self) { return cq_of(self).current.byte_length; };
  cq.read_imm_data = [](ibv_cq_ex* self) { return immediate_of(cq_of(self).current); };
  cq.read_qp_num = [](ibv_cq_ex* self) { return cq_of(self).current.qpn.value(); };
  cq.read_src_qp = [](ibv_cq_ex* self) { return cq_of(self).current.source_qp.value(); };
  cq.read_wc_flags = [](ibv_cq_ex* self) { return flags_of(cq_of(self).current); };
  cq.read_slid = [](ibv_cq_ex*) -> std::uint32_t { return 0; };
  cq.read_sl = [](ibv_cq_ex* self) { return service_level_of(cq_of(self), cq_of(self).current); };
  cq.read_dlid_path_bits = [](ibv_cq_ex*) -> std::uint8_t { return 0; };
  cq.read_completion_ts = [](ibv_cq_ex* self) { return cq_of(self).taken_at; };
  cq.read_completion_wallclock_ns = [](ibv_cq_ex* self) { return cq_of(self).wall_clock_taken; };
}

}  // namespace

ibv_cq_ex* create_extended_cq(ibv_context* context, ibv_cq_init_attr_ex* init) {
  return object_of([&]() -> OrErrno<ibv_cq_ex*> {
    constexpr std::uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    if ((init->comp_mask & ~known) != 0) return refused(EINVAL);
    if ((init->wc_flags & ~kReadable) != 0) return refused(EOPNOTSUPP);
    // One thread or several: it makes no difference here.
    const std::uint32_t flags = (init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? init->flags : 0;
    if ((flags & ~unsigned{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}) != 0) return refused(EOPNOTSUPP);
    const auto made = make_cq(context, {init->cqe, init->cq_context, init->channel, init->comp_vector});
    if (!made) return refused(made.error());
    set_functions(**made);
    return *made;
  });
}

int query_clock(ibv_context* /*context*/, ibv_values_ex* values) {
  return status_of([&] {
    const std::uint32_t wanted = values->comp_mask;
    values->comp_mask = 0;
    if ((wanted & IBV_VALUES_MASK_RAW_CLOCK) == 0) return 0;
    if (::clock_gettime(CLOCK_MONOTONIC, &values->raw_clock) != 0) return errno;
    values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    return 0;
  });
}

}  // namespace roce::verbs
