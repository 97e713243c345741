// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/devices/device_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "roce/transport/counters.h"
#include "verbs/counters/counter_page.h"

namespace roce::verbs {

namespace {

namespace fs = std::filesystem;

/// Writes files, and remembers the first one that could not be written.
class Writer {
 public:
  void file(const fs::path& path, const std::string& text) {
    if (!error_.empty() || holds(path, text)) return;
    make_folder(path.parent_path());
    // Renamed into its place, it is never seen half written.
    const fs::path made = write_beside(path, text);
    std::error_code error;
    fs::rename(made, path, error);
    if (error) fail(path, error.message());
  }
  /// Makes a file of this size that begins with `begin` and then has zeros, unless it is there and begins like that:
  /// then others may have it mapped.
  void page(const fs::path& path, std::span<const char> begin, std::size_t size) {
    if (!error_.empty()) return;
    std::error_code error;
    const std::uintmax_t found = fs::file_size(path, error);
    const bool is_there = !error;
    std::string there(begin.size(), '\0');
    if (is_there && found == size && std::ifstream{path, std::ios::binary}.read(there.data(), std::ssize(there)) &&
        std::ranges::equal(there, begin)) {
      return;
    }
    std::string text(begin.begin(), begin.end());
    text.resize(size);
    if (is_there) return file(path, text);
    make_folder(path.parent_path());
    const fs::path made = write_beside(path, text);
    // A page that another process has made meanwhile is as good, and programs have it mapped.
    fs::create_hard_link(made, path, error);
    if (error && error != std::errc::file_exists) fail(path, error.message());
    fs::remove(made, error);
  }
  void link(const fs::path& path, const fs::path& target) {
    std::error_code error;
    if (!error_.empty() || fs::read_symlink(path, error) == target) return;
    make_folder(path.parent_path());
    // As with files: others that make the same tree just now find the link or put theirs into its place.
    const fs::path made = beside(path);
    fs::remove(made, error);
    fs::create_symlink(target, made, error);
    if (!error) fs::rename(made, path, error);
    if (error) fail(path, error.message());
  }
  void folder(const fs::path& path) {
    if (error_.empty()) make_folder(path);
  }
  /// Removes what is in a folder and has a name that begins with `prefix`, but for these names. The folder is there
  /// then.
  void keep_only(const fs::path& path, std::string_view prefix, const std::vector<std::string>& names) {
    folder(path);
    std::error_code error;
    fs::directory_iterator at{path, error};
    for (; error_.empty() && !error && at != fs::directory_iterator{}; at.increment(error)) {
      const std::string name = at->path().filename();
      if (!name.starts_with(prefix) || std::ranges::find(names, name) != names.end()) continue;
      std::error_code refusal;
      fs::remove_all(at->path(), refusal);
      if (refusal) fail(at->path(), refusal.message());
    }
    if (error) fail(path, error.message());
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] static bool holds(const fs::path& path, const std::string& text) {
    std::ifstream in{path, std::ios::binary};
    return in && std::string{std::istreambuf_iterator<char>{in}, {}} == text;
  }
  /// Another name in the folder of `path`, which begins like none of a device.
  [[nodiscard]] static fs::path beside(const fs::path& path) {
    return path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  }
  /// Writes a file of another name in the folder of `path`, and returns that.
  [[nodiscard]] fs::path write_beside(const fs::path& path, const std::string& text) {
    fs::path made = beside(path);
    std::ofstream out{made, std::ios::binary};
    out << text;
    out.close();
    if (!out) fail(made, std::strerror(errno));
    return made;
  }
  void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) fail(path, error.message());
  }
  void fail(const fs::path& path, const std::string& why) {
    if (error_.empty()) error_ = fmt::format("{}: {}", path.string(), why);
  }

  std::string error_;
};

/// Returns a GUID or GID as sysfs has it: groups of four digits.
[[nodiscard]] std::string grouped(std::span<const std::uint8_t> octets) {
  std::string text;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", text.empty() ? "" : ":", octets[i], octets[i + 1]);
  }
  return text;
}

[[nodiscard]] std::string verbs_name(std::size_t number) {
  return fmt::format("uverbs{}", number);
}

[[nodiscard]] std::string guid_text(const Place& place) {
  const std::uint64_t guid = place.guid();
  std::array<std::uint8_t, sizeof guid> octets{};
  std::memcpy(octets.data(), &guid, octets.size());
  return grouped(octets);
}

void write_port(Writer& writer, const fs::path& folder, const Place& place) {
  writer.file(folder / "state", "4: ACTIVE\n");
  writer.file(folder / "phys_state", "5: LinkUp\n");
  writer.file(folder / "link_layer", "Ethernet\n");
  writer.file(folder / "lid", "0x0\n");
  writer.file(folder / "sm_lid", "0x0\n");
  writer.file(folder / "cap_mask", "0x04010000\n");
  writer.file(folder / "pkeys" / "0", "0xffff\n");
  writer.file(folder / "gids" / "0", grouped(place.address.octets) + "\n");
  writer.file(folder / "gid_attrs" / "types" / "0", "RoCE v2\n");
  writer.file(folder / "gid_attrs" / "ndevs" / "0", place.interface + "\n");
}

