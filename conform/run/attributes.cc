// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string_view>

namespace roce::conform {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

constexpr std::uint64_t kMostReceives = kSrqReceives;
constexpr std::uint64_t kMostReceiveLength = 65536;
constexpr std::uint64_t kMostPieces = 16;
constexpr std::uint64_t kMostCompletions = 4096;

tl::unexpected<CaseError> wrong(const Setting& setting, std::string_view message) {
  return tl::unexpected(CaseError{setting.place, fmt::format("{}: {}", setting.name, message)});
}

template <typename T>
struct Word {
  std::string_view name;
  T value;
};

template <typename T>
Word(std::string_view, T) -> Word<T>;

constexpr std::array kTypes{Word{"rc", QpType::rc}, Word{"uc", QpType::uc}, Word{"ud", QpType::ud}};
constexpr std::array kQpVersions{Word{"v2_ipv4", RoceVersion::v2_ipv4}, Word{"v2_ipv6", RoceVersion::v2_ipv6},
                                 Word{"v1", RoceVersion::v1}};
constexpr std::array kStates{Word{"RESET", QpState::reset}, Word{"INIT", QpState::init}, Word{"RTR", QpState::rtr},
                             Word{"RTS", QpState::rts},     Word{"SQD", QpState::sqd},   Word{"ERR", QpState::err}};
constexpr std::array kRights{Word{"none", Access::none},
                             Word{"local_write", Access::local_write},
                             Word{"remote_write", Access::remote_write},
                             Word{"remote_read", Access::remote_read},
                             Word{"remote_atomic", Access::remote_atomic},
                             Word{"flush_global", Access::flush_global},
                             Word{"flush_persistent", Access::flush_persistent},
                             Word{"mw_bind", Access::mw_bind},
                             Word{"zero_based", Access::zero_based}};
constexpr std::array kQueues{Word{"send", false}, Word{"receive", true}};
constexpr std::array kWindowTypes{Word{"1", transport::MwType::type1}, Word{"2", transport::MwType::type2}};
constexpr std::array kOperations{Word{"send", WorkOpcode::send},
                                 Word{"send_with_immediate", WorkOpcode::send_with_immediate},
                                 Word{"send_with_invalidate", WorkOpcode::send_with_invalidate},
                                 Word{"write", WorkOpcode::write},
                                 Word{"write_with_immediate", WorkOpcode::write_with_immediate},
                                 Word{"read", WorkOpcode::read},
                                 Word{"compare_swap", WorkOpcode::compare_swap},
                                 Word{"fetch_add", WorkOpcode::fetch_add},
                                 Word{"local_invalidate", WorkOpcode::local_invalidate}};

CaseResult<Value> value_of(const Setting& setting, const Scope& scope) {
  Evaluated<Value> value = setting.value.evaluate(scope);
  if (!value) return wrong(setting, value.error());
  return std::move(*value);
}

template <typename T>
CaseResult<void> take_number(T& to, const Setting& setting, const Scope& scope,
                             std::uint64_t most = std::numeric_limits<T>::max()) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  const std::uint64_t* number = value->as_number();
  if (number == nullptr || *number > most) {
    return wrong(setting, fmt::format("expected 0 … {}, found {}", most, to_string(*value)));
  }
  to = static_cast<T>(*number);
  return {};
}

template <typename T, std::size_t count>
CaseResult<void> take_word(T& to, const Setting& setting, const Scope& scope, const std::array<Word<T>, count>& words) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  const std::string text = to_string(*value);
  const auto word = std::ranges::find(words, text, &Word<T>::name);
  if (word == words.end()) {
    std::string names;
    for (const Word<T>& each : words) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
    return wrong(setting, fmt::format("expected one of {}, found {}", names, text));
  }
  to = word->value;
  return {};
}

CaseResult<void> take_flag(bool& to, const Setting& setting, const Scope& scope) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  to = value->is_true();
  return {};
}

