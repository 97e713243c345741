// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol that post work requests and read completions.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/agent/agent_names.h"
#include "conform/agent/agent_session.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/control_names.h"
#include "roce/live/memory_requests.h"

namespace roce::conform {

namespace {

using live::number;
using live::Refusal;
using live::text;
using Json = nlohmann::json;

constexpr std::uint64_t kLargestWrId = (std::uint64_t{1} << 63) - 1;
constexpr std::size_t kMaxPieces = 16;
constexpr int kMostPolled = 4096;
constexpr std::size_t kMaxBindings = 1024;

[[nodiscard]] bool is_receive(const ibv_wc& completion) {
  return (completion.opcode & IBV_WC_RECV) != 0;
}

/// True if verbs define the number of bytes of a completion that is a success: that of what came in.
[[nodiscard]] bool has_length(const ibv_wc& completion) {
  return is_receive(completion) || completion.opcode == IBV_WC_RDMA_READ || completion.opcode == IBV_WC_COMP_SWAP ||
         completion.opcode == IBV_WC_FETCH_ADD;
}

[[nodiscard]] nlohmann::ordered_json answer_of(const ibv_wc& completion) {
  nlohmann::ordered_json item{{"wr_id", completion.wr_id}, {"status", to_text(completion.status)}};
  // Nothing else than these and the QP is defined after a failure.
  const bool is_success = completion.status == IBV_WC_SUCCESS;
  if (const auto opcode = is_success ? to_text(completion.opcode) : std::nullopt) item["opcode"] = *opcode;
  item["qp"] = completion.qp_num;
  if (!is_success) return item;
  if (has_length(completion)) item["byte_length"] = completion.byte_len;
  // Soft-RoCE sets the flag for requests too, and then there is no value.
  if (!is_receive(completion)) return item;
  if ((completion.wc_flags & IBV_WC_WITH_IMM) != 0) item["immediate"] = ntohl(completion.imm_data);
  if ((completion.wc_flags & IBV_WC_WITH_INV) != 0) item["invalidated"] = completion.invalidated_rkey;
  return item;
}

/// Reads the members that belong to the opcode of a request.
void take_members(const Json& members, ibv_send_wr& request) {
  const auto address = number<std::uint64_t>(members, "remote_address", 0, UINT64_MAX, 0);
  const auto r_key = number<std::uint32_t>(members, "r_key", 0, UINT32_MAX, 0);
  switch (request.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
      request.wr.rdma.remote_addr = address;
      request.wr.rdma.rkey = r_key;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      request.wr.atomic.remote_addr = address;
      request.wr.atomic.rkey = r_key;
      request.wr.atomic.compare_add = number<std::uint64_t>(members, "compare_add", 0, UINT64_MAX, 0);
      request.wr.atomic.swap = number<std::uint64_t>(members, "swap", 0, UINT64_MAX, 0);
      break;
    default:
      break;
  }
  if (request.opcode == IBV_WR_SEND_WITH_IMM || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    request.imm_data = htonl(number<std::uint32_t>(members, "immediate", 0, UINT32_MAX, 0));
  } else if (request.opcode == IBV_WR_SEND_WITH_INV || request.opcode == IBV_WR_LOCAL_INV) {
    request.invalidate_rkey = number<std::uint32_t>(members, "invalidate", 0, UINT32_MAX, 0);
  }
}

[[nodiscard]] unsigned flags_of(const Json& members) {
  unsigned flags = 0;
  if (!members.contains("signaled") || live::flag(members, "signaled")) flags |= IBV_SEND_SIGNALED;
  if (live::flag(members, "solicited")) flags |= IBV_SEND_SOLICITED;
  if (live::flag(members, "fence")) flags |= IBV_SEND_FENCE;
  return flags;
}

}  // namespace

std::vector<ibv_sge> AgentSession::pieces_of(const Json& request) {
  std::vector<ibv_sge> pieces;
  if (request.contains("pieces")) {
    if (request.contains("memory")) throw Refusal("a request has \"memory\" or \"pieces\", not both");
    const Json list = live::list(request, "pieces");
    if (list.size() > kMaxPieces)
      throw Refusal(fmt::format("\"pieces\" has {}, needs at most {}", list.size(), kMaxPieces));
    for (const Json& piece : list) {
      if (!piece.is_object()) {
        throw Refusal(fmt::format("\"pieces\" has {}, needs objects", json_input::shown_value(piece)));
      }
      pieces.push_back({.addr = number<std::uint64_t>(piece, "address", 0, UINT64_MAX),
                        .length = number<std::uint32_t>(piece, "length", 0, UINT32_MAX),
                        .lkey = number<std::uint32_t>(piece, "l_key", 0, UINT32_MAX)});
    }
  } else if (request.contains("memory")) {
    const AgentMemory& memory = memory_of(request);
    const std::span<std::byte> range = live::range_of(memory.pages.bytes(), request, UINT32_MAX);
    const auto offset = static_cast<std::uint64_t>(range.data() - memory.pages.bytes().data());
    pieces.push_back(
        {.addr = memory.address + offset, .length = static_cast<std::uint32_t>(range.size()), .lkey = memory.mr->lkey});
  }
  return pieces;
}

AgentSession::Answer AgentSession::post_receive(const Json& request) {
  const bool is_shared = request.contains("srq");
  if (is_shared && request.contains("qp")) throw Refusal("a receive is for a \"qp\" or for an \"srq\", not for both");
  std::vector<ibv_sge> pieces = pieces_of(request);
  ibv_recv_wr receive{};
  receive.wr_id = number<std::uint64_t>(request, "wr_id", 0, kLargestWrId, 0);
  receive.sg_list = pieces.data();
  receive.num_sge = static_cast<int>(pieces.size());
  ibv_recv_wr* bad = nullptr;
  if (is_shared) {
    check("post_receive", "ibv_post_srq_recv", ibv_post_srq_recv(&srq_of(request), &receive, &bad));
  } else {
    check("post_receive", "ibv_post_recv", ibv_post_recv(qp_of(request).qp.get(), &receive, &bad));
  }
  return {};
}

AgentSession::Answer AgentSession::post_send(const Json& request) {
  AgentQp& qp = qp_of(request);
  ibv_send_wr send{};
  send.wr_id = number<std::uint64_t>(request, "wr_id", 0, kLargestWrId, 0);
  send.opcode = opcode_of(text(request, "opcode"));
  send.send_flags = flags_of(request);
  if (send.opcode == IBV_WR_BIND_MW) {
    bind_window(qp, send, request);
    return {};
  }
  if (send.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || send.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) need("atomics");
  if (send.opcode == IBV_WR_SEND_WITH_INV || send.opcode == IBV_WR_LOCAL_INV) need("invalidate");
  std::vector<ibv_sge> pieces = pieces_of(request);
  send.sg_list = pieces.data();
  send.num_sge = static_cast<int>(pieces.size());
  take_members(request, send);
  if (qp.type == IBV_QPT_UD) {
    if (!qp.ah) throw Refusal("the queue pair has no address yet; give it with connect_qp");
    send.wr.ud.ah = qp.ah.get();
    send.wr.ud.remote_qpn = number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax);
    send.wr.ud.remote_qkey = number<std::uint32_t>(request, "q_key", 0, UINT32_MAX, live::kControlQKey);
  }
  ibv_send_wr* bad = nullptr;
  check("post_send", "ibv_post_send", ibv_post_send(qp.qp.get(), &send, &bad));
  return {};
}

