// SPDX-License-Identifier: BSD-2-Clause
// Saves and restores a tracker: streams, flows, and the links between them.
#include "analysis/saved_state.h"

#include <algorithm>
#include <map>

#include "analysis/state_members.h"

namespace roce::analysis {

namespace {

/// Returns the saved number of each stream, in order, so that equal trackers leave equal states.
std::map<std::uint32_t, std::uint32_t> new_numbers(const TrackerState& state, StreamNumbers numbers) {
  std::map<std::uint32_t, std::uint32_t> all;
  for (const auto& [index, stream] : state.streams) all.emplace(index, index);
  if (numbers == StreamNumbers::kept) return all;
  std::uint32_t next = 0;
  for (auto& [index, number] : all) number = next++;
  return all;
}

void load_stream(StateReader& archive, TrackerState& state) {
  const auto index = archive.read<std::uint32_t>();
  auto owned = std::make_unique<Stream>();
  Stream& stream = *owned;
  archive(stream);
  const std::size_t directions = 1 + (archive.read<bool>() ? 1U : 0U);
  if (archive.has_failed()) return;
  stream.index = stream.summary.stream = index;
  if (index >= state.next_stream || !state.streams.emplace(index, std::move(owned)).second) return archive.refuse();
  stream.older = state.newest;
  (state.newest != nullptr ? state.newest->newer : state.oldest) = &stream;
  state.newest = &stream;
  for (std::size_t direction = 0; direction < directions; ++direction) {
    auto flow = std::make_unique<Flow>();
    archive(*flow);
    flow->stream = &stream;
    flow->direction = static_cast<std::uint8_t>(direction);
    Flow* const place = flow.get();
    // A stream without its flows cannot even be closed.
    if (!state.flows.insert(std::move(flow)).second) return archive.refuse();
    stream.flows[direction] = place;
  }
}

}  // namespace

std::vector<StreamSummary> open_streams(const TrackerState& state) {
  std::vector<StreamSummary> all;
  all.reserve(state.streams.size());
  for (const auto& [index, stream] : state.streams) {
    all.push_back(stream->summary);
    all.back().path_mtu = stream->path_mtu;
    for (std::size_t direction = 0; direction < 2; ++direction) {
      count_ended(*stream->channels[direction], all.back().directions[direction]);
    }
  }
  std::sort(all.begin(), all.end(), [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
  return all;
}

void save_tracker(StateWriter& archive, const TrackerState& state, StreamNumbers numbers) {
  const std::map<std::uint32_t, std::uint32_t> all = new_numbers(state, numbers);
  archive(numbers == StreamNumbers::kept ? state.next_stream : static_cast<std::uint32_t>(all.size()));
  archive(state.evictions);
  archive.number(state.streams.size());
  for (const Stream* stream = state.oldest; stream != nullptr; stream = stream->newer) {
    archive(all.at(stream->index));
    archive(*stream);
    archive(stream->flows[1] != nullptr);
    for (const Flow* flow : stream->flows) {
      if (flow != nullptr) archive(*flow);
    }
  }
  archive.number(state.cm_requests.size());
  for (const CmRequest& request : state.cm_requests) archive(request);
  archive.number(state.cm_messages.size());
  for (const CmMessage& message : state.cm_messages) archive(message);
  archive.number(state.peer_qpns_order.size());
  for (const FlowKey& key : state.peer_qpns_order) {
    archive(key);
    archive(state.peer_qpns.at(key));
  }
}

void load_tracker(StateReader& archive, TrackerState& state) {
  archive(state.next_stream);
  archive(state.evictions);
  for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) load_stream(archive, state);
  for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
    state.cm_requests.push_back(archive.read<CmRequest>());
  }
  for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
    state.cm_messages.push_back(archive.read<CmMessage>());
  }
  for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
    const auto key = archive.read<FlowKey>();
    if (!state.peer_qpns.emplace(key, archive.read<Qpn>()).second) return archive.refuse();
    state.peer_qpns_order.push_back(key);
  }
}

}  // namespace roce::analysis
