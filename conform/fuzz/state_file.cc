// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "conform/fuzz/program_text.h"
#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::string_view kStateEnd = ".yaml";
constexpr std::string_view kSignaturesEnd = ".signatures";
constexpr double kMilliseconds = 1000;

tl::unexpected<std::string> system_failure(const std::string& path, std::string_view what) {
  return tl::unexpected(fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

/// The members of a map, which are taken by their names.
class Members {
 public:
  [[nodiscard]] static CaseResult<Members> read(const SourceNode& node, std::string_view what) {
    CaseResult<std::vector<Member>> members = read_members(node, what);
    if (!members) return tl::unexpected(members.error());
    return Members{node, std::move(*members)};
  }

  [[nodiscard]] CaseResult<SourceNode> at(std::string_view name) const {
    const auto found = std::ranges::find(members_, name, &Member::name);
    if (found == members_.end()) return node_.error(fmt::format("\"{}\" is missing", name));
    return found->value;
  }
  [[nodiscard]] CaseResult<std::uint64_t> count(std::string_view name, std::uint64_t most = UINT64_MAX) const {
    return at(name).and_then([&](const SourceNode& value) { return read_count(value, name, most); });
  }
  [[nodiscard]] CaseResult<std::string> text(std::string_view name) const {
    return at(name).and_then([&](const SourceNode& value) { return read_text(value, name); });
  }

 private:
  Members(SourceNode node, std::vector<Member> members) : node_(std::move(node)), members_(std::move(members)) {}

  SourceNode node_;
  std::vector<Member> members_;
};

/// Sets a value to what was read; false, with the error, if it could not be read.
template <typename T, typename V>
bool take(CaseResult<T> read, V& value, std::optional<CaseError>& error) {
  if (read) {
    value = static_cast<V>(std::move(*read));
  } else if (!error) {
    error = std::move(read.error());
  }
  return read.has_value();
}

std::string finding_text(const Finding& finding) {
  const Alarm& alarm = *finding.result.alarm;
  return fmt::format(
      "- times: {}\n  shown: {}\n  repeats: {}\n  oracle: {}\n  place: {}\n  what: {}\n  program:\n    {}",
      finding.times, finding.shown, finding.repeats, to_string(alarm.oracle), double_quoted(alarm.place),
      double_quoted(alarm.what), program_text(finding.result.program, "    "));
}

CaseResult<Finding> read_finding(const SourceNode& node) {
  const CaseResult<Members> members = Members::read(node, "a finding");
  if (!members) return tl::unexpected(members.error());
  Finding finding;
  Alarm alarm;
  std::string oracle;
  std::optional<CaseError> error;
  take(members->count("times"), finding.times, error);
  take(members->count("shown", UINT32_MAX), finding.shown, error);
  take(members->count("repeats", UINT32_MAX), finding.repeats, error);
  take(members->text("oracle"), oracle, error);
  take(members->text("place"), alarm.place, error);
  take(members->text("what"), alarm.what, error);
  take(members->at("program").and_then(read_program), finding.result.program, error);
  if (error) return tl::unexpected(*error);
  const auto known = std::ranges::find(kOracles, oracle, [](Oracle one) { return to_string(one); });
  if (known == kOracles.end()) return node.error(fmt::format("there is no oracle \"{}\"", oracle));
  alarm.oracle = *known;
  finding.result.alarm = std::move(alarm);
  return finding;
}

struct Header {
  std::uint64_t version = 0;
  std::string device{};
  std::uint64_t milliseconds = 0;
  std::uint64_t signatures = 0;
  std::uint64_t check = 0;
  FuzzMemory memory{};
};

CaseResult<Header> read_header(const std::string& path) {
  const CaseResult<std::string> text = read_source_text(path);
  if (!text) return tl::unexpected(text.error());
  const CaseResult<SourceNode> root = read_source(path, *text);
  if (!root) return tl::unexpected(root.error());
  const CaseResult<Members> members = Members::read(*root, "the state of a fuzzer");
  if (!members) return tl::unexpected(members.error());
  Header header;
  std::optional<CaseError> error;
  if (!take(members->count("fuzzer"), header.version, error)) return tl::unexpected(*error);
  if (header.version != kProgramVersion) return header;
  SourceNode states = *root;
  SourceNode findings = *root;
  take(members->text("device"), header.device, error);
  take(members->count("milliseconds"), header.milliseconds, error);
  take(members->count("programs"), header.memory.programs, error);
  take(members->count("frames"), header.memory.frames, error);
  take(members->count("signatures"), header.signatures, error);
  take(members->count("check"), header.check, error);
  take(members->at("states"), states, error);
  take(members->at("findings"), findings, error);
  if (error) return tl::unexpected(*error);
  for (const YAML::Node& item : states.node) {
    const CaseResult<std::uint64_t> state = read_count(states.with(item), "a state", kFuzzStates - 1);
    if (!state) return tl::unexpected(state.error());
    header.memory.states.push_back(*state);
  }
  // Earlier versions kept none.
  if (const CaseResult<SourceNode> left_out = members->at("left_out")) {
    for (const YAML::Node& item : left_out->node) {
      const CaseResult<std::uint64_t> shape = read_count(left_out->with(item), "a shape");
      if (!shape) return tl::unexpected(shape.error());
      header.memory.left_out.push_back(*shape);
    }
  }
  for (const YAML::Node& item : findings.node) {
    CaseResult<Finding> finding = read_finding(findings.with(item));
    if (!finding) return tl::unexpected(finding.error());
    header.memory.findings.push_back(std::move(*finding));
  }
  return header;
}

}  // namespace

FileResult<StateFile> StateFile::open(const CorpusFolder& folder, std::uint64_t seed, std::string device) {
  const std::string path = folder.path_of(fmt::format("fuzzer-{}", seed));
  const std::string signatures = path + std::string{kSignaturesEnd};
  constexpr mode_t mode = 0666;
  const int fd = ::open(signatures.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode);
  if (fd < 0) return system_failure(signatures, "cannot be opened");
  StateFile file{path, seed, std::move(device), fd};
  // The end of the process, whatever it is, ends the lock.
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return system_failure(signatures, "cannot be locked");
  return tl::unexpected(fmt::format(
      "{}: another fuzzer works in this folder with seed {}; give this one another --seed", folder.path(), seed));
}

StateFile::StateFile(StateFile&& other) noexcept
    : path_(std::move(other.path_)),
      seed_(other.seed_),
      device_(std::move(other.device_)),
      fd_(std::exchange(other.fd_, -1)),
      written_(other.written_),
      check_(other.check_) {}

StateFile::~StateFile() {
  if (fd_ >= 0) ::close(fd_);
}

FileResult<void> StateFile::clear() {
  const std::string path = path_ + std::string{kStateEnd};
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure(path, "cannot be removed");
  return {};
}

FileResult<StateFile::Loaded> StateFile::load() {
  const std::string path = path_ + std::string{kStateEnd};
  if (::access(path.c_str(), F_OK) != 0) {
    return tl::unexpected(fmt::format("{}: there is no fuzzer to go on from; begin without --resume", path));
  }
  CaseResult<Header> header = read_header(path);
  if (!header) return tl::unexpected(fmt::format("{}; remove it to begin anew", to_string(header.error())));
  if (header->version != kProgramVersion) {
    return tl::unexpected(fmt::format("{}: is of another version of roce-conform: expected version {}, found {}", path,
                                      kProgramVersion, header->version));
  }
  if (header->device != device_) {
    return tl::unexpected(
        fmt::format("{}: is of another device: expected \"{}\", found \"{}\"", path, device_, header->device));
  }
  FileResult<std::vector<std::uint64_t>> signatures = load_signatures(header->signatures, header->check);
  if (!signatures) return tl::unexpected(signatures.error());
  header->memory.signatures = std::move(*signatures);
  return Loaded{.memory = std::move(header->memory),
                .seconds = static_cast<double>(header->milliseconds) / kMilliseconds};
}

FileResult<std::vector<std::uint64_t>> StateFile::load_signatures(std::uint64_t count, std::uint64_t check) {
  const std::string path = path_ + std::string{kSignaturesEnd};
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  if (size < 0) return system_failure(path, "cannot be read");
  const std::uint64_t found = static_cast<std::uint64_t>(size) / sizeof(std::uint64_t);
  if (found < count) {
    return tl::unexpected(fmt::format(
        "{}: expected {} signatures, found {}; remove the file and begin without --resume", path, count, found));
  }
  std::vector<std::uint64_t> signatures(count);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span{signatures});
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t read = ::pread(fd_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (read <= 0) return system_failure(path, "cannot be read");
    at += static_cast<std::size_t>(read);
  }
  written_ = count;
  check_ = 0;
  for (const std::uint64_t signature : signatures) check_ = mix(check_, signature);
  if (check_ == check) return signatures;
  return tl::unexpected(
      fmt::format("{}: is damaged: expected the check {}, found {}; remove the file and begin without "
                  "--resume",
                  path, check, check_));
}

