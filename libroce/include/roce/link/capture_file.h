// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/link/capture_reader.h"
#include "roce/link/capture_record.h"
#include "roce/link/capture_writer.h"
