// SPDX-License-Identifier: BSD-2-Clause
// LAP: alternate paths, which RoCE does not have.
#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

// CM-LAP-1 (a LAP is answered: alternate paths are not supported); RoCE has none.
void ConnectionManager::Impl::on_lap(const CmLap& lap, const Mad& mad) {
  ManagedConnection* const connection = find(lap.remote_comm_id);
  if (connection == nullptr || connection->remote != lap.local_comm_id) return ignore(Ignored::unknown_connection);
  if (connection->state != State::established) return ignore(Ignored::wrong_state);
  ignore(Ignored::unsupported);
  if (fault(Fault::cm_lap_silent)) return;
  CmApr apr;
  apr.local_comm_id = connection->local;
  apr.remote_comm_id = connection->remote;
  apr.status = CmAprStatus::unsupported;
  send(connection->peer, mad.transaction_id, MadAttribute::cm_apr, apr);
}

}  // namespace roce::cm