CaseResult<void> take_psn(Psn& to, const Setting& setting, const Scope& scope) {
  std::uint32_t number = 0;
  constexpr std::uint32_t most = 0xFF'FFFF;
  CaseResult<void> taken = take_number(number, setting, scope, most);
  if (taken) to = Psn{number};
  return taken;
}

CaseResult<void> take_q_key(QKey& to, const Setting& setting, const Scope& scope) {
  std::uint32_t number = to.value();
  CaseResult<void> taken = take_number(number, setting, scope);
  if (taken) to = QKey{number};
  return taken;
}

CaseResult<void> take_qpn(Qpn& to, const Setting& setting, const Scope& scope) {
  std::uint32_t number = to.value();
  CaseResult<void> taken = take_number(number, setting, scope, Qpn::kMax);
  if (taken) to = Qpn{number};
  return taken;
}

CaseResult<void> take_rights(Access& to, const Setting& setting, const Scope& scope) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  const Value::List one{*value};
  const Value::List* list = value->as_list();
  Access rights = Access::none;
  for (const Value& word : list != nullptr ? *list : one) {
    if (to_string(word) == "all") {
      rights = rights | all_rights();
      continue;
    }
    Access right = Access::none;
    Setting single = setting;
    single.value = Expression::literal(to_string(word));
    if (auto taken = take_word(right, single, scope, kRights); !taken) return taken;
    rights = rights | right;
  }
  to = rights;
  return {};
}

CaseResult<void> take_name(std::string& to, const Setting& setting, const Scope& scope) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  to = to_string(*value);
  return {};
}

CaseResult<void> take_lengths(std::vector<std::uint32_t>& to, const Setting& setting, const Scope& scope) {
  const CaseResult<Value> value = value_of(setting, scope);
  if (!value) return tl::unexpected(value.error());
  const Value::List one{*value};
  const Value::List* list = value->as_list();
  for (const Value& length : list != nullptr ? *list : one) {
    Setting single = setting;
    single.value = Expression::literal(to_string(length));
    std::uint32_t bytes = 0;
    if (auto taken = take_number(bytes, single, scope); !taken) return taken;
    to.push_back(bytes);
  }
  return {};
}

using Reader = std::function<CaseResult<void>(const Setting&)>;

/// Hands each setting to the reader of its name.
CaseResult<void> read_each(const std::vector<Setting>& settings, std::string_view what,
                           const std::vector<std::pair<std::string_view, Reader>>& readers) {
  for (const Setting& setting : settings) {
    const auto reader = std::ranges::find(readers, setting.name, [](const auto& each) { return each.first; });
    if (reader == readers.end()) {
      std::string names;
      for (const auto& each : readers) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.first);
      return tl::unexpected(
          CaseError{setting.place, fmt::format("{} \"{}\" is unknown; there are: {}", what, setting.name, names)});
    }
    if (CaseResult<void> read = reader->second(setting); !read) return read;
  }
  return {};
}

}  // namespace

Access all_rights() {
  return Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic;
}

