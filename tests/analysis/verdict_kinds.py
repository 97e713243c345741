# SPDX-License-Identifier: BSD-2-Clause
"""The verdicts that are judged, by their names in verdict.h."""

FRAME_KINDS = ("retransmission", "duplicate", "out_of_order", "response_out_of_order", "bad_icrc", "ce_mark",
               "nak_sequence_error", "nak_invalid_request", "nak_remote_access_error", "nak_remote_operational_error",
               "nak_invalid_rd_request", "rnr_nak", "gap", "response_gap", "implied_nak", "request_lost_after",
               "request_late_after", "response_lost_after", "response_not_in_time", "lost_beyond", "no_answer", "never_ready")
PSN_KINDS = ("request_lost_before", "response_lost_before", "missed_by_capture", "reordered", "lost_for_good")
KINDS = FRAME_KINDS + PSN_KINDS
NAKS = {0x60: "nak_sequence_error", 0x61: "nak_invalid_request", 0x62: "nak_remote_access_error",
        0x63: "nak_remote_operational_error", 0x64: "nak_invalid_rd_request"}
COMPLETIONS = {"no_answer": 12, "never_ready": 13}  # what the application gets
NEVER = ("rule_broken", "credit_stall")  # Soft-RoCE keeps the rules that are judged, and gives no credits
LOSSES = ("request_lost_after", "response_lost_after", "request_lost_before", "response_lost_before", "lost_beyond")
