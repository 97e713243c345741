// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exchange/exchange.h"

namespace roce::gen {

/// Prints the result of an exchange: tables for people, or a JSON object on one line.
void print_exchange(const ExchangeOptions& options, const ExchangeResult& result, bool json);

}  // namespace roce::gen
