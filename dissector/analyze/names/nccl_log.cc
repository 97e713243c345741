// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/nccl_log.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace roce::analyze {

namespace {

constexpr std::string_view kInfo = " NCCL INFO ";
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestNumber = 10;
/// NCCL's own lines are shorter; damaged ones of any length must not take long.
constexpr std::size_t kLongestLine = 4096;

/// The process and the GPU that a line is of, as it begins: `HOST:PID:TID [GPU] NCCL INFO `.
struct Speaker {
  std::string_view host;
  std::string_view process;
  std::string_view gpu;

  friend auto operator<=>(const Speaker&, const Speaker&) = default;
};

struct Rank {
  std::uint64_t number = 0;
  std::uint64_t of = 0;  ///< ranks in its communicator
};

/// A QP as a line tells of it.
struct LoggedQp {
  Speaker speaker;
  std::uint64_t device = 0;
  Gid address;
  Qpn qpn;
};

[[nodiscard]] bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

[[nodiscard]] bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kLongestNumber &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Reads the number at the beginning of a text.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text, int base = 10) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

/// Returns what is behind the first `word`, or nothing.
[[nodiscard]] std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + word.size());
}

[[nodiscard]] std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view word) {
  const auto rest = behind(text, word);
  return rest ? leading_number(*rest) : std::nullopt;
}

[[nodiscard]] std::optional<Speaker> speaker_of(std::string_view beginning) {
  // Programs that start others put something in front: `3: `, `[1,3]<stdout>:`.
  const std::size_t bracket = beginning.rfind(" [");
  if (bracket == std::string_view::npos || !beginning.ends_with(']')) return std::nullopt;
  const std::string_view gpu = beginning.substr(bracket + 2, beginning.size() - bracket - 3);
  std::string_view where = beginning.substr(0, bracket);
  where = where.substr(where.find_last_of(" \t>") + 1);
  if (where.starts_with(':')) where.remove_prefix(1);
  const std::size_t thread = where.rfind(':');
  if (thread == std::string_view::npos || thread == 0) return std::nullopt;
  const std::size_t process = where.rfind(':', thread - 1);
  if (process == std::string_view::npos) return std::nullopt;
  const Speaker speaker{
      .host = where.substr(0, process), .process = where.substr(process + 1, thread - process - 1), .gpu = gpu};
  if (!is_name(speaker.host) || !is_number(speaker.process) || !is_number(speaker.gpu)) return std::nullopt;
  return speaker;
}

/// Reads the address from `PREFIX/INTERFACE`: halves of a GID, whose bytes are in the order of the wire, printed as
/// numbers of a little-endian machine.
[[nodiscard]] std::optional<Gid> address_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = leading_number(text.substr(0, slash), 16);
  const auto low = leading_number(text.substr(slash + 1), 16);
  if (!high || !low) return std::nullopt;
  Gid address;
  for (std::size_t i = 0; i < 8; ++i) {
    address.octets[i] = static_cast<std::uint8_t>(*high >> 8 * i);
    address.octets[i + 8] = static_cast<std::uint8_t>(*low >> 8 * i);
  }
  return address;
}

[[nodiscard]] std::optional<LoggedQp> qp_of(const Speaker& speaker, std::string_view said) {
  if (!said.starts_with("NET/IB")) return std::nullopt;
  const auto qpn = number_behind(said, " qpn ");
  const auto gid = behind(said, " GID ");
  const auto address = gid ? behind(*gid, "(") : std::nullopt;
  if (!qpn || *qpn > Qpn::kMax || !address) return std::nullopt;
  const auto read = address_of(*address);
  if (!read || *read == Gid{}) return std::nullopt;
  // Releases say `Dev 0 IbDev 1` with other capitals, and older ones `Dev 1` alone.
  std::optional<std::uint64_t> device = number_behind(said, " IbDev ");
  if (!device) device = number_behind(said, " IBDev ");
  if (!device) device = number_behind(said, " Dev ");
  return LoggedQp{
      .speaker = speaker, .device = device.value_or(0), .address = *read, .qpn = Qpn{static_cast<std::uint32_t>(*qpn)}};
}

/// The QPs, ranks and devices in a log. A QP gets its name at the end: its rank may stand behind it.
class NcclLog {
 public:
  void add(const Speaker& speaker, std::string_view said) {
    if (const auto qp = qp_of(speaker, said)) {
      qps_.push_back(*qp);
    } else if (said.starts_with("NET/IB : Using ")) {
      add_devices(speaker, said);
    } else if (said.find("comm 0x") != std::string_view::npos) {
      add_rank(speaker, said);
    }
  }

  std::size_t suggest(Names& names) const {
    for (const LoggedQp& qp : qps_) {
      std::string name;
      if (const auto rank = ranks_.find(qp.speaker); rank != ranks_.end()) {
        name = "rank " + std::to_string(rank->second.number);
      } else {
        name.append("pid ").append(qp.speaker.process);
      }
      const auto device = devices_.find({qp.speaker.host, qp.speaker.process, qp.device});
      name += device != devices_.end() ? ' ' + std::string{device->second} : " IbDev " + std::to_string(qp.device);
      names.suggest(qp.address, qp.qpn, name);
      names.suggest(qp.address, qp.speaker.host);
    }
    return qps_.size();
  }

 private:
  struct DeviceKey {
    std::string_view host;
    std::string_view process;
    std::uint64_t number = 0;

    friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
  };

  /// `NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE …`
  void add_devices(const Speaker& speaker, std::string_view said) {
    for (auto rest = behind(said, "["); rest; rest = behind(*rest, "[")) {
      const auto number = leading_number(*rest);
      const auto named = behind(*rest, "]");
      if (!number || !named) continue;
      const std::string_view name = named->substr(0, named->find(':'));
      if (is_name(name)) devices_.insert_or_assign({speaker.host, speaker.process, *number}, name);
    }
  }

  /// `comm 0x55d0c rank 3 nranks 8 …`
  void add_rank(const Speaker& speaker, std::string_view said) {
    const auto number = number_behind(said, " rank ");
    auto of = number_behind(said, " nranks ");
    if (!of) of = number_behind(said, " nRanks ");
    if (!number || !of) return;
    Rank& known = ranks_[speaker];
    if (*of > known.of) known = {.number = *number, .of = *of};
  }

  std::vector<LoggedQp> qps_;
  std::map<Speaker, Rank> ranks_;
  std::map<DeviceKey, std::string_view> devices_;
};

/// Calls `take` for each line of NCCL, with who says it and what follows `NCCL INFO `.
template <typename Take>
void for_each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, std::min(end, kLongestLine));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t info = line.find(kInfo);
    if (info == std::string_view::npos) continue;
    if (const auto speaker = speaker_of(line.substr(0, info))) take(*speaker, line.substr(info + kInfo.size()));
  }
}

}  // namespace

bool is_nccl_log(std::string_view text) {
  bool found = false;
  for_each_line(text, [&](const Speaker&, std::string_view) { found = true; });
  return found;
}

std::size_t suggest_from_nccl_log(std::string_view text, Names& names) {
  NcclLog log;
  for_each_line(text, [&](const Speaker& speaker, std::string_view said) { log.add(speaker, said); });
  return log.suggest(names);
}

}  // namespace roce::analyze
