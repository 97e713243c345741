// SPDX-License-Identifier: BSD-2-Clause
// The JSON schema of case files names the opcodes and fields that there are; schema_test.py shows the rest of it.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "roce/wire/fields.h"
#include "roce/wire/opcode.h"
#include "support/source_tree.h"

namespace roce::conform {
namespace {

using testing::ContainerEq;

/// Returns the words of a definition of the schema.
std::set<std::string> words(const std::string& definition) {
  std::ifstream file{test::source_folder() + "/conform/case.schema.json"};
  return nlohmann::json::parse(file).at("$defs").at(definition).at("enum").get<std::set<std::string>>();
}

TEST(CaseSchema, NamesEachOpcode) {
  std::set<std::string> opcodes;
  for (const OpcodeInfo& info : kOpcodeTable) {
    const std::string name{info.name};
    if (!info.defined()) continue;
    opcodes.insert(name);
    if (info.service == Service::rc || info.service == Service::uc) opcodes.insert(name.substr(sizeof "RC_" - 1));
  }
  EXPECT_THAT(words("opcode"), ContainerEq(opcodes));
}

TEST(CaseSchema, NamesEachField) {
  std::set<std::string> fields;
  for (const HeaderInfo& header : header_table()) {
    const bool is_place = header.id == HeaderId::none || header.id == HeaderId::payload || header.id == HeaderId::icrc;
    if (is_place) continue;
    const std::string name{header.name};
    if (header.fields.empty()) fields.insert(name);
    for (const FieldInfo& field : header.fields) fields.insert(name + "." + std::string{field.name});
  }
  EXPECT_THAT(words("field"), ContainerEq(fields));
}

}  // namespace
}  // namespace roce::conform
