// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/opcode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "opcode_rows.h"
#include "roce/wire/fields.h"

namespace roce {
namespace {

TEST(OpcodeTable, SaysWhatTheSpecificationSays) {
  std::size_t defined = 0;
  for (unsigned code = 0; code < 256; ++code) {
    SCOPED_TRACE(code);
    const OpcodeInfo& info = opcode_info(static_cast<Opcode>(code));
    EXPECT_EQ(static_cast<unsigned>(info.service), code >> 5);
    const auto row = std::ranges::find(test::kOpcodeRows, code, &test::OpcodeRow::code);
    if (row == test::kOpcodeRows.end()) {
      EXPECT_FALSE(info.defined()) << info.name;
      EXPECT_EQ(info.operation, Operation::unknown);
      EXPECT_EQ(info.payload, PayloadRule::opaque);
      EXPECT_EQ(info.position, Position::only);
      EXPECT_TRUE(info.headers().empty());
      EXPECT_EQ(info.header_bytes, 0);
      continue;
    }
    ++defined;
    EXPECT_TRUE(info.defined());
    EXPECT_EQ(info.name, row->name);
    EXPECT_EQ(info.service, row->service);
    EXPECT_EQ(info.operation, row->operation);
    EXPECT_EQ(info.position, row->position);
    EXPECT_EQ(info.payload, row->payload);
    EXPECT_EQ(std::vector<HeaderId>(info.headers().begin(), info.headers().end()), row->headers) << row->name;
    std::size_t bytes = 0;
    for (const HeaderId id : row->headers) bytes += header_info(id).size;
    EXPECT_EQ(info.header_bytes, bytes);
    const auto has = [&](HeaderId id) { return std::ranges::count(row->headers, id) != 0; };
    EXPECT_EQ(info.immediate, has(HeaderId::immdt));
    EXPECT_EQ(info.invalidate, has(HeaderId::ieth));
    const bool is_first = row->name.find("_FIRST") != std::string_view::npos;
    const bool is_middle = row->name.find("_MIDDLE") != std::string_view::npos;
    const bool is_last = row->name.find("_LAST") != std::string_view::npos;
    EXPECT_EQ(info.begins_message(), !is_middle && !is_last) << row->name;
    EXPECT_EQ(info.ends_message(), !is_middle && !is_first) << row->name;
    EXPECT_EQ(info.is_response(), has(HeaderId::aeth) || row->name.ends_with("_READ_RESPONSE_MIDDLE"));
  }
  EXPECT_EQ(defined, test::kOpcodeRows.size());
  EXPECT_EQ(kOpcodeNames.size(), test::kOpcodeRows.size());
}

TEST(OpcodeTable, FindsOpcodesByNameAndNumber) {
  for (const test::OpcodeRow& row : test::kOpcodeRows) {
    std::string lower{row.name};
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(opcode_from_name(row.name), static_cast<Opcode>(row.code)) << row.name;
    EXPECT_EQ(opcode_from_name(lower), static_cast<Opcode>(row.code)) << lower;
  }
  EXPECT_EQ(opcode_from_name("0x11"), Opcode::rc_acknowledge);
  EXPECT_EQ(opcode_from_name("17"), Opcode::rc_acknowledge);
  EXPECT_EQ(opcode_from_name("255"), static_cast<Opcode>(255));
  for (const std::string_view bad : {"256", "0x100", "", "RC_SEND", "RC_SEND_ONLY ", "-1", "UC_READ_REQUEST"}) {
    EXPECT_EQ(opcode_from_name(bad), std::nullopt) << bad;
  }
}

TEST(OpcodeTable, EnumeratorsHaveTheNumbersOfTheirNames) {
  EXPECT_EQ(static_cast<int>(Opcode::rc_send_last_invalidate), 0x16);
  EXPECT_EQ(static_cast<int>(Opcode::rc_fetch_add), 0x14);
  EXPECT_EQ(static_cast<int>(Opcode::rc_atomic_write), 0x1D);
  EXPECT_EQ(static_cast<int>(Opcode::uc_write_only_imm), 0x2B);
  EXPECT_EQ(static_cast<int>(Opcode::rd_resync), 0x55);
  EXPECT_EQ(static_cast<int>(Opcode::rd_flush), 0x5C);
  EXPECT_EQ(static_cast<int>(Opcode::ud_send_only), 0x64);
  EXPECT_EQ(static_cast<int>(Opcode::ud_send_only_imm), 0x65);
  EXPECT_EQ(static_cast<int>(Opcode::cnp), 0x81);
  EXPECT_EQ(static_cast<int>(Opcode::xrc_fetch_add), 0xB4);
  EXPECT_EQ(static_cast<int>(Opcode::xrc_send_only_invalidate), 0xB7);
  EXPECT_EQ(static_cast<int>(Opcode::xrc_atomic_write), 0xBD);
}

TEST(PayloadRule, AllowsTheLengthsOfTheSpecification) {
  for (const std::size_t mtu : {256U, 1024U, 4096U}) {
    const auto allowed = [&](PayloadRule rule) {
      std::vector<std::size_t> fits;
      for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{8}, mtu - 1, mtu, mtu + 1}) {
        if (payload_fits(rule, length, mtu)) fits.push_back(length);
      }
      return fits;
    };
    using Lengths = std::vector<std::size_t>;
    EXPECT_EQ(allowed(PayloadRule::none), (Lengths{0}));
    EXPECT_EQ(allowed(PayloadRule::exactly_mtu), (Lengths{mtu}));
    EXPECT_EQ(allowed(PayloadRule::one_to_mtu), (Lengths{1, 8, mtu - 1, mtu}));
    EXPECT_EQ(allowed(PayloadRule::zero_to_mtu), (Lengths{0, 1, 8, mtu - 1, mtu}));
    EXPECT_EQ(allowed(PayloadRule::exactly_eight), (Lengths{8}));
    EXPECT_EQ(allowed(PayloadRule::opaque), (Lengths{0, 1, 8, mtu - 1, mtu, mtu + 1}));
  }
}

}  // namespace
}  // namespace roce