void AgentSession::bind_window(AgentQp& qp, ibv_send_wr& request, const Json& members) {
  AgentWindow& window = window_of(members);
  const Binding binding{.qpn = qp.qp->qp_num,
                        .wr_id = request.wr_id,
                        .window = number<ObjectNumber>(members, "window", 0, UINT32_MAX),
                        .old_key = window.mw->rkey};
  ibv_mw_bind_info info{};
  info.length = number<std::uint64_t>(members, "bind_length", 0, UINT64_MAX, 0);
  // Providers need a region for unbinding, too.
  const bool is_unbinding = info.length == 0 && !members.contains("region");
  const ObjectNumber named = is_unbinding ? window.region : number<ObjectNumber>(members, "region", 0, UINT32_MAX);
  const auto region = objects_.regions.find(named);
  if (region == objects_.regions.end()) throw Refusal("\"region\" was not made by this connection, or is missing");
  info.mr = region->second.mr.get();
  info.addr = number<std::uint64_t>(members, "bind_address", 0, UINT64_MAX, region->second.address);
  info.mw_access_flags = access_of(members);
  if (window.type == IBV_MW_TYPE_1) {
    ibv_mw_bind bind{.wr_id = request.wr_id, .send_flags = request.send_flags, .bind_info = info};
    check("post_send", "ibv_bind_mw", ibv_bind_mw(qp.qp.get(), window.mw.get(), &bind));
  } else {
    constexpr std::uint32_t kVariant = 0xFF;
    request.bind_mw.mw = window.mw.get();
    request.bind_mw.rkey =
        (window.mw->rkey & ~kVariant) | number<std::uint32_t>(members, "key_variant", 0, kVariant, 0);
    request.bind_mw.bind_info = info;
    ibv_send_wr* bad = nullptr;
    check("post_send", "ibv_post_send", ibv_post_send(qp.qp.get(), &request, &bad));
    // The next bind names the key that the window has then, which is for the caller of verbs to remember.
    window.mw->rkey = request.bind_mw.rkey;
  }
  window.region = named;
  if (bindings_.size() == kMaxBindings) bindings_.pop_front();
  bindings_.push_back(binding);
}

