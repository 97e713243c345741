// SPDX-License-Identifier: BSD-2-Clause
// Timers: REQ, REP, SIDR_REQ and DREQ are sent again until they are answered or given up, and timewait ends.
#include "cm/manager_state.h"

namespace roce::cm {

Time ConnectionManager::next_timeout() const {
  return impl_->deadlines.empty() ? kNever : impl_->deadlines.begin()->first;
}

void ConnectionManager::advance(Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  while (!impl.deadlines.empty() && impl.deadlines.begin()->first <= now) {
    ManagedConnection& connection = impl.connections.at(impl.deadlines.begin()->second);
    if (connection.state == State::timewait) {
      impl.say(EventKind::closed, connection);
      impl.forget(connection);
    } else if (connection.retries_left == 0) {
      impl.give_up(connection);
    } else {
      --connection.retries_left;
      impl.send_again(connection);
      impl.wait_until(connection, now + connection.interval);
    }
  }
}

void ConnectionManager::Impl::repeat(ManagedConnection& connection, const OutMessage& sent, Duration interval,
                                     std::uint8_t retries) {
  connection.waits_for_answer = sent;
  connection.interval = interval;
  connection.max_retries = connection.retries_left = retries;
  wait_until(connection, now + interval);
}

void ConnectionManager::Impl::send_again(const ManagedConnection& connection) {
  messages.push_back(connection.waits_for_answer);
  ++counters.sent;
  ++counters.sent_again;
}

void ConnectionManager::Impl::wait_until(ManagedConnection& connection, Time deadline) {
  if (connection.deadline != kNever) deadlines.erase({connection.deadline, connection.local.value()});
  connection.deadline = deadline;
  if (deadline != kNever) deadlines.emplace(deadline, connection.local.value());
}

void ConnectionManager::Impl::give_up(ManagedConnection& connection) {
  switch (connection.state) {
    case State::req_sent:
    case State::mra_req_received:
      send_timeout_rej(connection, CmMessageKind::req);
      say(EventKind::unreachable, connection);
      return forget(connection);
    case State::sidr_req_sent:
      say(EventKind::unreachable, connection);
      return forget(connection);
    case State::rep_sent:
    case State::mra_rep_received:
      send_timeout_rej(connection, CmMessageKind::other);
      say(EventKind::unreachable, connection);
      return forget(connection);
    default:
      say(EventKind::disconnected, connection);
      return enter_timewait(connection);
  }
}

}  // namespace roce::cm
