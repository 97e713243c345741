// SPDX-License-Identifier: BSD-2-Clause
// The names of NVMe's operations and statuses: NVM Express Base Specification 2.0 (3.1.2, 4.6.1, 5, 6), NVM Command Set
// Specification 1.0 (3, 4.1.1), Zoned Namespace Command Set Specification 1.1 (3, 4.1).
#include <algorithm>
#include <span>

#include "roce/wire/nvme_capsule.h"

namespace roce {

namespace {

struct Row {
  std::uint8_t code;
  std::string_view name;
};

std::string_view find(std::span<const Row> rows, std::uint8_t code) {
  const auto found = std::ranges::find(rows, code, &Row::code);
  return found == rows.end() ? std::string_view{} : found->name;
}

constexpr Row kAdmin[]{{0x00, "Delete I/O Submission Queue"},
                       {0x01, "Create I/O Submission Queue"},
                       {0x02, "Get Log Page"},
                       {0x04, "Delete I/O Completion Queue"},
                       {0x05, "Create I/O Completion Queue"},
                       {0x06, "Identify"},
                       {0x08, "Abort"},
                       {0x09, "Set Features"},
                       {0x0A, "Get Features"},
                       {0x0C, "Asynchronous Event Request"},
                       {0x0D, "Namespace Management"},
                       {0x10, "Firmware Commit"},
                       {0x11, "Firmware Image Download"},
                       {0x14, "Device Self-test"},
                       {0x15, "Namespace Attachment"},
                       {0x18, "Keep Alive"},
                       {0x19, "Directive Send"},
                       {0x1A, "Directive Receive"},
                       {0x1C, "Virtualization Management"},
                       {0x1D, "NVMe-MI Send"},
                       {0x1E, "NVMe-MI Receive"},
                       {0x20, "Capacity Management"},
                       {0x24, "Lockdown"},
                       {0x7C, "Doorbell Buffer Config"},
                       {0x80, "Format NVM"},
                       {0x81, "Security Send"},
                       {0x82, "Security Receive"},
                       {0x84, "Sanitize"},
                       {0x86, "Get LBA Status"}};

constexpr Row kIo[]{{0x00, "Flush"},
                    {0x01, "Write"},
                    {0x02, "Read"},
                    {0x04, "Write Uncorrectable"},
                    {0x05, "Compare"},
                    {0x08, "Write Zeroes"},
                    {0x09, "Dataset Management"},
                    {0x0C, "Verify"},
                    {0x0D, "Reservation Register"},
                    {0x0E, "Reservation Report"},
                    {0x11, "Reservation Acquire"},
                    {0x15, "Reservation Release"},
                    {0x19, "Copy"},
                    {0x79, "Zone Management Send"},
                    {0x7A, "Zone Management Receive"},
                    {0x7D, "Zone Append"}};

constexpr Row kFabrics[]{{0x00, "Property Set"},           {0x01, "Connect"},
                         {0x04, "Property Get"},           {0x05, "Authentication Send"},
                         {0x06, "Authentication Receive"}, {0x08, "Disconnect"}};

constexpr Row kGeneric[]{{0x00, "Successful Completion"},
                         {0x01, "Invalid Command Opcode"},
                         {0x02, "Invalid Field in Command"},
                         {0x03, "Command ID Conflict"},
                         {0x04, "Data Transfer Error"},
                         {0x05, "Commands Aborted due to Power Loss Notification"},
                         {0x06, "Internal Error"},
                         {0x07, "Command Abort Requested"},
                         {0x08, "Command Aborted due to SQ Deletion"},
                         {0x09, "Command Aborted due to Failed Fused Command"},
                         {0x0A, "Command Aborted due to Missing Fused Command"},
                         {0x0B, "Invalid Namespace or Format"},
                         {0x0C, "Command Sequence Error"},
                         {0x0D, "Invalid SGL Segment Descriptor"},
                         {0x0E, "Invalid Number of SGL Descriptors"},
                         {0x0F, "Data SGL Length Invalid"},
                         {0x10, "Metadata SGL Length Invalid"},
                         {0x11, "SGL Descriptor Type Invalid"},
                         {0x12, "Invalid Use of Controller Memory Buffer"},
                         {0x13, "PRP Offset Invalid"},
                         {0x14, "Atomic Write Unit Exceeded"},
                         {0x15, "Operation Denied"},
                         {0x16, "SGL Offset Invalid"},
                         {0x18, "Host Identifier Inconsistent Format"},
                         {0x19, "Keep Alive Timer Expired"},
                         {0x1A, "Keep Alive Timeout Invalid"},
                         {0x1B, "Command Aborted due to Preempt and Abort"},
                         {0x1C, "Sanitize Failed"},
                         {0x1D, "Sanitize In Progress"},
                         {0x1E, "SGL Data Block Granularity Invalid"},
                         {0x1F, "Command Not Supported for Queue in CMB"},
                         {0x20, "Namespace is Write Protected"},
                         {0x21, "Command Interrupted"},
                         {0x22, "Transient Transport Error"},
                         {0x23, "Command Prohibited by Command and Feature Lockdown"},
                         {0x24, "Admin Command Media Not Ready"},
                         {0x80, "LBA Out of Range"},
                         {0x81, "Capacity Exceeded"},
                         {0x82, "Namespace Not Ready"},
                         {0x83, "Reservation Conflict"},
                         {0x84, "Format In Progress"}};

constexpr Row kSpecific[]{{0x00, "Completion Queue Invalid"},
                          {0x01, "Invalid Queue Identifier"},
                          {0x02, "Invalid Queue Size"},
                          {0x03, "Abort Command Limit Exceeded"},
                          {0x05, "Asynchronous Event Request Limit Exceeded"},
                          {0x06, "Invalid Firmware Slot"},
                          {0x07, "Invalid Firmware Image"},
                          {0x08, "Invalid Interrupt Vector"},
                          {0x09, "Invalid Log Page"},
                          {0x0A, "Invalid Format"},
                          {0x0B, "Firmware Activation Requires Conventional Reset"},
                          {0x0C, "Invalid Queue Deletion"},
                          {0x0D, "Feature Identifier Not Saveable"},
                          {0x0E, "Feature Not Changeable"},
                          {0x0F, "Feature Not Namespace Specific"},
                          {0x10, "Firmware Activation Requires NVM Subsystem Reset"},
                          {0x11, "Firmware Activation Requires Controller Level Reset"},
                          {0x12, "Firmware Activation Requires Maximum Time Violation"},
                          {0x13, "Firmware Activation Prohibited"},
                          {0x14, "Overlapping Range"},
                          {0x15, "Namespace Insufficient Capacity"},
                          {0x16, "Namespace Identifier Unavailable"},
                          {0x18, "Namespace Already Attached"},
                          {0x19, "Namespace Is Private"},
                          {0x1A, "Namespace Not Attached"},
                          {0x1B, "Thin Provisioning Not Supported"},
                          {0x1C, "Controller List Invalid"},
                          {0x1D, "Device Self-test In Progress"},
                          {0x1E, "Boot Partition Write Prohibited"},
                          {0x1F, "Invalid Controller Identifier"},
                          {0x20, "Invalid Secondary Controller State"},
                          {0x21, "Invalid Number of Controller Resources"},
                          {0x22, "Invalid Resource Identifier"},
                          {0x23, "Sanitize Prohibited While Persistent Memory Region is Enabled"},
                          {0x24, "ANA Group Identifier Invalid"},
                          {0x25, "ANA Attach Failed"},
                          {0x26, "Insufficient Capacity"},
                          {0x27, "Namespace Attachment Limit Exceeded"},
                          {0x28, "Prohibition of Command Execution Not Supported"},
                          {0x29, "I/O Command Set Not Supported"},
                          {0x2A, "I/O Command Set Not Enabled"},
                          {0x2B, "I/O Command Set Combination Rejected"},
                          {0x2C, "Invalid I/O Command Set"},
                          {0x2D, "Identifier Unavailable"},
                          {0x80, "Conflicting Attributes"},
                          {0x81, "Invalid Protection Information"},
                          {0x82, "Attempted Write to Read Only Range"},
                          {0x83, "Command Size Limit Exceeded"},
                          {0xB8, "Zoned Boundary Error"},
                          {0xB9, "Zone Is Full"},
                          {0xBA, "Zone Is Read Only"},
                          {0xBB, "Zone Is Offline"},
                          {0xBC, "Zone Invalid Write"},
                          {0xBD, "Too Many Active Zones"},
                          {0xBE, "Too Many Open Zones"},
                          {0xBF, "Invalid Zone State Transition"}};

/// In the place of 0x80 and more of the others.
constexpr Row kFabricsSpecific[]{{0x80, "Incompatible Format"},        {0x81, "Controller Busy"},
                                 {0x82, "Connect Invalid Parameters"}, {0x83, "Connect Restart Discovery"},
                                 {0x84, "Connect Invalid Host"},       {0x85, "Invalid Queue Type"},
                                 {0x90, "Discover Restart"},           {0x91, "Authentication Required"}};

constexpr Row kMedia[]{{0x80, "Write Fault"},
                       {0x81, "Unrecovered Read Error"},
                       {0x82, "End-to-end Guard Check Error"},
                       {0x83, "End-to-end Application Tag Check Error"},
                       {0x84, "End-to-end Reference Tag Check Error"},
                       {0x85, "Compare Failure"},
                       {0x86, "Access Denied"},
                       {0x87, "Deallocated or Unwritten Logical Block"},
                       {0x88, "End-to-End Storage Tag Check Error"}};

constexpr Row kPath[]{{0x00, "Internal Path Error"},
                      {0x01, "Asymmetric Access Persistent Loss"},
                      {0x02, "Asymmetric Access Inaccessible"},
                      {0x03, "Asymmetric Access Transition"},
                      {0x60, "Controller Pathing Error"},
                      {0x70, "Host Pathing Error"},
                      {0x71, "Command Aborted By Host"}};

}  // namespace

std::string_view nvme_operation_name(NvmeOperation operation) {
  switch (operation.set) {
    case NvmeCommandSet::admin:
      return find(kAdmin, operation.code);
    case NvmeCommandSet::io:
      return find(kIo, operation.code);
    case NvmeCommandSet::fabrics:
      return find(kFabrics, operation.code);
  }
  return {};
}

std::string_view nvme_status_name(NvmeStatus status, NvmeCommandSet set) {
  switch (status.type) {
    case 0:
      return find(kGeneric, status.code);
    case 1:
      if (set == NvmeCommandSet::fabrics && status.code >= 0x80) return find(kFabricsSpecific, status.code);
      return find(kSpecific, status.code);
    case 2:
      return find(kMedia, status.code);
    case 3:
      return find(kPath, status.code);
    default:
      return {};
  }
}

}  // namespace roce
