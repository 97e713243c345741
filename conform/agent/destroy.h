// SPDX-License-Identifier: BSD-2-Clause
// Objects of verbs that are destroyed with their owner.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace roce::conform {

/// Destroys an object of verbs; for std::unique_ptr.
struct Destroy {
  void operator()(ibv_context* context) const { (void)ibv_close_device(context); }
  void operator()(ibv_pd* pd) const { (void)ibv_dealloc_pd(pd); }
  void operator()(ibv_cq* cq) const { (void)ibv_destroy_cq(cq); }
  void operator()(ibv_comp_channel* channel) const { (void)ibv_destroy_comp_channel(channel); }
  void operator()(ibv_mr* mr) const { (void)ibv_dereg_mr(mr); }
  void operator()(ibv_mw* mw) const { (void)ibv_dealloc_mw(mw); }
  void operator()(ibv_ah* ah) const { (void)ibv_destroy_ah(ah); }
  void operator()(ibv_qp* qp) const { (void)ibv_destroy_qp(qp); }
  void operator()(ibv_srq* srq) const { (void)ibv_destroy_srq(srq); }
};

using Context = std::unique_ptr<ibv_context, Destroy>;
using Pd = std::unique_ptr<ibv_pd, Destroy>;
using Channel = std::unique_ptr<ibv_comp_channel, Destroy>;
using Cq = std::unique_ptr<ibv_cq, Destroy>;
using Mr = std::unique_ptr<ibv_mr, Destroy>;
using Mw = std::unique_ptr<ibv_mw, Destroy>;
using Ah = std::unique_ptr<ibv_ah, Destroy>;
using Qp = std::unique_ptr<ibv_qp, Destroy>;
using Srq = std::unique_ptr<ibv_srq, Destroy>;

}  // namespace roce::conform