CaseResult<void> read_attributes(QpAttributesRead& attributes, const std::vector<Setting>& settings,
                                 const Scope& scope) {
  QpSetup& qp = attributes.setup;
  constexpr std::uint8_t retries = 7;
  constexpr std::uint8_t codes = 31;
  const auto number = [&](auto& to, std::uint64_t most) -> Reader {
    return [&to, most, &scope](const Setting& setting) { return take_number(to, setting, scope, most); };
  };
  const auto cq_size = [&scope](std::optional<std::uint32_t>& to) -> Reader {
    return [&to, &scope](const Setting& s) { return take_number(to.emplace(), s, scope, kMostCompletions); };
  };
  return read_each(
      settings, "attribute",
      {{"type", [&](const Setting& s) { return take_word(qp.type, s, scope, kTypes); }},
       {"version", [&](const Setting& s) { return take_word(qp.version, s, scope, kQpVersions); }},
       {"state", [&](const Setting& s) { return take_word(qp.state, s, scope, kStates); }},
       {"access", [&](const Setting& s) { return take_rights(qp.access, s, scope); }},
       {"rq_psn", [&](const Setting& s) { return take_psn(qp.rq_psn, s, scope); }},
       {"sq_psn", [&](const Setting& s) { return take_psn(qp.sq_psn, s, scope); }},
       {"q_key", [&](const Setting& s) { return take_q_key(qp.q_key, s, scope); }},
       {"path_mtu", number(qp.path_mtu, 4096)},
       {"timeout", number(qp.timeout, codes)},
       {"retry_count", number(qp.retry_count, retries)},
       {"rnr_retry", number(qp.rnr_retry, retries)},
       {"min_rnr_timer", number(qp.min_rnr_timer, codes)},
       {"max_rd_atomic", number(qp.max_rd_atomic, 128)},
       {"max_dest_rd_atomic", number(qp.max_dest_rd_atomic, 128)},
       {"in_other_pd", [&](const Setting& s) { return take_flag(qp.in_other_pd, s, scope); }},
       {"pieces", number(qp.pieces, kMostPieces)},
       {"send_cq_size", cq_size(qp.send_cq_size)},
       {"receive_cq_size", cq_size(qp.receive_cq_size)},
       {"srq", [&](const Setting& s) { return take_name(attributes.srq, s, scope); }},
       {"service_level", [&](const Setting& s) { return take_number(qp.service_level.emplace(), s, scope, 7); }},
       {"congestion", [&](const Setting& s) { return take_name(qp.congestion, s, scope); }},
       {"receives", number(attributes.receives.count, kMostReceives)},
       {"receive_length", number(attributes.receives.length, kMostReceiveLength)}});
}

CaseResult<SrqAttributesRead> read_srq(const std::vector<Setting>& settings, const Scope& scope) {
  SrqAttributesRead srq;
  const auto number = [&](auto& to, std::uint64_t most) -> Reader {
    return [&to, most, &scope](const Setting& setting) { return take_number(to, setting, scope, most); };
  };
  const CaseResult<void> read = read_each(settings, "attribute",
                                          {{"receives", number(srq.receives.count, kMostReceives)},
                                           {"receive_length", number(srq.receives.length, kMostReceiveLength)},
                                           {"limit", number(srq.limit, kSrqReceives)}});
  if (!read) return tl::unexpected(read.error());
  return srq;
}

