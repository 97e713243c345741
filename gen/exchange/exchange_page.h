// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "gen/exchange/exchange.h"

namespace roce::gen {

/// The two ends of an exchange, for reports.
struct ExchangeEnds {
  std::string here;   ///< the endpoint's description
  std::string there;  ///< the peer, as it was named
};

/// Returns the page of an exchange: one HTML file (see page::make_page).
[[nodiscard]] std::string exchange_page(const ExchangeOptions& options, const ExchangeEnds& ends,
                                        const ExchangeResult& result);

}  // namespace roce::gen
