// SPDX-License-Identifier: BSD-2-Clause
// XRC: domains, their SRQs, and targets that are opened once more. A domain is of one process.
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"
#include "verbs/ibverbs/shared_receive.h"

namespace roce::verbs {

namespace {

constexpr int kNoFile = -1;

/// Returns the file behind a descriptor, or EBADF and the like.
[[nodiscard]] OrErrno<FileId> file_of(int descriptor) {
  if (descriptor == kNoFile) return FileId{};
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return refused(errno);
  return FileId{about.st_dev, about.st_ino};
}

/// Finds the domain of a file or makes one, as `flags` allow.
[[nodiscard]] OrErrno<std::shared_ptr<XrcDomain>> open_domain(Adapter& adapter, transport::Device& device,
                                                              const FileId& file, int descriptor, int flags) {
  if (file != FileId{}) {
    // The errors are those of Linux.
    std::shared_ptr<XrcDomain> domain = adapter.find_domain(file);
    if (domain != nullptr && (flags & O_EXCL) != 0) return refused(EINVAL);
    if (domain == nullptr && (flags & O_CREAT) == 0) return refused(EAGAIN);
    if (domain != nullptr) return domain;
  }
  auto domain = std::make_shared<XrcDomain>();
  const auto made = device.create_xrcd();
  if (!made) return refused(errno_of(made.error()));
  domain->handle_of_device = *made;
  domain->file = file;
  if (file != FileId{}) {
    domain->keeps_file = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    adapter.add(domain);
  }
  return domain;
}

}  // namespace

ibv_xrcd* open_xrc_domain(ibv_context* context, ibv_xrcd_init_attr* init) {
  return object_of([&]() -> OrErrno<ibv_xrcd*> {
    constexpr std::uint32_t needed = unsigned{IBV_XRCD_INIT_ATTR_FD} | unsigned{IBV_XRCD_INIT_ATTR_OFLAGS};
    if ((init->comp_mask & ~needed) != 0) return refused(EOPNOTSUPP);
    if (init->comp_mask != needed) return refused(EINVAL);
    const OrErrno<FileId> file = file_of(init->fd);
    if (!file) return refused(file.error());
    Adapter& adapter = *object_of(context).adapter;
    const OrErrno<Engine*> engine = adapter.engine();
    if (!engine) return refused(engine.error());
    auto xrcd = std::make_unique<XrcdObject>();
    xrcd->context = context;
    xrcd->engine = *engine;
    const int error = (*engine)->use([&](transport::Device& device, Time) {
      auto domain = open_domain(adapter, device, *file, init->fd, init->oflags);
      if (!domain) return domain.error();
      xrcd->domain = std::move(*domain);
      ++xrcd->domain->opened;
      return 0;
    });
    if (error != 0) return refused(error);
    return xrcd.release();
  });
}

int close_xrc_domain(ibv_xrcd* xrcd) {
  return status_of([&] {
    XrcdObject& object = object_of(xrcd);
    if (object.engine->is_usable()) {
      const int error = object.engine->use([&](transport::Device& device, Time) {
        // It ends with the last `ibv_xrcd` of it.
        XrcDomain& domain = *object.domain;
        const int refusal = domain.opened > 1 ? 0 : errno_of(device.destroy_xrcd(domain.handle_of_device));
        if (refusal == 0) --domain.opened;
        return refusal;
      });
      if (error != 0) return error;
    }
    delete &object;
    return 0;
  });
}

ibv_srq* create_extended_srq(ibv_context* /*context*/, ibv_srq_init_attr_ex* init) {
  return object_of([&]() -> OrErrno<ibv_srq*> {
    constexpr std::uint32_t known = unsigned{IBV_SRQ_INIT_ATTR_TYPE} | unsigned{IBV_SRQ_INIT_ATTR_PD} |
                                    unsigned{IBV_SRQ_INIT_ATTR_XRCD} | unsigned{IBV_SRQ_INIT_ATTR_CQ};
    const bool has_type = (init->comp_mask & unsigned{IBV_SRQ_INIT_ATTR_TYPE}) != 0;
    if ((init->comp_mask & ~known) != 0 || (has_type && init->srq_type > IBV_SRQT_XRC)) return refused(EOPNOTSUPP);
    if ((init->comp_mask & unsigned{IBV_SRQ_INIT_ATTR_PD}) == 0) return refused(EINVAL);
    if (!has_type || init->srq_type == IBV_SRQT_BASIC)
      return make_srq(init->pd, init->srq_context, init->attr, nullptr);
    if (init->comp_mask != known || init->cq == nullptr || init->xrcd == nullptr) return refused(EINVAL);
    CqObject& cq = object_of(init->cq);
    if (const int error = error_of_handle(cq); error != 0) return refused(error);
    const XrcPart xrc{object_of(init->xrcd).domain->handle_of_device, cq.handle_of_device};
    return make_srq(init->pd, init->srq_context, init->attr, &xrc);
  });
}

int get_srq_number(ibv_srq* srq, std::uint32_t* number) {
  return status_of([&] {
    SrqObject& object = object_of(srq);
    if (const int error = error_of(object); error != 0) return error;
    const auto found = object.engine->use(
        [&](transport::Device& device, Time) { return device.xrc_srq_number(object.handle_of_device); });
    if (!found) return errno_of(found.error());
    *number = found->value();
    return 0;
  });
}

ibv_qp* open_target_qp(ibv_context* context, ibv_qp_open_attr* wanted) {
  return object_of([&]() -> OrErrno<ibv_qp*> {
    constexpr std::uint32_t needed =
        unsigned{IBV_QP_OPEN_ATTR_NUM} | unsigned{IBV_QP_OPEN_ATTR_XRCD} | unsigned{IBV_QP_OPEN_ATTR_TYPE};
    constexpr std::uint32_t known = needed | unsigned{IBV_QP_OPEN_ATTR_CONTEXT};
    if ((wanted->comp_mask & ~known) != 0) return refused(EOPNOTSUPP);
    if ((wanted->comp_mask & needed) != needed || wanted->qp_type != IBV_QPT_XRC_RECV) return refused(EINVAL);
    XrcdObject& xrcd = object_of(wanted->xrcd);
    if (!xrcd.engine->is_usable()) return refused(EIO);
    Adapter& adapter = *object_of(context).adapter;
    auto qp = std::make_unique<QpObject>();
    qp->engine = xrcd.engine;
    qp->qpn = Qpn{wanted->qp_num};
    qp->xrc_domain = xrcd.domain;
    ibv_qp& base = qp->qp_base;
    base.context = context;
    base.qp_context = (wanted->comp_mask & unsigned{IBV_QP_OPEN_ATTR_CONTEXT}) != 0 ? wanted->qp_context : nullptr;
    base.handle = base.qp_num = wanted->qp_num;
    base.qp_type = IBV_QPT_XRC_RECV;
    ::pthread_mutex_init(&base.mutex, nullptr);
    ::pthread_cond_init(&base.cond, nullptr);
    const int error = xrcd.engine->use([&](transport::Device&, Time) {
      const QpObject* first = adapter.find_qp(qp->qpn);
      if (first == nullptr || first->xrc_domain != xrcd.domain) return EINVAL;
      qp->made_with = first->made_with;
      qp->made_with.qp_context = base.qp_context;
      base.state = first->qp_base.state;
      // Events may come from now on.
      adapter.add(*qp);
      return 0;
    });
    if (error != 0) return refused(error);
    return &qp.release()->qp_base;
  });
}

}  // namespace roce::verbs
