// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command_line/outcome.h"
#include "gen/frames/frame_source.h"

namespace roce::gen {

/// Splits the `NAME=RULE` words of a command line for `read_packet`. Failures: a word without `=`, a name twice.
[[nodiscard]] Outcome<std::vector<std::pair<std::string, std::string>>> split_values(
    const std::vector<std::string>& words);

/// Reads the packets of a YAML text: a map of names and rules (docs/roce-gen.md), or a list of such maps; a map under
/// the name of a header holds its fields, a list is a list of values. In each packet `values` replace the file's.
/// Failures: any error in the text, with line, column and `name` as its source; more than `yaml_input::Bounds`.
[[nodiscard]] Outcome<std::vector<VaryingPacket>> read_packets(
    const std::string& name, const std::string& text, const std::vector<std::pair<std::string, std::string>>& values);

/// Reads the packets of a YAML file. Failures: it cannot be read; those of `read_packets`.
[[nodiscard]] Outcome<std::vector<VaryingPacket>> read_packet_file(
    const std::string& path, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace roce::gen