FileResult<void> StateFile::append_signatures(const std::vector<std::uint64_t>& signatures) {
  const std::string path = path_ + std::string{kSignaturesEnd};
  const auto rest = std::span{signatures}.subspan(written_);
  const std::span<const std::byte> bytes = std::as_bytes(rest);
  const std::size_t begin = written_ * sizeof(std::uint64_t);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::pwrite(fd_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(begin + at));
    if (written < 0) return system_failure(path, "cannot be written");
    at += static_cast<std::size_t>(written);
  }
  written_ = signatures.size();
  for (const std::uint64_t signature : rest) check_ = mix(check_, signature);
  return {};
}

FileResult<void> StateFile::save(const FuzzMemory& memory, double seconds) {
  if (FileResult<void> appended = append_signatures(memory.signatures); !appended) return appended;
  std::string text = fmt::format(
      "fuzzer: {}\ndevice: {}\nseed: {}\nmilliseconds: {:.0f}\nprograms: {}\nframes: {}\nsignatures: {}\ncheck: {}\n"
      "states: [{}]\nleft_out: [{}]\nfindings:\n",
      kProgramVersion, double_quoted(device_), seed_, seconds * kMilliseconds, memory.programs, memory.frames, written_,
      check_, fmt::join(memory.states, ", "), fmt::join(memory.left_out, ", "));
  for (const Finding& finding : memory.findings) text += finding_text(finding);
  return write_whole(path_ + std::string{kStateEnd}, text);
}

}  // namespace roce::conform::fuzz
