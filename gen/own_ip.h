// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gen/endpoint_options.h"
#include "gen/failure.h"
#include "roce/port/interfaces.h"
#include "roce/port/own_address.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"
#include "runtime/address_text.h"

namespace roce::gen {

using runtime::parse_ip;

/// Makes the address that `--ip` and `--gateway` describe, which no interface of this host may have. Failures: text
/// that is not an address with a prefix, an address of this host, or anything that `port::OwnAddress::make` refuses.
[[nodiscard]] Outcome<std::unique_ptr<port::OwnAddress>> open_own_address(const EndpointOptions& options,
                                                                          const port::Interface& interface, Time now);
/// Parses an address with its prefix, as `--ip` has it. Failure: any other text.
[[nodiscard]] Outcome<port::InterfaceAddress> parse_own_ip(const std::string& text);

}  // namespace roce::gen
