// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "roce/json_input/json_input.h"
#include "roce/live/control_names.h"
#include "roce/live/control_request.h"
#include "roce/live/pattern.h"
#include "roce/live/token_guard.h"
#include "roce/port/address_text.h"

namespace roce::live {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;

constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxInline = 1 << 20;  // bytes of memory read by one request
/// Work done before frames and other clients have their turn: parts of memory compared, and bytes converted to text.
constexpr std::size_t kParts = 1024;
constexpr std::size_t kHexSlice = 64 << 10;
constexpr std::size_t kLongestId = 256;
constexpr std::size_t kMaxCompletions = 65536;
constexpr std::uint32_t kCqSize = 1 << 18;
constexpr std::uint32_t kMaxQueue = 4096;
/// The largest work request number that a client may use.
constexpr std::uint64_t kMaxRequest = ControlSinks::kFirstRequest - 1;

[[nodiscard]] std::string name_of(CmAcceptor::State state) {
  switch (state) {
    case CmAcceptor::State::none:
      break;
    case CmAcceptor::State::waiting:
      return "waiting";
    case CmAcceptor::State::connected:
      return "connected";
    case CmAcceptor::State::over:
      return "over";
  }
  return "none";
}

template <typename T>
T carried_out(transport::VerbResult<T> result, std::string_view what) {
  if (!result) throw Refusal(fmt::format("{}: {}", what, to_string(result.error())));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace

ControlSession::ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms)
    : endpoint_(endpoint), device_(endpoint_.device()), terms_(std::move(terms)), sinks_(device_) {
  if (cm != nullptr) acceptor_.emplace(*cm);
}

ControlSession::~ControlSession() {
  (void)close();
}

void ControlSession::open_device() {
  if (is_open_) return;
  pd_ = carried_out(device_.create_pd(), "hello");
  is_open_ = true;
  cq_ = carried_out(device_.create_cq(kCqSize), "hello");
}

std::vector<PeerMemory> ControlSession::close() {
  work_ = nullptr;
  for (const auto& [qpn, type] : qps_) {
    if (acceptor_) acceptor_->forget(qpn);
    (void)device_.destroy_qp(qpn);
  }
  qps_.clear();
  for (const auto& [qpn, ah] : ahs_) (void)device_.destroy_ah(ah);
  ahs_.clear();
  sinks_.clear();
  std::vector<PeerMemory> pages;
  for (const auto& [id, memory] : memories_) {
    (void)device_.deregister_memory(memory->mr);
    pages.push_back(std::move(memory->pages));
  }
  memories_.clear();
  if (std::exchange(is_open_, false)) {
    (void)device_.destroy_cq(cq_);
    (void)device_.destroy_pd(pd_);
  }
  return pages;
}

const std::map<std::string_view, ControlSession::Operation>& ControlSession::operations() {
  static const std::map<std::string_view, Operation> kOperations{
      {"hello", &ControlSession::hello},
      {"create_memory", &ControlSession::create_memory},
      {"fill_memory", &ControlSession::fill_memory},
      {"check_memory", &ControlSession::check_memory},
      {"read_memory", &ControlSession::read_memory},
      {"write_memory", &ControlSession::write_memory},
      {"create_qp", &ControlSession::create_qp},
      {"connect_qp", &ControlSession::connect_qp},
      {"accept_qp", &ControlSession::accept_qp},
      {"reject_next", &ControlSession::reject_next},
      {"qp_status", &ControlSession::qp_status},
      {"destroy_qp", &ControlSession::destroy_qp},
      {"post_receive", &ControlSession::post_receive},
      {"post_send", &ControlSession::post_send},
      {"poll", &ControlSession::poll_completions},
      {"sink", &ControlSession::sink},
      {"sink_status", &ControlSession::sink_status},
      {"counters", &ControlSession::counters},
  };
  return kOperations;
}

ControlSession::Answer ControlSession::finished(const Answer& result) {
  Answer answer = std::move(*answer_);
  answer_.reset();
  answer["ok"] = true;
  if (!result.is_null()) answer.update(result);
  return answer;
}

std::optional<nlohmann::ordered_json> ControlSession::handle(const Json& request, Time now) {
  answer_ = std::make_unique<Answer>(Answer::object());
  try {
    if (!request.is_object()) throw Refusal("a request is one JSON object on a line");
    if (const auto id = request.find("id"); id != request.end()) {
      const bool is_long = id->is_string() && id->get_ref<const std::string&>().size() > kLongestId;
      if (id->is_structured() || is_long) {
        throw Refusal(fmt::format("\"id\" is {}, needs a number, a text of at most {} bytes, true, false or null",
                                  json_input::shown_value(*id), kLongestId));
      }
      (*answer_)["id"] = *id;
    }
    const std::string op = text(request, "op");
    const auto found = operations().find(op);
    if (found == operations().end()) {
      throw Refusal(fmt::format("there is no operation \"{}\"", json_input::shown_text(op)));
    }
    if (!greeted_ && op != "hello") throw Refusal("say hello first");
    const Answer result = (this->*found->second)(request, now);
    if (work_ != nullptr) return std::nullopt;
    return finished(result);
  } catch (const std::exception& refusal) {
    Answer answer = std::move(*answer_);
    answer["ok"] = false;
    answer["error"] = refusal.what();
    return answer;
  }
}

std::optional<nlohmann::ordered_json> ControlSession::work() {
  const std::optional<Answer> result = work_();
  if (!result) return std::nullopt;
  work_ = nullptr;
  return finished(*result);
}

ControlSession::Greeting ControlSession::judge(const Json& hello, const Terms& terms, std::string& why) {
  try {
    const int version = number<int>(hello, "version", 0, 1'000'000);
    if (version != kVersion) {
      why = fmt::format("version {} is not spoken here, {} is; use the same roce-gen on both sides", version, kVersion);
      return Greeting::wrong;
    }
    if (!terms.token.empty() && (!hello.contains("token") || !is_same_secret(text(hello, "token"), terms.token))) {
      why = "the token is wrong; give --token-file the file that the peer was started with";
      return Greeting::wrong_token;
    }
    if (const auto shard = hello.find("shard"); shard != hello.end() && *shard != kAnyShard) {
      (void)number<std::uint32_t>(hello, "shard", 0, terms.shards - 1);
    }
  } catch (const Refusal& refusal) {
    why = refusal.what();
    return Greeting::wrong;
  }
  return Greeting::right;
}

ControlSession::Answer ControlSession::hello(const Json& request, Time) {
  std::string why;
  greeting_ = judge(request, terms_, why);
  if (greeting_ != Greeting::right) throw Refusal(why);
  greeting_ = Greeting::wrong;
  open_device();
  greeting_ = Greeting::right;
  greeted_ = true;
  return {{"version", kVersion},
          {"gid", to_string(endpoint_.gid())},
          {"max_path_mtu", endpoint_.max_path_mtu()},
          {"shard", terms_.shard},
          {"shards", terms_.shards}};
}

CmAcceptor& ControlSession::acceptor() {
  if (acceptor_) return *acceptor_;
  throw Refusal(
      fmt::format("RDMA CM is with shard 0, and this is shard {}; leave \"shard\" out of hello", terms_.shard));
}

ControlSession::Memory& ControlSession::memory_of(const Json& request) {
  const auto found = memories_.find(number<std::uint32_t>(request, "memory", 0, 0xFFFF'FFFF));
  if (found == memories_.end()) throw Refusal("\"memory\" was not made by this connection");
  return *found->second;
}

std::span<std::byte> ControlSession::range_of(const Memory& memory, const Json& request, std::uint64_t longest) {
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  const std::uint64_t left = memory.bytes.size() - offset;
  const auto length = number<std::uint64_t>(request, "length", 0, std::min(left, longest), std::min(left, longest));
  return memory.bytes.subspan(offset, length);
}

Qpn ControlSession::qp_of(const Json& request) const {
  const Qpn qpn{number<std::uint32_t>(request, "qp", 0, Qpn::kMax)};
  if (!qps_.contains(qpn)) throw Refusal("\"qp\" was not made by this connection");
  return qpn;
}

ControlSession::Answer ControlSession::create_memory(const Json& request, Time) {
  const auto length = number<std::uint64_t>(request, "length", 1, kMaxMemory);
  Access access = Access::local_write;
  for (const Json& name : list(request, "access")) {
    if (!name.is_string())
      throw Refusal(fmt::format("\"access\" has {}, needs names of rights", json_input::shown_value(name)));
    access = access | access_of(name.get<std::string>());
  }
  const bool invalidatable = flag(request, "invalidatable");
  Result<PeerMemory> pages = PeerMemory::make(terms_.budget, length);
  if (!pages) throw Refusal("create_memory: " + pages.error().message);
  const std::span<std::byte> bytes = pages->bytes();
  auto memory = std::make_unique<Memory>(Memory{.pages = std::move(*pages), .bytes = bytes});
  memory->mr = carried_out(
      device_.register_memory(pd_, {.memory = memory->bytes, .access = access, .invalidatable = invalidatable}),
      "create_memory");
  memory->info = *device_.query_mr(memory->mr);
  const std::uint32_t id = next_memory_++;
  Answer answer{
      {"memory", id}, {"address", memory->info.address}, {"r_key", memory->info.r_key.value()}, {"length", length}};
  memories_.emplace(id, std::move(memory));
  return answer;
}

ControlSession::Answer ControlSession::fill_memory(const Json& request, Time) {
  const std::span<std::byte> range = range_of(memory_of(request), request, kMaxMemory);
  const auto seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  work_ = [range, seed, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    const std::size_t size = std::min(kPatternSlice, range.size() - done);
    fill_pattern(range.subspan(done, size), seed_at(seed, done));
    done += size;
    if (done < range.size()) return std::nullopt;
    return Answer{};
  };
  return {};
}

ControlSession::Answer ControlSession::check_memory(const Json& request, Time) {
  const Memory& memory = memory_of(request);
  std::vector<Patterned> parts;
  const auto add = [&](const Json& part) {
    parts.push_back({.bytes = range_of(memory, part, kMaxMemory),
                     .seed = number<std::uint64_t>(part, "seed", 0, UINT64_MAX),
                     .offset = number<std::uint64_t>(part, "offset", 0, UINT64_MAX, 0)});
  };
  if (!request.contains("parts")) {
    add(request);
  } else {
    for (const Json& part : list(request, "parts")) {
      if (!part.is_object()) {
        throw Refusal(fmt::format("\"parts\" has {}, needs objects", json_input::shown_value(part)));
      }
      add(part);
    }
  }
  work_ = [parts = std::move(parts), at = std::size_t{0}, done = std::size_t{0}]() mutable -> std::optional<Answer> {
    std::size_t left = kPatternSlice;
    for (std::size_t count = 0; at < parts.size() && left != 0 && count < kParts; ++count) {
      const Patterned& part = parts[at];
      const std::size_t size = std::min(left, part.bytes.size() - done);
      if (const auto wrong = find_wrong_byte(part.bytes.subspan(done, size), seed_at(part.seed, done))) {
        return Answer{{"equal", false}, {"wrong_at", part.offset + done + *wrong}};
      }
      done += size;
      // A slice ends at the boundary of a word of the pattern.
      left = whole_words(left - size);
      if (done < part.bytes.size()) continue;
      ++at;
      done = 0;
    }
    if (at < parts.size()) return std::nullopt;
    return Answer{{"equal", true}};
  };
  return {};
}

ControlSession::Answer ControlSession::read_memory(const Json& request, Time) {
  const std::span<const std::byte> range = range_of(memory_of(request), request, kMaxInline);
  work_ = [range, done = std::size_t{0}, digits = std::string{}]() mutable -> std::optional<Answer> {
    const std::span<const std::byte> part = range.subspan(done, std::min(kHexSlice, range.size() - done));
    digits += to_hex(part);
    done += part.size();
    if (done < range.size()) return std::nullopt;
    return Answer{{"data", std::move(digits)}};
  };
  return {};
}

ControlSession::Answer ControlSession::write_memory(const Json& request, Time) {
  const std::vector<std::byte> data = from_hex(text(request, "data"));
  Memory& memory = memory_of(request);
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  if (data.size() > memory.bytes.size() - offset) throw Refusal("\"data\" goes beyond the memory's end");
  std::ranges::copy(data, memory.bytes.subspan(offset).begin());
  return {};
}

ControlSession::Answer ControlSession::create_qp(const Json& request, Time now) {
  const QpType type = qp_type_of(text(request, "type"));
  transport::QpInit init;
  init.type = type;
  init.pd = pd_;
  init.send_cq = init.receive_cq = cq_;
  init.max_send = number<std::uint32_t>(request, "max_send", 1, kMaxQueue, 64);
  init.max_receive = number<std::uint32_t>(request, "max_receive", 1, kMaxQueue, 64);
  init.max_send_sge = init.max_receive_sge = 1;
  const Qpn qpn = carried_out(device_.create_qp(init), "create_qp");
  qps_.emplace(qpn, type);
  endpoint_.adopt(qpn);
  transport::QpChange change{.state = QpState::init, .p_key_index = 0, .port = 1};
  if (type == QpType::ud) {
    change.q_key = QKey{number<std::uint32_t>(request, "q_key", 0, 0xFFFF'FFFF, kControlQKey)};
  } else {
    change.access = Access::remote_write | Access::remote_read | Access::remote_atomic | Access::flush_global |
                    Access::flush_persistent;
  }
  carried_out(device_.modify_qp(qpn, change, now), "create_qp");
  const Psn psn = endpoint_.random().psn();
  return {{"qp", qpn.value()}, {"psn", psn.value()}};
}

ControlSession::Answer ControlSession::connect_qp(const Json& request, Time now) {
  const Qpn qpn = qp_of(request);
  const QpType type = qps_.at(qpn);
  const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
  if (!gid) throw Refusal("\"gid\" is no IP address");
  ConnectOptions options;
  options.sgid_index = endpoint_.sgid_index();
  options.gid = *gid;
  options.remote_qp = Qpn{number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax, 0)};
  options.remote_psn = Psn{number<std::uint32_t>(request, "remote_psn", 0, Psn::kMax, 0)};
  options.psn = Psn{number<std::uint32_t>(request, "psn", 0, Psn::kMax)};
  options.path_mtu = number<std::uint32_t>(request, "path_mtu", 256, endpoint_.max_path_mtu(), 1024);
  options.timeout = number<std::uint8_t>(request, "timeout", 0, 31, 14);
  options.retry_count = number<std::uint8_t>(request, "retry_count", 0, 7, 7);
  options.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  options.rd_atomic = number<std::uint8_t>(request, "rd_atomic", 0, 128, 16);
  carried_out(connect(device_, qpn, type, options, now), "connect_qp");
  if (type == QpType::ud && !ahs_.contains(qpn)) {
    ahs_[qpn] =
        carried_out(device_.create_ah(pd_, {.sgid_index = options.sgid_index, .dgid = options.gid}), "connect_qp");
  }
  return {};
}

ControlSession::Answer ControlSession::accept_qp(const Json& request, Time now) {
  const Qpn qpn = qp_of(request);
  CmAcceptor::Terms terms;
  terms.rd_atomic = number<std::uint8_t>(request, "rd_atomic", 0, 128, 16);
  terms.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  const auto port = number<std::uint16_t>(request, "cm_port", 1, UINT16_MAX);
  if (qps_.at(qpn) == QpType::ud) {
    const transport::QpAttributes attributes = carried_out(device_.query_qp(qpn), "accept_qp");
    terms.q_key = attributes.q_key;
    if (attributes.state == QpState::init) carried_out(connect(device_, qpn, QpType::ud, {}, now), "accept_qp");
  }
  acceptor().accept(qpn, port, terms);
  return {};
}

ControlSession::Answer ControlSession::reject_next(const Json& request, Time) {
  acceptor().refuse(number<std::uint16_t>(request, "cm_port", 1, UINT16_MAX));
  return {};
}

ControlSession::Answer ControlSession::qp_status(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  const transport::QpAttributes attributes = carried_out(device_.query_qp(qpn), "qp_status");
  return {{"state", std::string{to_string(attributes.state)}},
          {"remote_qp", attributes.dest_qp.value()},
          {"connection", name_of(acceptor_ ? acceptor_->state(qpn) : CmAcceptor::State::none)}};
}

ControlSession::Answer ControlSession::destroy_qp(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  if (acceptor_) acceptor_->forget(qpn);
  carried_out(device_.destroy_qp(qpn), "destroy_qp");
  if (const auto ah = ahs_.find(qpn); ah != ahs_.end()) {
    (void)device_.destroy_ah(ah->second);
    ahs_.erase(ah);
  }
  sinks_.remove(qpn);
  qps_.erase(qpn);
  return {};
}

transport::Sge ControlSession::sge_of(const Json& request) {
  const Memory& memory = memory_of(request);
  const std::span<std::byte> range = range_of(memory, request, UINT32_MAX);
  return {memory.info.address + static_cast<std::uint64_t>(range.data() - memory.bytes.data()),
          static_cast<std::uint32_t>(range.size()), memory.info.l_key};
}

ControlSession::Answer ControlSession::post_receive(const Json& request, Time) {
  const transport::Sge sge = sge_of(request);
  const auto wr_id = number<std::uint64_t>(request, "wr_id", 0, kMaxRequest, 0);
  carried_out(device_.post_receive(qp_of(request), {.wr_id = wr_id, .sges = {&sge, 1}}), "post_receive");
  return {};
}

ControlSession::Answer ControlSession::post_send(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  transport::SendRequest send;
  send.wr_id = number<std::uint64_t>(request, "wr_id", 0, kMaxRequest, 0);
  send.opcode = opcode_of(text(request, "opcode"));
  transport::Sge sge{};
  if (request.contains("memory")) {
    sge = sge_of(request);
    send.sges = {&sge, 1};
  }
  send.solicited = flag(request, "solicited");
  send.fence = flag(request, "fence");
  send.immediate = number<std::uint32_t>(request, "immediate", 0, 0xFFFF'FFFF, 0);
  send.invalidate = RKey{number<std::uint32_t>(request, "invalidate", 0, 0xFFFF'FFFF, 0)};
  send.remote.address = number<std::uint64_t>(request, "remote_address", 0, UINT64_MAX, 0);
  send.remote.r_key = RKey{number<std::uint32_t>(request, "r_key", 0, 0xFFFF'FFFF, 0)};
  send.compare_add = number<std::uint64_t>(request, "compare_add", 0, UINT64_MAX, 0);
  send.swap = number<std::uint64_t>(request, "swap", 0, UINT64_MAX, 0);
  send.flush.length = number<std::uint32_t>(request, "flush_length", 0, 0xFFFF'FFFF, 0);
  send.flush.persistent = flag(request, "persistent");
  if (const auto ah = ahs_.find(qpn); ah != ahs_.end()) {
    send.datagram.ah = ah->second;
    send.datagram.qpn = Qpn{number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax)};
    send.datagram.q_key = QKey{number<std::uint32_t>(request, "q_key", 0, 0xFFFF'FFFF, kControlQKey)};
  }
  carried_out(device_.post_send(qpn, send), "post_send");
  return {};
}

ControlSession::Answer ControlSession::poll_completions(const Json& request, Time) {
  const auto most = number<std::size_t>(request, "max", 1, 4096, 256);
  const std::size_t count = std::min(most, completions_.size());
  Answer list = Answer::array();
  for (std::size_t i = 0; i < count; ++i) {
    const transport::Completion& c = completions_[i];
    Answer item{{"wr_id", c.wr_id},
                {"status", std::string{to_string(c.status)}},
                {"opcode", std::string{to_string(c.opcode)}},
                {"qp", c.qpn.value()},
                {"byte_length", c.byte_length}};
    if (c.has_immediate) item["immediate"] = c.immediate;
    if (c.has_invalidated) item["invalidated"] = c.invalidated.value();
    if (c.has_network_header) item["source_qp"] = c.source_qp.value();
    list.push_back(std::move(item));
  }
  completions_.erase(completions_.begin(), completions_.begin() + static_cast<std::ptrdiff_t>(count));
  return {{"completions", std::move(list)}, {"lost", lost_completions_}};
}

ControlSession::Answer ControlSession::sink(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  const Memory& memory = memory_of(request);
  const auto offset = number<std::uint64_t>(request, "offset", 0, memory.bytes.size(), 0);
  ControlSinks::Slots slots;
  slots.bytes = memory.bytes.subspan(offset);
  slots.area = {memory.info.address + offset, 0, memory.info.l_key};
  slots.datagrams = qps_.at(qpn) == QpType::ud;
  slots.slot_bytes = number<std::uint32_t>(request, "slot_bytes", 1, UINT32_MAX);
  slots.index = number<std::uint32_t>(request, "index", 0, 0xFFFF, 0);
  slots.seed = number<std::uint64_t>(request, "seed", 0, UINT64_MAX);
  const auto count = number<std::uint64_t>(request, "slots", 1, kMaxQueue);
  if (count > slots.bytes.size() / slots.slot_bytes) throw Refusal("the slots do not fit the memory");
  if (sinks_.contains(qpn)) throw Refusal("this queue pair has a sink");
  carried_out(sinks_.add(qpn, slots, count), "sink");
  return {};
}

ControlSession::Answer ControlSession::sink_status(const Json& request, Time) {
  const ControlSinks::Counts* counts = sinks_.counts(qp_of(request));
  if (counts == nullptr) throw Refusal("this queue pair has no sink");
  return {{"received", counts->received}, {"wrong", counts->wrong}};
}

ControlSession::Answer ControlSession::counters(const Json& request, Time) {
  const transport::Counters values =
      request.contains("qp") ? carried_out(device_.counters(qp_of(request)), "counters") : device_.counters();
  Answer list;
  for (const transport::CounterName& name : transport::counter_names())
    list[std::string{name.name}] = values.*name.member;
  // This one belongs to the port, so it does not exist for a single queue pair.
  if (!request.contains("qp")) list["pfc_sent"] = endpoint_.port().pfc_sent();
  return {{"counters", std::move(list)}};
}

void ControlSession::take(const transport::Completion& completion) {
  if (completion.wr_id > kMaxRequest) {
    sinks_.take(completion);
  } else if (completions_.size() < kMaxCompletions) {
    completions_.push_back(completion);
  } else {
    ++lost_completions_;
  }
}

bool ControlSession::poll() {
  if (!is_open_) return false;
  std::array<transport::Completion, 64> completions;
  std::size_t count = 0;
  if (!sinks_.is_full()) count = device_.poll_cq(cq_, completions);
  for (std::size_t i = 0; i < count; ++i) take(completions[i]);
  const bool is_more = sinks_.compare();
  return count != 0 || is_more;
}

}  // namespace roce::live
