// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/run/run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "command_line/number_text.h"
#include "roce/link/udp_link.h"
#include "roce/port/address_text.h"
#include "roce/port/udp_meta.h"
#include "verbs/devices/device_tree.h"
#include "verbs/devices/places.h"
#include "verbs/port/port_share.h"
#include "verbs/run/target_program.h"

namespace roce::verbs {

namespace {

/// Returns the folder with our libraries, found from the place of this program.
[[nodiscard]] Outcome<std::string> library_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return cannot(fmt::format("cannot find the library: /proc/self/exe: {}", error.message()));
  const fs::path folder = (program.parent_path() / ROCE_VERBS_FROM_BIN).lexically_normal();
  for (const char* const library : {"libibverbs.so.1", "libroce-paths.so", "roce-portd"}) {
    if (!fs::exists(folder / library, error)) {
      return cannot(fmt::format("there is no {} in {}; install the whole package", library, folder.string()));
    }
  }
  return folder.string();
}

/// The datagrams that a program can send from its address, which is free to be used.
struct Room {
  std::size_t max_bytes = 0;  // of a UDP payload
  bool segments = false;
};

/// Opens and closes the link that the program will open: its errors are those that it would meet. The roce-portd that
/// is started for it waits for the program.
[[nodiscard]] Outcome<Room> try_address(const std::string& text, const std::string& folder) {
  const std::optional<Gid> gid = port::parse_ip(text);
  if (!gid) return cannot(fmt::format("--address: expected an IP address, found {}", command_line::quote(text)));
  link::UdpLinkOptions options;
  PortShare share;
  if (!takes_whole_port()) {
    link::LinkResult<PortShare> joined = join_port(*gid, {}, folder + "/roce-portd");
    if (!joined) return cannot(joined.error().message);
    share = std::move(*joined);
    options.receiver = share.receiver.release();
  }
  options.segmentation = true;
  options.local = port::address_of(*gid);
  const auto link = link::UdpLink::open(options);
  if (!link) return cannot(link.error().message);
  return Room{.max_bytes = (*link)->max_bytes(), .segments = (*link)->segmentation().max_segments > 1};
}

/// Returns the number in a file of /proc/sys; none if it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_setting(const char* path) {
  std::ifstream file{path};
  std::uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

void print_room(const std::string& address, const Room& room) {
  fmt::print("address   {}: UDP port 4791 {}; datagrams of up to {} bytes{}\n", address,
             takes_whole_port() ? "is free" : "can be shared by 255 processes", room.max_bytes,
             room.segments ? ", cut by the kernel" : ", sent one by one");
}

void print_buffers() {
  constexpr std::uint64_t enough = 4U << 20;
  const std::optional<std::uint64_t> most = read_setting("/proc/sys/net/core/rmem_max");
  if (!most) return;
  fmt::print("buffers   net.core.rmem_max is {}{}\n", *most,
             *most >= enough
                 ? ""
                 : fmt::format("; with many senders, `sysctl net.core.rmem_max={}` loses fewer packets", enough));
}

/// Puts `first` in front of what an environment variable has.
void prepend(const char* variable, const std::string& first) {
  const char* others = std::getenv(variable);
  const bool has_others = others != nullptr && *others != '\0';
  ::setenv(variable, has_others ? (first + ":" + others).c_str() : first.c_str(), 1);
}

/// Returns the folder for the tree of devices at an address, or at all of them: of this user alone.
[[nodiscard]] std::filesystem::path tree_folder(const std::string& address) {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool has_runtime = runtime != nullptr && *runtime == '/';
  const std::filesystem::path folder = has_runtime ? std::filesystem::path{runtime} / "roce"
                                                   : std::filesystem::path{fmt::format("/tmp/roce-{}", ::getuid())};
  return folder / (address.empty() ? "all" : address);
}

/// True if nobody else can put anything into the folder.
[[nodiscard]] bool is_own(const std::filesystem::path& folder) {
  struct stat found {};
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::getuid() &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Writes the tree of the devices that the program will see, and returns its root.
[[nodiscard]] Outcome<std::string> make_tree(const std::string& address) {
  const auto places = find_places(address.empty() ? std::nullopt : std::optional{address});
  if (!places) return cannot(places.error());
  const std::filesystem::path folder = tree_folder(address);
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path().parent_path(), error);
  // The umask does not matter, which often lets the group write. If it fails, the folder is there, or the next check
  // says what is missing.
  constexpr mode_t writable_by_its_user = 0755;
  ::mkdir(folder.parent_path().c_str(), writable_by_its_user);
  if (!is_own(folder.parent_path())) {
    return cannot(
        fmt::format("{}: it has to be a folder of this user that nobody else can write; set XDG_RUNTIME_DIR "
                    "to one that is",
                    folder.parent_path().string()));
  }
  const auto written = write_device_tree(folder, *places);
  if (!written) return cannot(fmt::format("cannot write the tree of devices: {}", written.error()));
  return folder.string();
}

[[nodiscard]] Outcome<ExitCode> check(const RunOptions& options, const std::string& folder,
                                      const std::optional<Room>& room, const std::string& program) {
  fmt::print("library   {}/libibverbs.so.1\n", folder);
  if (room) print_room(options.address, *room);
  print_buffers();
  if (!program.empty()) fmt::print("program   {}: takes the library\n", program);
  return ExitCode::ok;
}

}  // namespace

Outcome<ExitCode> run(const RunOptions& options) {
  if (options.program.empty() && !options.only_check) return cannot("no program given; roce-run --help shows how");
  if (!options.program.empty() && options.program.front().starts_with("-")) {
    return cannot(fmt::format("there is no option {}; roce-run --help lists them", options.program.front()));
  }
  const Outcome<std::string> folder = library_folder();
  if (!folder) return tl::unexpected(folder.error());
  std::optional<Room> room;
  if (!options.address.empty()) {
    const Outcome<Room> tried = try_address(options.address, *folder);
    if (!tried) return tl::unexpected(tried.error());
    room = *tried;
  }
  std::string program;
  if (!options.program.empty()) {
    Outcome<std::string> found = find_program(options.program.front());
    if (!found) return tl::unexpected(found.error());
    program = std::move(*found);
  }
  if (options.only_check) return check(options, *folder, room, program);

  const Outcome<std::string> tree = make_tree(options.address);
  if (!tree) return tl::unexpected(tree.error());
  ::setenv("ROCE_VERBS_TREE", tree->c_str(), 1);
  prepend("LD_LIBRARY_PATH", *folder);
  prepend("LD_PRELOAD", *folder + "/libroce-paths.so");
  if (!options.address.empty()) ::setenv("ROCE_VERBS_ADDRESS", options.address.c_str(), 1);
  std::vector<std::string> words = options.program;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return cannot(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
}

}  // namespace roce::verbs
