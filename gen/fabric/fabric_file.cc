// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gen/fabric/fabric_fields.h"
#include "gen/fabric/fabric_parts.h"
#include "yaml/yaml_input.h"

namespace roce::gen {

namespace {

/// The state while a file is read.
class FileReader {
 public:
  /// Reads and checks the whole document. Throws `Mistake`.
  [[nodiscard]] FabricFile read(const YAML::Node& root, std::optional<std::uint64_t> seed) {
    Reader reader{root, "", places_};
    reader.set("seed", file_.config.seed, read_whole, ~std::uint64_t{0});
    if (seed) file_.config.seed = *seed;
    file_.duration = Reader::check(read_time(reader.need("duration"), "duration"));
    constexpr Duration longest = std::chrono::seconds{1000};
    if (file_.duration <= Duration{0} || file_.duration > longest) {
      reader.refuse("duration", "expected more than 0 and at most 1000 s");
    }
    file_.topology = read_topology(reader.need("topology"), places_);
    expect(fabric::check(file_.topology), "topology.");
    if (const std::optional<YAML::Node> hosts = reader.find("hosts")) read_hosts(*hosts, file_.config.hosts, places_);
    if (const std::optional<YAML::Node> switches = reader.find("switches")) {
      read_switches(*switches, file_.config.switches, places_);
    }
    if (const std::optional<YAML::Node> storms = reader.find("storms")) {
      read_storms(*storms, file_.config.storms, places_);
    }
    read_workloads(reader);
    reader.finish();
    std::uint32_t mtu = file_.config.hosts.path_mtu;
    for (const fabric::Flow& flow : file_.flows) mtu = std::max(mtu, flow.mtu);
    expect(fabric::check(file_.config, file_.topology, mtu), "");
    return std::move(file_);
  }

 private:
  void read_workloads(Reader& reader) {
    const YAML::Node list = reader.need("workloads");
    if (!list.IsSequence() || list.size() == 0) {
      reader.refuse("workloads", "expected a list such as [{kind: permutation, size: 1MB}]");
    }
    const WorkloadContext context{file_.topology, file_.config.seed, file_.duration};
    std::vector<std::size_t> first;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      first.push_back(file_.flows.size());
      file_.workloads.push_back(read_workload(list[i], i, context, file_.flows, places_));
    }
    for (const fabric::Flow& flow : file_.flows) {
      if (flow.start >= file_.duration) {
        const std::size_t number = static_cast<std::size_t>(&flow - file_.flows.data());
        refuse_flow(number, first, ".start", "it would begin after the end of the run");
      }
    }
    const fabric::Result<void> checked = fabric::check(file_.flows, file_.topology);
    if (checked) return;
    // `flows[17].to` of the library is a flow of a workload here.
    const std::string& where = checked.error().where;
    std::size_t number = 0;
    const std::size_t digits = where.find('[') + 1;
    std::from_chars(where.data() + digits, where.data() + where.size(), number);
    const std::size_t end = where.find(']');
    refuse_flow(number, first, where.substr(end + 1), checked.error().what);
  }

  [[noreturn]] void refuse_flow(std::size_t number, const std::vector<std::size_t>& first, const std::string& member,
                                const std::string& what) const {
    const std::uint32_t workload = file_.flows[number].group;
    std::string path = fmt::format("workloads[{}]", workload);
    if (places_.contains(path + ".flows")) path += fmt::format(".flows[{}]", number - first[workload]);
    path += member;
    throw Mistake{{fmt::format("{}: {}", path, what), place_of(places_, path)}};
  }

  void expect(const fabric::Result<void>& checked, const std::string& prefix) const {
    if (checked) return;
    const std::string path = prefix + checked.error().where;
    throw Mistake{{fmt::format("{}: {}", path, checked.error().what), place_of(places_, path)}};
  }

  FabricFile file_;
  Places places_;
};

}  // namespace

Outcome<FabricFile> read_fabric(const std::string& name, const std::string& text, std::optional<std::uint64_t> seed) {
  const auto wrong = [&name](const YamlError& error) {
    if (error.mark.is_null()) return cannot(fmt::format("{}: {}", name, error.what));
    return cannot(
        fmt::format("{}, line {}, column {}: {}", name, error.mark.line + 1, error.mark.column + 1, error.what));
  };
  const tl::expected<YAML::Node, YamlError> root = yaml_input::load(text);
  if (!root) return wrong(root.error());
  try {
    return FileReader{}.read(*root, seed);
  } catch (const Mistake& mistake) {
    return wrong(mistake.error);
  } catch (const YAML::Exception& error) {
    return wrong({error.msg, error.mark});
  }
}

}  // namespace roce::gen