CaseResult<std::uint32_t> read_limit(const std::vector<Setting>& settings, const Scope& scope) {
  std::uint32_t limit = 0;
  const CaseResult<void> read =
      read_each(settings, "argument", {{"limit", [&](const Setting& s) { return take_number(limit, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  return limit;
}

CaseResult<RegionSetup> read_region(const std::vector<Setting>& settings, const Scope& scope) {
  RegionSetup region{.access = all_rights() | Access::mw_bind};
  const CaseResult<void> read =
      read_each(settings, "attribute",
                {{"length", [&](const Setting& s) { return take_number(region.length, s, scope); }},
                 {"access", [&](const Setting& s) { return take_rights(region.access, s, scope); }},
                 {"in_other_pd", [&](const Setting& s) { return take_flag(region.in_other_pd, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  return region;
}

CaseResult<WindowSetup> read_window(const std::vector<Setting>& settings, const Scope& scope) {
  WindowSetup window;
  const CaseResult<void> read =
      read_each(settings, "attribute",
                {{"type", [&](const Setting& s) { return take_word(window.type, s, scope, kWindowTypes); }},
                 {"in_other_pd", [&](const Setting& s) { return take_flag(window.in_other_pd, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  return window;
}

CaseResult<BindArguments> read_bind(const std::vector<Setting>& settings, const Scope& scope) {
  BindArguments bind;
  const auto name = [&scope](std::string& to) -> Reader {
    return [&to, &scope](const Setting& setting) { return take_name(to, setting, scope); };
  };
  BindOrder& order = bind.order;
  const CaseResult<void> read =
      read_each(settings, "argument",
                {{"window", name(bind.window)},
                 {"region", name(bind.region)},
                 {"wr_id", [&](const Setting& s) { return take_number(order.wr_id, s, scope); }},
                 {"at", [&](const Setting& s) { return take_number(order.address, s, scope); }},
                 {"length", [&](const Setting& s) { return take_number(order.length, s, scope); }},
                 {"access", [&](const Setting& s) { return take_rights(order.access, s, scope); }},
                 {"variant", [&](const Setting& s) { return take_number(order.variant, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  return bind;
}

CaseResult<transport::QpChange> read_change(const std::vector<Setting>& settings, const Scope& scope) {
  transport::QpChange change;
  const CaseResult<void> read = read_each(
      settings, "attribute",
      {{"state", [&](const Setting& s) { return take_word(change.state.emplace(), s, scope, kStates); }},
       {"access", [&](const Setting& s) { return take_rights(change.access.emplace(), s, scope); }},
       {"min_rnr_timer", [&](const Setting& s) { return take_number(change.min_rnr_timer.emplace(), s, scope, 31); }},
       {"sq_psn", [&](const Setting& s) { return take_psn(change.sq_psn.emplace(), s, scope); }},
       {"sq_drained_notify", [&](const Setting& s) { return take_flag(change.sq_drained_notify.emplace(), s, scope); }},
       {"q_key", [&](const Setting& s) { return take_q_key(change.q_key.emplace(), s, scope); }},
       {"timeout", [&](const Setting& s) { return take_number(change.timeout.emplace(), s, scope, 31); }},
       {"retry_count", [&](const Setting& s) { return take_number(change.retry_count.emplace(), s, scope, 7); }},
       {"rnr_retry", [&](const Setting& s) { return take_number(change.rnr_retry.emplace(), s, scope, 7); }},
       {"max_rd_atomic",
        [&](const Setting& s) { return take_number(change.max_rd_atomic.emplace(), s, scope, 128); }}});
  if (!read) return tl::unexpected(read.error());
  return change;
}

namespace {

std::vector<std::pair<std::string_view, Reader>> readers_of(CmTerms& terms, const Scope& scope) {
  constexpr std::uint64_t codes = 31;
  const auto number = [&scope](auto& to, std::uint64_t most) -> Reader {
    return [&to, most, &scope](const Setting& setting) { return take_number(to, setting, scope, most); };
  };
  const auto bytes = [&scope](std::string& to) -> Reader {
    return [&to, &scope](const Setting& setting) -> CaseResult<void> {
      const CaseResult<Value> value = value_of(setting, scope);
      if (!value) return tl::unexpected(value.error());
      to = bytes_text(*value);
      if (to.size() % 2 == 0 && to.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) return {};
      return wrong(setting, fmt::format("expected hex digits of bytes, found {}", to));
    };
  };
  const Reader service = [&terms, &scope](const Setting& setting) {
    std::uint64_t value = 0;
    CaseResult<void> taken = take_number(value, setting, scope);
    if (taken) terms.service = ServiceId{value};
    return taken;
  };
  return {{"service", service},
          {"responder_resources", number(terms.responder_resources, 255)},
          {"initiator_depth", number(terms.initiator_depth, 255)},
          {"rnr_retry", number(terms.rnr_retry, 7)},
          {"service_timeout", number(terms.service_timeout, codes)},
          {"reason", number(terms.reason, 65535)},
          {"info", bytes(terms.info)},
          {"private_data", bytes(terms.private_data)}};
}

}  // namespace

CaseResult<void> read_terms(CmTerms& terms, const std::vector<Setting>& settings, const Scope& scope) {
  return read_each(settings, "argument", readers_of(terms, scope));
}

CaseResult<ListenerRead> read_listener(const std::vector<Setting>& settings, const Scope& scope) {
  ListenerRead listener;
  auto readers = readers_of(listener.terms, scope);
  readers.emplace_back("answers", [&](const Setting& s) { return take_flag(listener.answers, s, scope); });
  readers.emplace_back("qps", [&](const Setting& setting) -> CaseResult<void> {
    const CaseResult<Value> value = value_of(setting, scope);
    if (!value) return tl::unexpected(value.error());
    const Value::List one{*value};
    const Value::List* list = value->as_list();
    listener.qps.clear();
    for (const Value& name : list != nullptr ? *list : one) listener.qps.push_back(to_string(name));
    return {};
  });
  const CaseResult<void> read = read_each(settings, "attribute", readers);
  if (!read) return tl::unexpected(read.error());
  return listener;
}

CaseResult<void> read_order(SendOrder& order, const std::vector<Setting>& settings, const Scope& scope) {
  transport::SendRequest& request = order.request;
  std::uint32_t r_key = request.remote.r_key.value();
  std::uint32_t l_key = order.data.l_key.value();
  std::uint32_t invalidate = 0;
  const auto number = [&scope](auto& to) -> Reader {
    return [&to, &scope](const Setting& setting) { return take_number(to, setting, scope); };
  };
  const auto flag = [&scope](bool& to) -> Reader {
    return [&to, &scope](const Setting& setting) { return take_flag(to, setting, scope); };
  };
  CaseResult<void> read =
      read_each(settings, "argument",
                {{"opcode", [&](const Setting& s) { return take_word(request.opcode, s, scope, kOperations); }},
                 {"wr_id", number(request.wr_id)},
                 {"length", number(order.data.length)},
                 {"at", number(order.data.address)},
                 {"l_key", number(l_key)},
                 {"remote", number(request.remote.address)},
                 {"r_key", number(r_key)},
                 {"immediate", number(request.immediate)},
                 {"invalidate", number(invalidate)},
                 {"compare_add", number(request.compare_add)},
                 {"swap", number(request.swap)},
                 {"remote_qp", [&](const Setting& s) { return take_qpn(request.datagram.qpn, s, scope); }},
                 {"q_key", [&](const Setting& s) { return take_q_key(request.datagram.q_key, s, scope); }},
                 {"signaled", flag(request.signaled)},
                 {"solicited", flag(request.solicited)},
                 {"fence", flag(request.fence)}});
  order.data.l_key = LKey{l_key};
  request.remote.r_key = RKey{r_key};
  request.invalidate = RKey{invalidate};
  return read;
}

CaseResult<ReceiveOrder> read_receive(const transport::Sge& whole, const std::vector<Setting>& settings,
                                      const Scope& scope) {
  ReceiveOrder order;
  transport::Sge buffer = whole;
  std::uint32_t l_key = whole.l_key.value();
  std::uint64_t spacing = 0;
  std::vector<std::uint32_t> lengths;
  const auto number = [&scope](auto& to) -> Reader {
    return [&to, &scope](const Setting& setting) { return take_number(to, setting, scope); };
  };
  const CaseResult<void> read =
      read_each(settings, "argument",
                {{"wr_id", number(order.wr_id)},
                 {"length", number(buffer.length)},
                 {"at", number(buffer.address)},
                 {"l_key", number(l_key)},
                 {"spacing", number(spacing)},
                 {"pieces", [&](const Setting& s) { return take_lengths(lengths, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  buffer.l_key = LKey{l_key};
  if (lengths.empty()) lengths.push_back(buffer.length);
  order.pieces.reserve(lengths.size());
  for (const std::uint32_t length : lengths) {
    buffer.length = length;
    order.pieces.push_back(buffer);
    buffer.address += length + spacing;
  }
  return order;
}

CaseResult<CqArming> read_arming(const std::vector<Setting>& settings, const Scope& scope) {
  CqArming arming;
  const CaseResult<void> read =
      read_each(settings, "argument",
                {{"of", [&](const Setting& s) { return take_word(arming.is_receive, s, scope, kQueues); }},
                 {"solicited", [&](const Setting& s) { return take_flag(arming.solicited_only, s, scope); }}});
  if (!read) return tl::unexpected(read.error());
  return arming;
}

CaseResult<void> read_reconnect(QpSetup& setup, const std::vector<Setting>& settings, const Scope& scope) {
  return read_each(settings, "argument",
                   {{"rq_psn", [&](const Setting& s) { return take_psn(setup.rq_psn, s, scope); }},
                    {"sq_psn", [&](const Setting& s) { return take_psn(setup.sq_psn, s, scope); }}});
}

}  // namespace roce::conform
