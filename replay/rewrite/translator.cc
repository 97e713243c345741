// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/translator.h"

#include <algorithm>
#include <string_view>

namespace roce::replay {

namespace {

constexpr unsigned kGidBits = 128;
/// Q_Key of QP1 of every port (IBTA vol. 1, 3.5.3): not a secret, and nothing arrives with another one.
constexpr QKey kGsiQKey{0x80010000};

/// Returns the first `bits` bits of one address and the rest of another.
Gid join(const Gid& prefix, unsigned bits, const Gid& rest) {
  Gid joined = rest;
  for (unsigned i = 0; i < kGidBits / 8; ++i) {
    const unsigned of_prefix = bits > i * 8 ? std::min(bits - i * 8, 8U) : 0U;
    const auto mask = static_cast<std::uint8_t>(0xFF00U >> of_prefix);
    joined.octets[i] = static_cast<std::uint8_t>((prefix.octets[i] & mask) | (rest.octets[i] & ~mask));
  }
  return joined;
}

bool is_nobody(const Gid& gid) {
  return gid == Gid{} || gid == Gid::from_ipv4({}) || transport::is_multicast(gid);
}

/// Returns the number that a map has for a number; none if it has none.
std::optional<std::uint64_t> find(const std::map<std::uint64_t, std::uint64_t>& map, std::uint64_t number) {
  const auto found = map.find(number);
  return found == map.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::mac:
      return "mac";
    case Change::vlan:
      return "vlan";
    case Change::address:
      return "address";
    case Change::version:
      return "version";
    case Change::network_field:
      return "network_field";
    case Change::udp_port:
      return "udp_port";
    case Change::qpn:
      return "qpn";
    case Change::psn:
      return "psn";
    case Change::key:
      return "key";
    case Change::va:
      return "va";
    case Change::field:
      return "field";
    case Change::data:
      return "data";
    case Change::count:
      break;
  }
  return {};
}

Translator::Translator(const RewriteRules& rules) : rules_(&rules) {
  if (rules.anonymise) pseudonyms_.emplace(*rules.anonymise);
}

MacAddress Translator::mac(const MacAddress& address) {
  const auto rule = rules_->macs.find(address);
  if (rule != rules_->macs.end()) return counted(Change::mac, address, rule->second);
  return pseudonyms_ ? counted(Change::mac, address, pseudonyms_->mac(address)) : address;
}

std::optional<Gid> Translator::gid(const Gid& gid) {
  for (const GidRule& rule : rules_->ips) {
    if (rule.from.contains(gid)) return counted(Change::address, gid, join(rule.to, rule.from.bits, gid));
  }
  if (pseudonyms_) return counted(Change::address, gid, pseudonyms_->gid(gid));
  if (rules_->ips.empty() || rules_->keep_unmapped || is_nobody(gid)) return gid;
  return std::nullopt;
}

Qpn Translator::qpn(Qpn qpn, const Gid& owner) {
  for (const QpnRule& rule : rules_->qpns) {
    if (rule.from == qpn && (!rule.owner || *rule.owner == owner)) return counted(Change::qpn, qpn, rule.to);
  }
  return qpn;
}

Psn Translator::psn(Psn psn) {
  return counted(Change::psn, psn, psn + rules_->psn_offset);
}

PKey Translator::p_key(PKey key) {
  const auto mapped = find(rules_->p_keys, key.value());
  if (mapped) return counted(Change::key, key, PKey{static_cast<std::uint16_t>(*mapped)});
  return pseudonyms_ ? counted(Change::key, key, pseudonyms_->p_key(key)) : key;
}

QKey Translator::q_key(QKey key) {
  const auto mapped = find(rules_->q_keys, key.value());
  if (mapped) return counted(Change::key, key, QKey{static_cast<std::uint32_t>(*mapped)});
  if (!pseudonyms_ || key == kGsiQKey) return key;
  return counted(Change::key, key, QKey{pseudonyms_->number32(key.value())});
}

RKey Translator::r_key(RKey key) {
  const auto mapped = find(rules_->r_keys, key.value());
  if (mapped) return counted(Change::key, key, RKey{static_cast<std::uint32_t>(*mapped)});
  return pseudonyms_ ? counted(Change::key, key, RKey{pseudonyms_->number32(key.value())}) : key;
}

std::uint64_t Translator::virtual_address(std::uint64_t address) {
  for (const VirtualAddressRule& rule : rules_->virtual_addresses) {
    const std::uint64_t offset = address - rule.start;
    if (rule.length == 0 || offset < rule.length) return counted(Change::va, address, rule.to + offset);
  }
  return pseudonyms_ ? counted(Change::va, address, pseudonyms_->virtual_address(address)) : address;
}

}  // namespace roce::replay
