// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/qp_entry.h"

#include <arpa/inet.h>

#include <charconv>
#include <exception>
#include <optional>
#include <string_view>

#include "roce/wire/cm_types.h"

namespace roce::plugin {

namespace {

constexpr std::uint16_t kNvmePort = 4420;
constexpr std::uint16_t kIserPort = 3260;
constexpr std::uint32_t kFirstQpn = 2;
constexpr std::uint32_t kLastQpn = 0xFF'FFFE;
constexpr std::uint64_t kMaxPort = 65'535;

std::string text_of(const char* text) {
  std::string_view all = text == nullptr ? "" : text;
  while (!all.empty() && all.front() == ' ') all.remove_prefix(1);
  while (!all.empty() && all.back() == ' ') all.remove_suffix(1);
  return std::string{all};
}

bool is_hexadecimal(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X");
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const bool is_hex = is_hexadecimal(text);
  if (is_hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, is_hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<Gid> parse_address(const std::string& text) {
  Gid gid;
  if (::inet_pton(AF_INET6, text.c_str(), gid.octets.data()) == 1) return gid;
  Ipv4Address ipv4;
  if (::inet_pton(AF_INET, text.c_str(), ipv4.octets.data()) == 1) return Gid::from_ipv4(ipv4);
  return std::nullopt;
}

std::string wrong(std::string_view column, const std::string& found, std::string_view right) {
  if (found.empty()) return std::string{column} + " is empty: write " + std::string{right} + ".";
  return std::string{column} + " is \"" + found + "\": write " + std::string{right} + ".";
}

tl::expected<std::uint64_t, std::string> parse_service(const std::string& text, std::uint16_t usual_port) {
  const auto of_port = [](std::uint64_t port) {
    return ServiceId{PortSpace::tcp, static_cast<std::uint16_t>(port)}.value();
  };
  if (text.empty()) return of_port(usual_port);
  const auto number = parse_number(text);
  if (number && *number != 0 && is_hexadecimal(text)) return *number;
  if (number && *number != 0 && *number <= kMaxPort) return of_port(*number);
  return tl::unexpected(
      wrong("Service", text, "the TCP port (1 to 65535) or the service ID (hexadecimal, with 0x) of the connection"));
}

}  // namespace

tl::expected<QpEntry, std::string> parse_qp_entry(const QpEntryText& text) {
  QpEntry entry;
  const std::string address = text_of(text.address);
  const std::optional<Gid> gid = parse_address(address);
  if (!gid) return tl::unexpected(wrong("Address", address, "the IPv4 or IPv6 address (or GID) of the QP's host"));
  entry.address = *gid;
  const std::string qpn = text_of(text.qpn);
  const auto number = parse_number(qpn);
  if (!number || *number < kFirstQpn || *number > kLastQpn) {
    return tl::unexpected(wrong("QP number", qpn, "a number from 2 to 16777214, or 0x2 to 0xfffffe"));
  }
  entry.qpn = Qpn{static_cast<std::uint32_t>(*number)};
  entry.is_client = text.is_client;
  const std::string protocol = text_of(text.protocol);
  const std::string service = text_of(text.service);
  const std::string queue = text_of(text.queue);
  const bool is_nvme = protocol == "nvme";
  if (protocol.empty()) return tl::unexpected(wrong("Protocol", protocol, "nvme, iser or the name of a dissector"));
  if (is_nvme || protocol == "iser") {
    const auto service_id = parse_service(service, is_nvme ? kNvmePort : kIserPort);
    if (!service_id) return tl::unexpected(service_id.error());
    entry.service_id = *service_id;
  } else if (!service.empty()) {
    return tl::unexpected(wrong("Service", service, "nothing: only nvme and iser have a service"));
  } else {
    entry.dissector = protocol;
  }
  if (is_nvme) {
    const auto value = queue.empty() ? std::optional<std::uint64_t>{1} : parse_number(queue);
    if (!value || *value > kMaxPort) {
      return tl::unexpected(wrong("Queue", queue, "the number of the NVMe queue, 0 (admin) to 65535"));
    }
    entry.queue = static_cast<std::uint16_t>(*value);
  } else if (!queue.empty()) {
    return tl::unexpected(wrong("Queue", queue, "nothing: only nvme has queues"));
  }
  return entry;
}

void QpEntries::add(const QpEntryText& text) noexcept {
  try {
    if (const auto entry = parse_qp_entry(text)) entries_.push_back(*entry);
  } catch (const std::exception&) {
    return;
  }
}

const QpEntry* QpEntries::find(const Gid& address, Qpn qpn) const {
  for (const QpEntry& entry : entries_) {
    if (entry.qpn == qpn && entry.address == address) return &entry;
  }
  return nullptr;
}

}  // namespace roce::plugin
