// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/rewrite_options.h"

#include <fmt/format.h>

#include <functional>
#include <random>
#include <string_view>

#include "command_line/command.h"
#include "command_line/option.h"
#include "replay/rules/rewrite_text.h"

namespace roce::replay {

namespace {

constexpr const char* kAddresses = "Addresses";
constexpr const char* kNumbers = "Numbers";
constexpr const char* kFrames = "Frames";
constexpr const char* kFaults = "Faults";

using Reader = ReadResult<> (*)(std::string_view, RewriteRules&);

/// An option and the function that reads its texts.
struct Source {
  const char* name;
  const std::vector<std::string>* texts;
  Reader read;
};

/// Returns a random key for an empty text, else the key that the text stands for.
PseudonymKey key_of(const std::string& text) {
  if (text.empty()) {
    std::random_device device;
    const auto word = [&device] { return std::uint64_t{device()} << 32U | device(); };
    return {word(), word()};
  }
  // FNV-1a (Fowler, Noll, Vo) from two start values.
  PseudonymKey key{0xCBF29CE484222325, 0x84222325CBF29CE4};
  for (std::uint64_t& word : key) {
    for (const char c : text) word = (word ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return key;
}

}  // namespace

void add_rewrite_options(command_line::Command& command, RewriteOptions& options) {
  const auto several = [&](const char* name, std::vector<std::string>& into, const char* type, const char* text,
                           const char* group) {
    command.add_option(name, into, text).type_name(type).expected(1).take_all().allow_extra_args(false).group(group);
  };
  const auto one = [&](const char* name, std::string& into, const char* type, const char* text, const char* group) {
    command.add_option(name, into, text).type_name(type).group(group);
  };
  several("--ip-map", options.ip_maps, "OLD=NEW", "IPv4 or IPv6 address or prefix that becomes another one",
          kAddresses);
  command
      .add_choice("--unmapped", options.rules.keep_unmapped,
                  command_line::Choices<bool>{{"fail", false}, {"keep", true}},
                  "What to do with addresses in no --ip-map: fail or keep")
      .type_name("WHAT")
      .default_str("fail")
      .group(kAddresses);
  several("--mac-map", options.mac_maps, "OLD=NEW", "Ethernet address that becomes another one", kAddresses);
  one("--source-mac", options.source_mac, "MAC", "Of all RoCE packets that no --mac-map names", kAddresses);
  one("--destination-mac", options.destination_mac, "MAC", "Likewise", kAddresses);
  command
      .add_choice("--to-version", options.rules.version,
                  command_line::Choices<ToVersion>{{"v1", ToVersion::v1},
                                                   {"v2", ToVersion::v2},
                                                   {"v2_ipv4", ToVersion::v2_ipv4},
                                                   {"v2_ipv6", ToVersion::v2_ipv6}},
                  "What the packets become: v1, v2, v2_ipv4 or v2_ipv6")
      .type_name("VERSION")
      .group(kAddresses);
  one("--udp-source-port", options.source_port, "PORT", "keep, flow-label, random (one a QP), or a number", kAddresses);
  command.add_option("--seed", options.seed, "Of random source ports and of faults")
      .capture_default_str()
      .group(kAddresses);

  command.add_flag("--strip-tunnels", options.rules.strip_tunnels, "Leave only the innermost frame").group(kFrames);
  command.add_flag("--vlan-remove", options.rules.remove_vlan, "Take VLAN tags off").group(kFrames);
  one("--vlan-add", options.add_vlan, "ID[:PCP]", "Put a VLAN tag in front of the others", kFrames);
  several("--vlan-map", options.vlan_maps, "OLD=NEW", "VLAN ID that becomes another one", kFrames);
  command.add_option("--pcp", options.pcp, "Priority of all VLAN tags").range(0U, 7U).group(kFrames);
  command.add_option("--dscp", options.dscp, "Of the IP header or GRH").range(0U, 63U).group(kFrames);
  command.add_option("--ecn", options.ecn, "Likewise; 3 is congestion experienced").range(0U, 3U).group(kFrames);
  command.add_option("--ttl", options.hop_limit, "Likewise, or hop limit").range(0U, 255U).group(kFrames);
  command.add_flag("--only-roce", options.rules.only_roce, "Leave out what is no RoCE packet").group(kFrames);
  command
      .add_choice("--path-mtu", options.rules.path_mtu,
                  command_line::Choices<std::uint32_t>{
                      {"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}},
                  "Cut the messages of RC and UC into packets of so many bytes, and number them anew")
      .type_name("BYTES")
      .group(kFrames);
  command.add_flag("--keep-bad-icrc", options.rules.keep_bad_icrc, "ICRCs that are wrong stay so, in the same bits")
      .group(kFrames);
  command
      .add_flag("--keep-bad-checksums", options.rules.keep_bad_checksums, "Likewise checksums of IPv4, UDP and others")
      .group(kFrames);

  several("--qpn-map", options.qpn_maps, "OLD[@IP]=NEW", "QPN, of the host with this address, that becomes another one",
          kNumbers);
  one("--psn-offset", options.psn_offset, "N", "Add to all PSNs, modulo 2^24; may be negative", kNumbers);
  several("--p-key-map", options.p_key_maps, "OLD=NEW", "P_Key that becomes another one", kNumbers);
  several("--q-key-map", options.q_key_maps, "OLD=NEW", "Q_Key that becomes another one", kNumbers);
  several("--r-key-map", options.r_key_maps, "OLD=NEW", "R_Key that becomes another one", kNumbers);
  several("--va-map", options.va_maps, "START[+LENGTH]=NEW", "Virtual addresses that move", kNumbers);
  several("--set", options.fields, "NAME=VALUE", "Any field: bth.mig_req=true, vlan[1].vid=5", kNumbers);

  several("-e,--event", options.faults, "RULE", "Fault on purpose, e.g. drop:psn=5; roce-gen's docs/impair.md has all",
          kFaults);
  command
      .add_flag("--anonymise", options.anonymise,
                "Pseudonyms for addresses, keys and payload; leaves out what is no RoCE packet")
      .group(kAddresses);
  one("--key", options.key, "TEXT", "Secret of the pseudonyms: the same in each file (default: a random one)",
      kAddresses);
}

Outcome<RewriteRules> read_rewrite_rules(const RewriteOptions& options) {
  RewriteRules rules = options.rules;
  const auto optional = [](const std::string& text) {
    return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{text};
  };
  const std::vector<std::string> add_vlan = optional(options.add_vlan);
  const std::vector<std::string> psn_offset = optional(options.psn_offset);
  const std::vector<std::string> source_port = optional(options.source_port);
  for (const Source& source :
       {Source{"--ip-map", &options.ip_maps, read_ip_map}, Source{"--mac-map", &options.mac_maps, read_mac_map},
        Source{"--vlan-add", &add_vlan, read_vlan_tag}, Source{"--vlan-map", &options.vlan_maps, read_vlan_map},
        Source{"--udp-source-port", &source_port, read_source_port},
        Source{"--qpn-map", &options.qpn_maps, read_qpn_map}, Source{"--psn-offset", &psn_offset, read_psn_offset},
        Source{"--p-key-map", &options.p_key_maps, read_p_key_map},
        Source{"--q-key-map", &options.q_key_maps, read_q_key_map},
        Source{"--r-key-map", &options.r_key_maps, read_r_key_map}, Source{"--va-map", &options.va_maps, read_va_map},
        Source{"--set", &options.fields, read_field_setting}}) {
    for (const std::string& text : *source.texts) {
      if (const ReadResult<> read = source.read(text, rules); !read) {
        return cannot(fmt::format("{} {}: {}", source.name, text, read.error()));
      }
    }
  }
  const auto read_mac_option = [](const char* name, const std::string& text,
                                  std::optional<MacAddress>& into) -> Outcome<void> {
    if (text.empty()) return {};
    const ReadResult<MacAddress> mac = read_mac(text);
    if (!mac) return cannot(fmt::format("{} {}: {}", name, text, mac.error()));
    into = *mac;
    return {};
  };
  if (const auto read = read_mac_option("--source-mac", options.source_mac, rules.source_mac); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto read = read_mac_option("--destination-mac", options.destination_mac, rules.destination_mac); !read) {
    return tl::unexpected(read.error());
  }
  const auto narrow = [](const std::optional<std::uint32_t>& value) {
    return value ? std::optional{static_cast<std::uint8_t>(*value)} : std::nullopt;
  };
  rules.pcp = narrow(options.pcp);
  rules.dscp = narrow(options.dscp);
  rules.ecn = narrow(options.ecn);
  rules.hop_limit = narrow(options.hop_limit);
  rules.seed = options.seed;
  if (!options.key.empty() && !options.anonymise)
    return cannot("--key is the secret of --anonymise, which is not given");
  if (options.anonymise) rules.anonymise = key_of(options.key);
  return rules;
}

Outcome<impair::RuleSet> read_faults(const RewriteOptions& options) {
  std::string faults;
  for (const std::string& fault : options.faults) faults += fault + "\n";
  impair::RuleResult<impair::RuleSet> rules = impair::RuleSet::from_text(faults);
  if (!rules) return cannot("-e: " + rules.error().message);
  return std::move(*rules);
}

}  // namespace roce::replay