void AgentSession::settle_binding(const ibv_wc& completion) {
  const auto found = std::ranges::find_if(bindings_, [&](const Binding& binding) {
    return binding.qpn == completion.qp_num && binding.wr_id == completion.wr_id;
  });
  if (found == bindings_.end()) return;
  const auto window = objects_.windows.find(found->window);
  if (completion.status != IBV_WC_SUCCESS && window != objects_.windows.end()) {
    window->second.mw->rkey = found->old_key;
  }
  bindings_.erase(found);
}

AgentSession::Answer AgentSession::poll(const Json& request) {
  const auto most = number<int>(request, "max", 1, kMostPolled, 256);
  std::vector<ibv_wc> found;
  const bool is_own = !request.contains("cq");
  if (is_own) {
    const auto end = completions_.begin() + std::min<std::ptrdiff_t>(most, std::ssize(completions_));
    found.assign(completions_.begin(), end);
    completions_.erase(completions_.begin(), end);
  } else {
    found.resize(static_cast<std::size_t>(most));
    const int count = ibv_poll_cq(&cq_of(request, "cq"), most, found.data());
    if (count < 0) throw Refusal("poll: ibv_poll_cq: the completion queue has failed");
    found.resize(static_cast<std::size_t>(count));
    std::ranges::for_each(found, [this](const ibv_wc& completion) { settle_binding(completion); });
  }
  Answer list = Answer::array();
  for (const ibv_wc& completion : found) {
    Answer item = answer_of(completion);
    // By the queue pair: Soft-RoCE reports a network header for every message.
    const auto qp = objects_.qps.find(completion.qp_num);
    const bool is_datagram = qp != objects_.qps.end() && qp->second.type == IBV_QPT_UD;
    if (is_datagram && completion.status == IBV_WC_SUCCESS && is_receive(completion)) {
      item["source_qp"] = completion.src_qp;
    }
    list.push_back(std::move(item));
  }
  return {{"completions", std::move(list)}, {"lost", is_own ? lost_completions_ : 0}};
}

}  // namespace roce::conform
