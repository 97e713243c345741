// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace roce::plugin {

/// Registers `-z roce,tree`: packets by service and operation, verdicts by severity, ICRCs by the result of the check.
void register_operation_tree();

/// Registers `-z conv,roce` and `-z endpoints,roce` for the protocol `proto`. Both ends are shown with QP numbers.
void register_conversations(int proto);

/// Registers `-z roce,srt`, `-z roce,counters`, `-z roce,cc` and `-z roce,streams`.
void register_tables();

/// Registers `-z roce,psn`.
void register_graph_data();

}  // namespace roce::plugin
