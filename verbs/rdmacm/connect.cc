// SPDX-License-Identifier: BSD-2-Clause
// Connections: asked for, listened for, accepted, refused and ended.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "roce/wire/cm_types.h"
#include "roce/wire/cma.h"
#include "verbs/rdmacm/address.h"
#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"

namespace roce::verbs {

namespace {

// Room for private data, as librdmacm has it.
constexpr std::size_t kMostOfRequest = 56;
constexpr std::size_t kMostOfReply = 196;
constexpr std::size_t kMostOfRejection = 148;
constexpr std::size_t kMostOfServiceRequest = 180;
constexpr std::size_t kMostOfServiceReply = 136;
constexpr std::uint8_t kMostRetries = 7;
/// Ports that are tried for a listener that wants any.
constexpr int kPortsTried = 100;

[[nodiscard]] std::uint64_t service_of(const IdObject& id, std::uint16_t port) {
  return ServiceId{static_cast<PortSpace>(id.ps), port}.value();
}

/// Appends private data; false if there is more than `most` bytes.
[[nodiscard]] bool append(CmPrivateData& data, const void* from, std::size_t size, std::size_t most) {
  if (size > most || (from == nullptr && size != 0)) return false;
  if (size != 0) std::memcpy(data.bytes.data() + data.size, from, size);
  data.size += static_cast<std::uint32_t>(size);
  return true;
}

/// Appends the RDMA IP CM header.
void append_header(const IdObject& id, CmPrivateData& data) {
  const Gid to = gid_of(id.route.addr.dst_addr).value_or(Gid{});
  const Gid& from = id.device->address;
  Cma header;
  header.source_port = port_of(id.route.addr.src_addr);
  header.ip_version = to.is_ipv4_mapped() ? 4 : 6;
  header.source_address = from.is_ipv4_mapped() ? Cma::from_ipv4(from.ipv4()) : from;
  header.destination_address = to.is_ipv4_mapped() ? Cma::from_ipv4(to.ipv4()) : to;
  write(header, data.bytes.data());
  data.size = kSize<Cma>;
}

/// READs and atomics that a device can have in each direction.
struct ReadLimits {
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
};

[[nodiscard]] ReadLimits limits_of(const IdObject& id) {
  ibv_device_attr attributes{};
  if (ibv_query_device(id.verbs, &attributes) != 0) return {};
  return {.responder_resources = static_cast<std::uint8_t>(std::min(attributes.max_qp_rd_atom, 0xFE)),
          .initiator_depth = static_cast<std::uint8_t>(std::min(attributes.max_qp_init_rd_atom, 0xFE))};
}

/// Sets what an identifier will take and begin. Returns a number of errno.h.
[[nodiscard]] int set_reads(IdObject& id, const rdma_conn_param* param) {
  const ReadLimits most = limits_of(id);
  if (param == nullptr) {
    if (id.is_passive) return 0;
    id.responder_resources = most.responder_resources;
    id.initiator_depth = most.initiator_depth;
    return 0;
  }
  const bool takes_most = param->responder_resources == RDMA_MAX_RESP_RES;
  const bool begins_most = param->initiator_depth == RDMA_MAX_INIT_DEPTH;
  if ((!takes_most && param->responder_resources > most.responder_resources) ||
      (!begins_most && param->initiator_depth > most.initiator_depth)) {
    return EINVAL;
  }
  // No more is used than a peer asks for.
  const auto least = [&](std::uint8_t wanted, std::uint8_t asked) {
    return id.is_passive ? std::min(wanted, asked) : wanted;
  };
  id.responder_resources =
      least(takes_most ? most.responder_resources : param->responder_resources, id.proposal.initiator_depth);
  id.initiator_depth =
      least(begins_most ? most.initiator_depth : param->initiator_depth, id.proposal.responder_resources);
  return 0;
}

[[nodiscard]] CmProposal propose(const IdObject& id, const rdma_conn_param* param) {
  CmProposal proposal;
  proposal.qpn = id.qp != nullptr ? id.qp->qp_num : (param != nullptr ? param->qp_num : 0);
  const bool has_srq = id.qp != nullptr ? id.qp->srq != nullptr : (param != nullptr && param->srq != 0);
  proposal.srq = has_srq ? 1 : 0;
  proposal.is_uc = id.qp_type == IBV_QPT_UC ? 1 : 0;
  proposal.responder_resources = id.responder_resources;
  proposal.initiator_depth = id.initiator_depth;
  proposal.flow_control = param != nullptr ? param->flow_control : std::uint8_t{1};
  proposal.retry_count = std::min(param != nullptr ? param->retry_count : kMostRetries, kMostRetries);
  proposal.rnr_retry_count = std::min(param != nullptr ? param->rnr_retry_count : kMostRetries, kMostRetries);
  proposal.traffic_class = id.traffic_class;
  return proposal;
}

/// Sends a REQ or SIDR_REQ. Returns a number of errno.h.
[[nodiscard]] int ask(IdObject& id, const rdma_conn_param* param) {
  if (id.device == nullptr || id.connection != 0) return EINVAL;
  const std::optional<Gid> to = gid_of(id.route.addr.dst_addr);
  if (!to) return EINVAL;
  if (const int error = set_reads(id, param); error != 0) return error;
  if (const int error = watch(object_of(id.channel), *id.device); error != 0) return error;
  const bool is_datagram = id.ps == RDMA_PS_UDP;
  CmCommand command{.verb = is_datagram ? CmVerb::resolve : CmVerb::connect,
                    .channel = object_of(id.channel).number,
                    .service = service_of(id, port_of(id.route.addr.dst_addr)),
                    .remote = *to,
                    .proposal = propose(id, param)};
  command.proposal.starting_psn = random_psn();
  append_header(id, command.private_data);
  if (param != nullptr && !append(command.private_data, param->private_data, param->private_data_len,
                                  is_datagram ? kMostOfServiceRequest : kMostOfRequest)) {
    return EINVAL;
  }
  // Its first notice may come before this call has ended: whoever takes that has to wait.
  const std::scoped_lock lock{shared().mutex};
  CmAnswer answer;
  if (const int error = id.device->call(command, &answer); error != 0) return error;
  id.connection = answer.connection;
  id.remote = *to;
  shared().connections[{id.device, id.connection}] = &id;
  return 0;
}

[[nodiscard]] int accept_datagrams(IdObject& id, const rdma_conn_param* param) {
  CmCommand command{.verb = CmVerb::answer, .connection = id.connection, .q_key = RDMA_UDP_QKEY};
  command.proposal.qpn = id.qp != nullptr ? id.qp->qp_num : (param != nullptr ? param->qp_num : 0);
  if (param != nullptr &&
      !append(command.private_data, param->private_data, param->private_data_len, kMostOfServiceReply)) {
    return EINVAL;
  }
  return id.device->call(command);
}

[[nodiscard]] int accept(IdObject& id, const rdma_conn_param* param) {
  if (!id.is_passive || id.connection == 0) return EINVAL;
  if (id.qp_type == IBV_QPT_UD) return accept_datagrams(id, param);
  if (const int error = set_reads(id, param); error != 0) return error;
  id.agreement.max_dest_rd_atomic = id.responder_resources;
  id.agreement.max_rd_atomic = id.initiator_depth;
  CmCommand command{.verb = CmVerb::accept, .connection = id.connection, .proposal = propose(id, param)};
  command.proposal.starting_psn = id.agreement.rq_psn.value();
  if (param != nullptr && !append(command.private_data, param->private_data, param->private_data_len, kMostOfReply)) {
    return EINVAL;
  }
  // Data may follow the peer's RTU at once.
  int error = id.qp != nullptr ? make_ready(id) : 0;
  if (error == 0) error = id.device->call(command);
  if (error != 0) end_qp(id);
  return error;
}

[[nodiscard]] int listen_at(IdObject& id, CmDevice& device, std::uint16_t port) {
  if (const int error = watch(object_of(id.channel), device); error != 0) return error;
  return device.call({.verb = CmVerb::listen,
                      .channel = object_of(id.channel).number,
                      .listener = id.number,
                      .service = service_of(id, port)});
}

/// Listens at all devices that an identifier is bound to. Returns a number of errno.h.
[[nodiscard]] int listen_everywhere(IdObject& id, std::uint16_t port) {
  {
    const std::scoped_lock lock{shared().mutex};
    shared().listeners[id.number] = &id;
  }
  for (CmDevice* const device : devices()) {
    if (id.device != nullptr && id.device != device) continue;
    if (const int error = listen_at(id, *device, port); error != 0) {
      stop_listening(id);
      return error;
    }
    id.listens_at.push_back(device);
  }
  return 0;
}

}  // namespace

int confirm(IdObject& id) {
  return id.device->call({.verb = CmVerb::confirm, .connection = id.connection});
}

void abandon(IdObject& id) {
  if (id.connection != 0) (void)id.device->call({.verb = CmVerb::abandon, .connection = id.connection});
}

void forget(IdObject& id) {
  if (id.connection == 0) return;
  const std::scoped_lock lock{shared().mutex};
  shared().connections.erase({id.device, id.connection});
  id.connection = 0;
}

void announce(IdObject& id) {
  const std::uint64_t service = service_of(id, port_of(id.route.addr.src_addr));
  for (CmDevice* const device : devices()) {
    // It is a courtesy to clients: without it they are refused until the program listens.
    if (id.device == nullptr || id.device == device) (void)device->call({.verb = CmVerb::announce, .service = service});
  }
}

void stop_listening(IdObject& id) {
  for (CmDevice* const device : id.listens_at) {
    (void)device->call({.verb = CmVerb::stop_listening, .listener = id.number});
  }
  id.listens_at.clear();
  const std::scoped_lock lock{shared().mutex};
  shared().listeners.erase(id.number);
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int rdma_connect(struct rdma_cm_id* id, struct rdma_conn_param* conn_param) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    const int error = ask(object, conn_param);
    return error != 0 ? error : complete(object);
  });
}