/// Counters of ports by the names that InfiniBand has for them; `counter` is null where there is nothing to count.
struct PortCounter {
  std::string_view name;
  std::uint64_t transport::Counters::*counter = nullptr;
  std::uint16_t unit = 1;
};
constexpr std::uint16_t kWord = 4;  // bytes: what data are counted in
constexpr std::array kPortCounters{
    PortCounter{"port_xmit_data", &transport::Counters::sent_bytes, kWord},
    PortCounter{"port_rcv_data", &transport::Counters::received_bytes, kWord},
    PortCounter{"port_xmit_packets", &transport::Counters::sent_packets},
    PortCounter{"port_rcv_packets", &transport::Counters::received_packets},
    PortCounter{"port_rcv_errors", &transport::Counters::icrc_errors},
    PortCounter{"port_xmit_discards"},
    PortCounter{"port_xmit_wait"},
    PortCounter{"port_rcv_constraint_errors"},
    PortCounter{"port_xmit_constraint_errors"},
    PortCounter{"port_rcv_remote_physical_errors"},
    PortCounter{"port_rcv_switch_relay_errors"},
    PortCounter{"excessive_buffer_overrun_errors"},
    PortCounter{"link_downed"},
    PortCounter{"link_error_recovery"},
    PortCounter{"local_link_integrity_errors"},
    PortCounter{"symbol_error"},
    PortCounter{"VL15_dropped"},
};

/// Writes the files of a port's counters, which tell what there is, and the names into the page that they show.
void write_counters(Writer& writer, const fs::path& root, const fs::path& port, const Place& place) {
  std::vector<CounterPage::Name> names;
  const auto add = [&](std::string_view folder, std::string_view name, std::size_t counter, std::uint16_t unit) {
    const std::string path = fmt::format("{}/{}", folder, name);
    CounterPage::Name entry{.counter = static_cast<std::uint16_t>(counter), .unit = unit};
    const auto is_same = [&](const CounterPage::Name& other) { return path == other.path.data(); };
    if (std::ranges::any_of(names, is_same) || path.size() >= entry.path.size()) return;
    std::ranges::copy(path, entry.path.begin());
    names.push_back(entry);
    writer.file(port / path, "0\n");
  };
  const std::span<const transport::CounterName> all = transport::counter_names();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string_view name : {all[i].name, all[i].rxe, all[i].mlx5}) {
      if (!name.empty()) add("hw_counters", name, i, 1);
    }
    for (const PortCounter& counter : kPortCounters) {
      if (counter.counter == all[i].member) add("counters", counter.name, i, counter.unit);
    }
  }
  for (const PortCounter& counter : kPortCounters) {
    if (counter.counter == nullptr) writer.file(port / "counters" / counter.name, "0\n");
  }
  names.resize(CounterPage::kNames);
  const std::span<const char> bytes{reinterpret_cast<const char*>(names.data()), names.size() * sizeof names.front()};
  writer.page(root.string() + kCounterFolder + place.device_name(), bytes, sizeof(CounterPage));
}

void write_device(Writer& writer, const fs::path& root, const Place& place, std::size_t number) {
  const std::string verbs = verbs_name(number);
  const fs::path device = root / "sys/class/infiniband" / place.device_name();
  writer.file(device / "node_type", "1: CA\n");
  writer.file(device / "node_guid", guid_text(place) + "\n");
  writer.file(device / "sys_image_guid", guid_text(place) + "\n");
  writer.file(device / "node_desc", "roce-verbs\n");
  writer.file(device / "fw_ver", ROCE_VERSION "\n");
  write_port(writer, device / "ports" / "1", place);
  write_counters(writer, root, device / "ports" / "1", place);
  // A card has a NUMA node and processors near to it; this one is everywhere.
  writer.file(device / "device" / "numa_node", "-1\n");
  writer.folder(device / "device" / "net" / place.interface);
  writer.link(device / "device" / "infiniband_verbs" / verbs, "../../../../infiniband_verbs/" + verbs);

  const fs::path entry = root / "sys/class/infiniband_verbs" / verbs;
  writer.file(entry / "ibdev", place.device_name() + "\n");
  writer.file(entry / "abi_version", "1\n");
  writer.link(entry / "device", "../../infiniband/" + place.device_name() + "/device");
  // Programs ask whether it is a character device that they may use.
  writer.link(root / "dev/infiniband" / verbs, "/dev/null");
}

}  // namespace

tl::expected<void, std::string> write_device_tree(const fs::path& root, std::span<const Place> places) {
  Writer writer;
  // The number of the interface between libibverbs and the kernel.
  writer.file(root / "sys/class/infiniband_verbs/abi_version", "6\n");
  std::vector<std::string> devices;
  std::vector<std::string> verbs;
  for (std::size_t i = 0; i < places.size(); ++i) {
    write_device(writer, root, places[i], i);
    devices.push_back(places[i].device_name());
    verbs.push_back(verbs_name(i));
  }
  // Interfaces that there were when the tree was last written.
  writer.keep_only(root / "sys/class/infiniband", "roce_", devices);
  writer.keep_only(root / "sys/class/infiniband_verbs", "uverbs", verbs);
  writer.keep_only(root / "dev/infiniband", "uverbs", verbs);
  writer.keep_only(root.string() + kCounterFolder, "roce_", devices);
  if (!writer.error().empty()) return tl::unexpected(writer.error());
  return {};
}

}  // namespace roce::verbs
