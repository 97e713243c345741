// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/ibverbs/adapter.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "verbs/counters/counter_page.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/port/port_share.h"
#include "verbs/report/complain.h"

namespace roce::verbs {

namespace {

[[nodiscard]] std::optional<ibv_event_type> type_of(transport::EventType type) {
  switch (type) {
    case transport::EventType::cq_overflow:
      return IBV_EVENT_CQ_ERR;
    case transport::EventType::communication_established:
      return IBV_EVENT_COMM_EST;
    case transport::EventType::sq_drained:
      return IBV_EVENT_SQ_DRAINED;
    case transport::EventType::qp_fatal:
      return IBV_EVENT_QP_FATAL;
    case transport::EventType::qp_request_error:
      return IBV_EVENT_QP_REQ_ERR;
    case transport::EventType::qp_access_error:
      return IBV_EVENT_QP_ACCESS_ERR;
    case transport::EventType::last_wqe_reached:
      return IBV_EVENT_QP_LAST_WQE_REACHED;
    case transport::EventType::srq_limit:
      return IBV_EVENT_SRQ_LIMIT_REACHED;
    default:
      return std::nullopt;
  }
}

/// Returns the file of a device's counters in the tree that roce-run has made; nothing without one.
[[nodiscard]] std::string counter_file_of(const Place& place) {
  const char* const tree = std::getenv("ROCE_VERBS_TREE");
  return tree == nullptr ? std::string{} : tree + (kCounterFolder + place.device_name());
}

template <typename Table>
[[nodiscard]] auto find(const Table& table, std::uint32_t key) -> typename Table::mapped_type {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

Adapter::Adapter(const Place& place)
    : options_{.address = place.address,
               .interface = place.interface,
               .mac = place.mac,
               .path_mtu = place.path_mtu,
               .counter_file = counter_file_of(place)} {}

OrErrno<Engine*> Adapter::engine() {
  const std::scoped_lock lock{starting_};
  if (engine_ == nullptr) {
    link::LinkResult<std::unique_ptr<Engine>> started = start_engine();
    if (!started) {
      complain(started.error().message);
      return refused(started.error().no_permission ? EACCES : ENODEV);
    }
    engine_ = std::move(*started);
  }
  if (!engine_->is_usable()) return refused(EIO);
  return engine_.get();
}

link::LinkResult<std::unique_ptr<Engine>> Adapter::start_engine() {
  PortShare share;
  if (!takes_whole_port()) {
    link::LinkResult<PortShare> joined = join_port(options_.address, options_.interface, daemon_beside_library());
    if (!joined) return tl::unexpected(joined.error());
    share = std::move(*joined);
  }
  return Engine::start(options_, std::move(share),
                       {.on_event = [this](const transport::Event& event) { on_event(event); },
                        .on_gone = [this](const std::string& message) { on_gone(message); }});
}

void Adapter::add(ContextObject& context) {
  const std::scoped_lock lock{contexts_lock_};
  contexts_.push_back(&context);
}

void Adapter::remove(ContextObject& context) {
  {
    const std::scoped_lock lock{contexts_lock_};
    std::erase(contexts_, &context);
  }
  const std::scoped_lock lock{starting_};
  if (engine_ == nullptr || !engine_->is_usable()) return;
  // Objects that the program did not destroy have nowhere to report to.
  engine_->use([&](transport::Device&, Time) {
    std::erase_if(cqs_, [&](const auto& entry) { return entry.second->context == &context.context; });
    std::erase_if(srqs_, [&](const auto& entry) { return entry.second->context == &context.context; });
    std::erase_if(qps_, [&](const auto& entry) { return entry.second->qp_base.context == &context.context; });
    return 0;
  });
}

void Adapter::add(CqObject& cq) {
  cqs_[cq.handle_of_device.index] = &cq;
}

void Adapter::add(QpObject& qp) {
  qps_.emplace(qp.qpn.value(), &qp);
}

void Adapter::add(SrqObject& srq) {
  srqs_[srq.handle_of_device.index] = &srq;
}

void Adapter::remove(const CqObject& cq) {
  cqs_.erase(cq.handle_of_device.index);
}

void Adapter::remove(const QpObject& qp) {
  const auto [begin, end] = qps_.equal_range(qp.qpn.value());
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second == &qp; });
  if (found != end) qps_.erase(found);
}

void Adapter::remove(const SrqObject& srq) {
  srqs_.erase(srq.handle_of_device.index);
}

QpObject* Adapter::find_qp(Qpn qpn) const {
  const auto found = qps_.find(qpn.value());
  return found == qps_.end() ? nullptr : found->second;
}

void Adapter::add(const std::shared_ptr<XrcDomain>& domain) {
  std::erase_if(domains_, [](const auto& each) { return each.expired(); });
  domains_.push_back(domain);
}

std::shared_ptr<XrcDomain> Adapter::find_domain(const FileId& file) const {
  for (const std::weak_ptr<XrcDomain>& each : domains_) {
    std::shared_ptr<XrcDomain> domain = each.lock();
    if (domain != nullptr && domain->opened != 0 && domain->file == file) return domain;
  }
  return nullptr;
}

void Adapter::on_event(const transport::Event& event) {
  switch (event.type) {
    case transport::EventType::cq_ready:
      if (CqObject* cq = find(cqs_, event.cq.index); cq != nullptr && cq->channel != nullptr) {
        object_of(cq->channel).events.push(cq);
      }
      return;
    case transport::EventType::cq_overflow:
      if (CqObject* cq = find(cqs_, event.cq.index); cq != nullptr) {
        object_of(cq->context).events.push({.element = {.cq = cq->as_cq()}, .event_type = IBV_EVENT_CQ_ERR});
      }
      return;
    case transport::EventType::srq_limit:
      if (SrqObject* srq = find(srqs_, event.srq.index); srq != nullptr) {
        srq->attributes.srq_limit = 0;
        object_of(srq->context).events.push({.element = {.srq = srq}, .event_type = IBV_EVENT_SRQ_LIMIT_REACHED});
      }
      return;
    default:
      on_qp_event(event);
  }
}

void Adapter::on_qp_event(const transport::Event& event) {
  const std::optional<ibv_event_type> type = type_of(event.type);
  if (!type) return;
  const auto [begin, end] = qps_.equal_range(event.qpn.value());
  for (auto entry = begin; entry != end; ++entry) {
    ibv_qp& qp = entry->second->qp_base;
    object_of(qp.context).events.push({.element = {.qp = &qp}, .event_type = *type});
  }
}

void Adapter::on_gone(const std::string& message) {
  complain(message);
  const std::scoped_lock lock{contexts_lock_};
  for (ContextObject* context : contexts_) {
    context->events.push({.element = {.port_num = 1}, .event_type = IBV_EVENT_DEVICE_FATAL});
  }
}

}  // namespace roce::verbs
