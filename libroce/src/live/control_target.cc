// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_target.h"

#include <fmt/format.h>

#include <cstdlib>

#include "roce/live/token_file.h"

namespace roce::live {

Result<ControlAddress> control_target(const std::string& target, const std::string& token_file) {
  ControlAddress address;
  if (!token_file.empty()) {
    const Result<std::string> token = read_token(token_file);
    if (!token) return tl::unexpected(token.error());
    address.token = *token;
  }
  if (target.find('/') != std::string::npos) {
    address.socket = target;
    return address;
  }
  const std::size_t colon = target.rfind(':');
  const std::string port = colon == std::string::npos ? "" : target.substr(colon + 1);
  const unsigned long number = std::strtoul(port.c_str(), nullptr, 10);
  if (number == 0 || number > 65535 || port.find_first_not_of("0123456789") != std::string::npos) {
    return cannot(fmt::format("\"{}\" is neither the path of a control socket (with a /) nor HOST:PORT", target));
  }
  address.host = target.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  address.port = static_cast<std::uint16_t>(number);
  if (address.token.empty()) {
    return cannot("a peer on TCP wants a token; give --token-file the file that it was started with");
  }
  return address;
}

}  // namespace roce::live
