// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/header_area.h"

namespace roce::transport {

// The 40 bytes in front of a datagram's data, which the codec writes and reads.
using roce::addresses_in;
using roce::kNetworkHeaderArea;
using roce::NetworkAddresses;

}  // namespace roce::transport
