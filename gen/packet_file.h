// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gen/failure.h"
#include "gen/frame_source.h"

namespace roce::gen {

/// `NAME=RULE` words of a command line as `read_packet` takes them. Failures: a word without `=`, a name twice.
[[nodiscard]] Outcome<std::vector<std::pair<std::string, std::string>>> split_values(
    const std::vector<std::string>& words);

/// The packets of a YAML text: a map of names and rules (docs/roce-gen.md), or a list of such maps; a map under the
/// name of a header holds its fields, a list is a list of values. `values` count in each packet in place of the file's
/// own. Failures: what is wrong in it, with line and column, as what stands in `name`; more than `yaml_input::Bounds`.
[[nodiscard]] Outcome<std::vector<VaryingPacket>> read_packets(
    const std::string& name, const std::string& text, const std::vector<std::pair<std::string, std::string>>& values);

/// The packets of such a file. Failures: it cannot be read; those of `read_packets`.
[[nodiscard]] Outcome<std::vector<VaryingPacket>> read_packet_file(
    const std::string& path, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace roce::gen
