// SPDX-License-Identifier: BSD-2-Clause
// Services that nobody listens to for a while: requests to them wait for the next listener.
#include <cerrno>
#include <chrono>
#include <map>

#include "verbs/portd/cm_service.h"
#include "verbs/portd/errors.h"

namespace roce::verbs {

namespace {

/// How long requests wait for the next listener of a service that had one: perftest takes a second.
constexpr Duration kLinger = std::chrono::seconds{3};
/// Services that programs may have announced at the same time; more are not kept.
constexpr std::size_t kMostAnnounced = 4096;

}  // namespace

int CmService::announce(ServiceId service) {
  if (listeners_.contains(service)) return EADDRINUSE;
  if (const auto lingering = lingering_.find(service); lingering != lingering_.end()) {
    lingering->second.until = now() + kLinger;
    return 0;
  }
  if (lingering_.size() >= kMostAnnounced) return EAGAIN;
  if (const auto listened = agent_->manager().listen(service); !listened) return errno_of(listened.error());
  lingering_[service].until = now() + kLinger;
  return 0;
}

void CmService::close_service(ServiceId service) {
  listeners_.erase(service);
  lingering_[service].until = now() + kLinger;
}

void CmService::end_lingering() {
  const Time time = now();
  std::erase_if(lingering_, [&](const auto& entry) {
    const auto& [service, linger] = entry;
    if (linger.until > time) return false;
    (void)agent_->manager().stop_listening(service);
    for (const cm::Event& request : linger.requests) {
      if (request.kind == cm::EventKind::request) {
        (void)agent_->manager().reject(request.connection, {.reason = CmRejReason::invalid_service_id}, time);
      } else {
        (void)agent_->manager().answer(request.connection, {.status = CmSidrStatus::unsupported}, time);
      }
    }
    return true;
  });
}

}  // namespace roce::verbs