int rdma_establish(struct rdma_cm_id* id) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    // With a QP of its own the connection is established by then.
    if (object.qp != nullptr || object.connection == 0 || object.is_passive) return EINVAL;
    return confirm(object);
  });
}

int rdma_listen(struct rdma_cm_id* id, int /*backlog*/) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (!object.listens_at.empty() || object.connection != 0) return EINVAL;
    if (size_of(object.route.addr.src_addr) == 0) {
      // Without an address a program listens on all.
      sockaddr_storage all{};
      write_address(Gid::from_ipv4({}), 0, all);
      if (const int error = bind(object, reinterpret_cast<const sockaddr&>(all)); error != 0) return error;
    }
    int error = EADDRINUSE;
    for (int i = 0; error == EADDRINUSE && i < (object.takes_any_port ? kPortsTried : 1); ++i) {
      if (i != 0) set_port(object.route.addr.src_addr, random_port());
      error = listen_everywhere(object, port_of(object.route.addr.src_addr));
    }
    return error;
  });
}

int rdma_accept(struct rdma_cm_id* id, struct rdma_conn_param* conn_param) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (const int error = accept(object, conn_param); error != 0) return error;
    // A datagram service is not established: what comes, comes.
    return object.qp_type == IBV_QPT_UD ? 0 : complete(object);
  });
}

int rdma_reject(struct rdma_cm_id* id, const void* private_data, uint8_t private_data_len) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (object.connection == 0) return EINVAL;
    CmCommand command{.verb = CmVerb::reject, .connection = object.connection};
    if (!append(command.private_data, private_data, private_data_len, kMostOfRejection)) return EINVAL;
    return object.device->call(command);
  });
}

int rdma_disconnect(struct rdma_cm_id* id) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (object.connection == 0 || object.qp_type == IBV_QPT_UD) return EINVAL;
    end_qp(object);
    const int error = object.device->call({.verb = CmVerb::disconnect, .connection = object.connection});
    // The peer was faster: its DREQ has been answered.
    if (error == EINVAL || error == ENOTCONN) return 0;
    return error != 0 ? error : complete(object);
  });
}

int rdma_notify(struct rdma_cm_id* id, enum ibv_event_type event) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (event != IBV_EVENT_COMM_EST || object.connection == 0) return EINVAL;
    return object.device->call({.verb = CmVerb::data_arrived, .connection = object.connection});
  });
}
