// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "roce/live/endpoint_options.h"
#include "roce/live/result.h"
#include "roce/port/interfaces.h"
#include "roce/port/own_address.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::live {

/// Makes the address that `ip` and `gateway` describe, which no interface of this host may have. Failures: text
/// that is not an address with a prefix, an address of this host, or anything that `port::OwnAddress::make` refuses.
[[nodiscard]] Result<std::unique_ptr<port::OwnAddress>> open_own_address(const EndpointOptions& options,
                                                                         const port::Interface& interface, Time now);
/// Parses an address with its prefix, such as `192.0.2.77/24`. Failure: any other text.
[[nodiscard]] Result<port::InterfaceAddress> parse_own_ip(const std::string& text);

}  // namespace roce::live
