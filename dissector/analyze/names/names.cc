// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/names.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace roce::analyze {

namespace {

[[nodiscard]] Gid network_of(Gid address, unsigned prefix) {
  for (unsigned i = 0; i < address.octets.size(); ++i) {
    const unsigned kept = std::min(prefix - std::min(prefix, i * 8), 8U);
    address.octets[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
  }
  return address;
}

/// Adds a name unless there is one; returns that one if it is another.
template <typename Map, typename Key>
[[nodiscard]] const GivenName* give_to(Map& names, const Key& key, GivenName name) {
  const auto found = names.find(key);
  if (found != names.end()) return found->second.text != name.text ? &found->second : nullptr;
  names.emplace(key, std::move(name));
  return nullptr;
}

/// Adds a suggestion to those that there are.
void add(SuggestedName& suggested, std::string_view name) {
  constexpr std::size_t most = 3;
  std::vector<std::string>& names = suggested.names;
  if (names.size() == most || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
  suggested.text += names.size() == 1 ? names.back() : " or " + (names.size() < most ? names.back() : "others");
}

template <typename Map, typename Key>
[[nodiscard]] std::string_view find_in(const Map& names, const Key& key) {
  const auto found = names.find(key);
  return found == names.end() ? std::string_view{} : std::string_view{found->second.text};
}

}  // namespace

const GivenName* Names::give(const Gid& network, unsigned prefix, GivenName name) {
  return give_to(networks_[prefix], network_of(network, prefix), std::move(name));
}

const GivenName* Names::give(const Gid& address, Qpn qpn, GivenName name) {
  return give_to(qps_, Qp{address, qpn}, std::move(name));
}

void Names::suggest(const Gid& address, std::string_view name) {
  add(suggested_addresses_[address], name);
}

void Names::suggest(const Gid& address, Qpn qpn, std::string_view name) {
  add(suggested_qps_[Qp{address, qpn}], name);
}

std::string_view Names::find(const Gid& address) const {
  for (const auto& [prefix, networks] : networks_) {
    const auto found = networks.find(network_of(address, prefix));
    if (found != networks.end()) return found->second.text;
  }
  return find_in(suggested_addresses_, address);
}

std::string_view Names::find(const QpEnd& end) const {
  if (!end.qpn) return {};
  const Qp qp{end.address, *end.qpn};
  const std::string_view given = find_in(qps_, qp);
  return given.empty() ? find_in(suggested_qps_, qp) : given;
}

std::string Names::text(const Gid& address) const {
  const std::string_view name = find(address);
  return name.empty() ? to_string(address) : std::string{name};
}

std::string Names::text(const QpEnd& end) const {
  std::string text = this->text(end.address);
  if (const std::string_view name = find(end); !name.empty()) text.append(1, ' ').append(name);
  return text;
}

bool Names::empty() const {
  return networks_.empty() && qps_.empty() && suggested_addresses_.empty() && suggested_qps_.empty();
}

}  // namespace roce::analyze
