// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <string>
#include <string_view>

#include "packet_text/packet_text.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/fields.h"

namespace roce::plugin {

namespace {

/// Returns the text that `write` appends to a buffer; empty if it throws.
template <typename Write>
Text written(Write write) {
  try {
    fmt::memory_buffer buffer;
    write(buffer);
    return to_text({buffer.data(), buffer.size()});
  } catch (const std::exception&) {
    return {};
  }
}

std::string_view opcode_name(const Packet& packet) {
  return packet.info().defined() ? packet.info().name : "Unknown opcode";
}

bool is_abbreviation(std::string_view word) {
  constexpr std::array kAbbreviations{"nak", "rnr", "ack", "icrc", "ce", "cnp"};
  return std::ranges::find(kAbbreviations, word) != kAbbreviations.end();
}

}  // namespace

Text to_text(std::string_view source) noexcept {
  Text text;
  std::copy_n(source.data(), std::min(source.size(), text.characters.size() - 1), text.characters.data());
  return text;
}

Text packet_text(const Packet& packet) noexcept {
  return written([&](fmt::memory_buffer& out) {
    if (!packet.is_roce()) return packet_text::append_packet_text(out, packet, {});
    const Bth bth = packet.bth();
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{} QP 0x{:06x} PSN {}"), opcode_name(packet),
                   bth.dest_qp.value(), bth.psn.value());
    packet_text::append_packet_text(out, packet, {});
  });
}

Text header_text(const Packet& packet, HeaderId id) noexcept {
  return written([&](fmt::memory_buffer& out) {
    const auto add = [&](const auto& format, const auto&... values) {
      fmt::format_to(std::back_inserter(out), format, values...);
    };
    if (id == HeaderId::bth) {
      const Bth bth = packet.bth();
      add(FMT_COMPILE("{}, QP 0x{:06x}, PSN {}"), opcode_name(packet), bth.dest_qp.value(), bth.psn.value());
    } else if (id == HeaderId::aeth) {
      if (const auto aeth = packet.get<Aeth>())
        add(FMT_COMPILE("{}, MSN {}"), to_string(aeth->syndrome), aeth->msn.value());
    } else if (id == HeaderId::reth) {
      if (const auto reth = packet.get<Reth>()) {
        add(FMT_COMPILE("{} bytes at 0x{:016x}, R_Key 0x{:08x}"), reth->dma_length, reth->virtual_address,
            reth->r_key.value());
      }
    } else if (id == HeaderId::deth) {
      if (const auto deth = packet.get<Deth>()) add(FMT_COMPILE("from QP 0x{:06x}"), deth->source_qp.value());
    } else if (id == HeaderId::immdt) {
      if (const auto immediate = packet.get<ImmDt>()) add(FMT_COMPILE("0x{:08x}"), immediate->data);
    } else if (id == HeaderId::mad) {
      if (const auto mad = packet.find(HeaderId::mad)) {
        const FieldInfo* const attribute = find_field(header_info(HeaderId::mad), "attribute_id");
        add(FMT_COMPILE("{}"), packet_text::value_text(*attribute, packet.layer_bytes(*mad)));
      }
    }
  });
}

Text opcode_text(Opcode opcode) noexcept {
  const OpcodeInfo& info = opcode_info(opcode);
  return to_text(info.defined() ? info.name : "Unknown opcode");
}

Text syndrome_text(AethSyndrome syndrome) noexcept {
  return written([&](fmt::memory_buffer& out) { text::append(out, to_string(syndrome)); });
}

Text verdict_name(analysis::VerdictKind kind) noexcept {
  return to_text(analysis::verdict_info(kind).name);
}

Text cause_name(analysis::Cause cause) noexcept {
  return to_text(analysis::to_string(cause));
}

Text problem_text(const Packet& packet) noexcept {
  return written([&](fmt::memory_buffer& out) { text::append(out, to_string(packet.problem())); });
}

Text icrc_text(const Packet& packet, const IcrcVerdict& icrc, std::uint32_t base) noexcept {
  return written([&](fmt::memory_buffer& out) {
    if (icrc.status == IcrcStatus::bad) {
      text::append(out, to_string(explain_icrc(packet), packet, base));
    } else {
      text::append(out, to_string(icrc));
    }
  });
}

Text verdict_text(const analysis::Verdict& verdict) noexcept {
  return written([&](fmt::memory_buffer& out) {
    const bool breaks_rule = verdict.kind == analysis::VerdictKind::rule_broken;
    text::append(out, breaks_rule ? rule_info(verdict.rule).text : verdict_info(verdict.kind).text);
    if (verdict.rule != analysis::Rule::none) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(" ({})"), rule_info(verdict.rule).identifier);
    }
    if (verdict.cause != analysis::Cause::none) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(" (cause: {}{})"), to_string(verdict.cause),
                     verdict.spurious ? ", spurious" : "");
    }
    if (verdict.kind == analysis::VerdictKind::no_answer && verdict.tries > 1) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(" (nobody answered {} tries)"), verdict.tries);
    }
    if (verdict.kind == analysis::VerdictKind::never_ready && verdict.tries != 0) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(" ({} RNR NAKs)"), verdict.tries);
    }
    if (verdict.ack_timeout != 0) {
      const double timeout = 4.096e-3 * static_cast<double>(std::uint64_t{1} << (verdict.ack_timeout & 0x1FU));
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(" (ACK timeout {}: {:.3g} ms)"), verdict.ack_timeout,
                     timeout);
    }
  });
}

Text rule_text(analysis::Rule rule) noexcept {
  return to_text(rule_info(rule).identifier);
}

Text end_text(const Gid& address, std::optional<Qpn> qpn) noexcept {
  return written([&](fmt::memory_buffer& out) {
    text::append(out, to_string(address));
    if (qpn) fmt::format_to(std::back_inserter(out), FMT_COMPILE(" QP 0x{:06x}"), qpn->value());
  });
}

Text numbered_end_text(const Gid& address, std::optional<Qpn> qpn, std::uint32_t stream) noexcept {
  const Text end = end_text(address, qpn);
  return written([&](fmt::memory_buffer& out) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{} #{}"), end.c_str(), stream);
  });
}

Text verdict_mark(analysis::VerdictKind kind) noexcept {
  return written([&](fmt::memory_buffer& out) {
    std::string_view name = verdict_info(kind).name;
    constexpr std::string_view kNak = "nak_";
    if (name.starts_with(kNak)) {
      text::append(out, kind == analysis::VerdictKind::nak_sequence_error ? "NAK: PSN " : "NAK: ");
      name.remove_prefix(kNak.size());
    }
    while (!name.empty()) {
      const std::size_t end = std::min(name.find('_'), name.size());
      std::string word{name.substr(0, end)};
      const auto upper = [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); };
      if (is_abbreviation(word)) {
        std::ranges::transform(word, word.begin(), upper);
      } else {
        word[0] = upper(word[0]);
      }
      text::append(out, word);
      name.remove_prefix(std::min(end + 1, name.size()));
      if (!name.empty()) text::append(out, " ");
    }
  });
}

}  // namespace roce::plugin
