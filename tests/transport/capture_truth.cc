// SPDX-License-Identifier: BSD-2-Clause
#include "capture_truth.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/source_tree.h"

namespace roce::test {

namespace {

using nlohmann::json;

/// The opcodes of libibverbs for completed receives: 128, and 129 for those consumed by a WRITE with immediate.
constexpr unsigned kReceived = 128;
constexpr unsigned kReceivedWrite = 129;
constexpr unsigned kWithImmediate = 2;

/// Parses a GID of eight groups of four hexadecimal digits.
Gid gid_of(const std::string& text) {
  Gid gid;
  for (std::size_t i = 0; i < gid.octets.size(); ++i) {
    const std::size_t at = i / 2 * 5 + i % 2 * 2;
    gid.octets[i] = static_cast<std::uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16));
  }
  return gid;
}

/// Returns the completed receives. Failed entries of a program that also sent are left out: they may be sends.
std::vector<Receipt> receipts_of(const json& side) {
  std::vector<Receipt> receipts;
  for (const json& entry : side.at("wc")) {
    const auto status = entry.at("st").get<unsigned>();
    const auto opcode = entry.at("op").get<unsigned>();
    const bool failed = status != 0;
    constexpr unsigned flushed = 5;
    if (failed ? !side.at("posted").empty() || status == flushed : opcode < kReceived) continue;
    Receipt receipt;
    receipt.status = static_cast<transport::CompletionStatus>(status);
    if (!failed) {
      receipt.by_write = opcode == kReceivedWrite;
      receipt.length = entry.at("len").get<std::uint32_t>();
      if ((entry.at("fl").get<unsigned>() & kWithImmediate) != 0)
        receipt.immediate = entry.at("imm").get<std::uint32_t>();
    }
    receipts.push_back(receipt);
  }
  return receipts;
}

}  // namespace

std::string describe(const Receipt& receipt) {
  std::string text = fmt::format("status {} {} length {}", static_cast<unsigned>(receipt.status),
                                 receipt.by_write ? "write" : "receive", receipt.length);
  if (receipt.immediate) text += fmt::format(" immediate {:#x}", *receipt.immediate);
  return text;
}

ResponderTruth truth_of(const CapturedConnection& connection) {
  ResponderTruth truth;
  const auto file =
      std::filesystem::path{roce::test::captures_folder()} / "softroce" / (connection.capture + ".truth.json");
  if (!std::filesystem::exists(file)) return truth;
  std::ifstream in(file);
  const json all = json::parse(in);
  const auto cases = all.find("cases");
  if (cases == all.end() || !cases->is_array() || cases->empty()) return truth;
  truth.qp_exists = false;
  for (const char* who : {"server", "client"}) {
    for (const json& side : all.at(who)) {
      const json& me = side.at("me");
      if (gid_of(me.at("gid").get<std::string>()) != connection.responder ||
          me.at("qpn").get<std::uint32_t>() != connection.responder_qpn.value()) {
        continue;
      }
      truth.qp_exists = true;
      truth.mtu = side.at("mtu").get<std::uint32_t>();
      truth.receipts = receipts_of(side);
      for (const json& one : *cases) {
        if (one.at("name") != side.at("case")) continue;
        truth.receive_length = one.value("recv_len", truth.receive_length);
        truth.later_receives_have_bad_key = one.value("bad", "") == "lkey";
        truth.min_rnr_timer = one.value("min_rnr", truth.min_rnr_timer);
      }
    }
  }
  return truth;
}

}  // namespace roce::test
