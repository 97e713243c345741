// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/counters_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/report/json_values.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kDash = "-";

text::TableCell figure_cell(const Figure& figure) {
  if (figure.certainty == Certainty::unknowable) return {std::string{kDash}, text::Tone::faint};
  return {figure_text(figure)};
}

text::TableCell certainty_cell(const Figure& figure) {
  return {std::string{to_string(figure.certainty)},
          figure.certainty == Certainty::exact ? text::Tone::plain : text::Tone::faint};
}

bool is_zero(const Figure& figure) {
  return figure.most == 0;
}

/// Returns a vendor's names for a fact; the counters that count exactly this come first.
std::string names_of(HostFact fact, NicVendor vendor) {
  std::string names;
  for (const Reading reading : {Reading::same, Reading::about, Reading::at_most}) {
    for (const NicCounter& counter : nic_counters()) {
      if (counter.vendor != vendor || counter.fact != fact || counter.reading != reading) continue;
      if (!names.empty()) names += ", ";
      if (reading == Reading::about) names += "~";
      if (reading == Reading::at_most) names += "<=";
      names += counter.name;
    }
  }
  return names;
}

text::TextTable facts_table(const HostCounts& host, bool with_all) {
  text::TextTable table{{{"what"}, {"count", text::Align::right}, {"known"}, {"mlx5"}, {"rxe"}, {"irdma"}}};
  for (const HostFactInfo& info : host_fact_infos()) {
    const Figure figure = host.figure(info.fact);
    if (is_zero(figure) && !with_all) continue;
    table.add_row({{std::string{info.text}},
                   figure_cell(figure),
                   certainty_cell(figure),
                   {names_of(info.fact, NicVendor::mlx5)},
                   {names_of(info.fact, NicVendor::rxe)},
                   {names_of(info.fact, NicVendor::irdma)}});
  }
  if (!with_all) return table;
  for (const NicCounter& counter : nic_counters()) {
    if (counter.reading != Reading::elsewhere) continue;
    const Figure nothing = figure(host, counter);
    std::vector<text::TableCell> row{
        {std::string{counter.note}, text::Tone::faint}, figure_cell(nothing), certainty_cell(nothing)};
    row.resize(3 + static_cast<std::size_t>(counter.vendor));
    row.push_back({std::string{counter.name}});
    table.add_row(std::move(row));
  }
  return table;
}

text::TextTable vendor_table(const HostCounts& host, NicVendor vendor, bool with_all) {
  text::TextTable table{{{"counter"}, {"count", text::Align::right}, {"known"}, {"what"}, {"note"}}};
  for (const NicCounter& counter : nic_counters()) {
    if (counter.vendor != vendor) continue;
    const Figure value = figure(host, counter);
    if (is_zero(value) && !with_all) continue;
    const bool is_elsewhere = counter.reading == Reading::elsewhere;
    table.add_row({{std::string{counter.name}},
                   figure_cell(value),
                   certainty_cell(value),
                   {is_elsewhere ? std::string{} : std::string{host_fact_info(counter.fact).text}},
                   {std::string{counter.note}, text::Tone::faint}});
  }
  return table;
}

OrderedJson figure_json(const Figure& figure) {
  OrderedJson json;
  const bool is_known = figure.certainty != Certainty::unknowable;
  json["least"] = is_known ? OrderedJson(figure.least) : OrderedJson{};
  json["most"] = is_known ? OrderedJson(figure.most) : OrderedJson{};
  json["certainty"] = to_string(figure.certainty);
  return json;
}

bool is_shown(const NicCounter& counter, const CountersView& view) {
  return !view.vendor || *view.vendor == counter.vendor;
}

}  // namespace

std::string figure_text(const Figure& figure) {
  if (figure.least == figure.most) return std::to_string(figure.least);
  return fmt::format("{} to {}", figure.least, figure.most);
}

void show_counters_text(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view) {
  text::TextBuffer& out = session.output().buffer();
  text::TextTable::Layout layout = session.layout();
  layout.indent = 2;
  for (const HostCounts& host : hosts) {
    text::append_printable(out, session.names().text(host.address));
    if (!session.names().find(host.address).empty())
      fmt::format_to(fmt::appender(out), " ({})", to_string(host.address));
    text::append(out, host.is_capture_point ? ", where the capture was taken" : "");
    text::append(out, host.is_whole ? "\n" : "; the capture lacks packets of it\n");
    const text::TextTable table =
        view.vendor ? vendor_table(host, *view.vendor, view.with_all) : facts_table(host, view.with_all);
    if (table.row_count() == 0) {
      text::append(out, "  nothing counted\n");
    } else {
      table.append_text(out, layout);
    }
    text::append(out, "\n");
  }
  if (!view.vendor && !hosts.empty())
    text::append(out, "~ about the same, <= some of these; --vendor NAME says what differs\n");
  if (!view.with_all) text::append(out, "Counters that are 0, or that no capture can tell, are left out: --all\n");
  if (std::none_of(hosts.begin(), hosts.end(), [](const HostCounts& host) { return host.is_capture_point; })) {
    text::append(out,
                 "Inferred: what was lost unseen is not in it. Of a capture taken at a host, say so: --at ADDRESS\n");
  }
  session.output().commit();
}

void show_counters_json(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view) {
  for (const HostCounts& host : hosts) {
    OrderedJson json;
    json["host"] = to_string(host.address);
    const std::string_view name = session.names().find(host.address);
    if (!name.empty()) json["name"] = name;
    json["captured_here"] = host.is_capture_point;
    json["whole"] = host.is_whole;
    OrderedJson facts = OrderedJson::object();
    for (const HostFactInfo& info : host_fact_infos()) {
      facts[std::string{info.key}] = figure_json(host.figure(info.fact));
    }
    json["facts"] = std::move(facts);
    OrderedJson counters = OrderedJson::object();
    for (const NicCounter& counter : nic_counters()) {
      if (!is_shown(counter, view)) continue;
      OrderedJson value = figure_json(figure(host, counter));
      if (!counter.note.empty()) value["note"] = counter.note;
      counters[std::string{to_string(counter.vendor)}][std::string{counter.name}] = std::move(value);
    }
    json["counters"] = std::move(counters);
    text::append(session.output().buffer(), json_line(json));
    session.output().commit();
  }
}

void show_counters_csv(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view) {
  text::TextTable table{{{"host"}, {"vendor"}, {"counter"}, {"least"}, {"most"}, {"certainty"}, {"what"}, {"note"}}};
  for (const HostCounts& host : hosts) {
    for (const NicCounter& counter : nic_counters()) {
      if (!is_shown(counter, view)) continue;
      const Figure value = figure(host, counter);
      const bool is_known = value.certainty != Certainty::unknowable;
      table.add_row({{to_string(host.address)},
                     {std::string{to_string(counter.vendor)}},
                     {std::string{counter.name}},
                     {is_known ? std::to_string(value.least) : std::string{}},
                     {is_known ? std::to_string(value.most) : std::string{}},
                     {std::string{to_string(value.certainty)}},
                     {is_known ? std::string{host_fact_info(counter.fact).text} : std::string{}},
                     {std::string{counter.note}}});
    }
  }
  table.append_csv(session.output().buffer());
  session.output().commit();
}

void show_comparison(AnalysisSession& session, std::span<const ComparedCounter> counters, const CountersView& view) {
  const bool is_for_people = !session.options().json && !session.options().csv;
  RowWriter rows{session,
                 {{"counter"},
                  {"NIC", text::Align::right, "nic"},
                  {"capture", text::Align::right},
                  {"difference", text::Align::right},
                  {"result"},
                  {"known", text::Align::left, "certainty"},
                  {"note"},
                  {"capture_least"},
                  {"capture_most"}},
                 2};
  for (const ComparedCounter& compared : counters) {
    const bool is_unknown = compared.agreement == Agreement::unknown_name;
    const bool is_nothing = compared.nic == 0 && (!compared.figure || is_zero(*compared.figure)) && !is_unknown;
    if (is_for_people && is_nothing && !view.with_all) continue;
    const auto difference = compared.difference();
    const text::Tone tone = compared.agreement == Agreement::differs  ? text::Tone::bad
                            : compared.agreement == Agreement::agrees ? text::Tone::plain
                                                                      : text::Tone::faint;
    const Figure value = compared.figure.value_or(Figure{0, 0, Certainty::unknowable});
    const auto bound = [&](std::uint64_t number) {
      return compared.figure ? text::TableCell{std::to_string(number), text::Tone::plain, number} : text::TableCell{};
    };
    rows.add({{compared.name},
              {std::to_string(compared.nic), text::Tone::plain, compared.nic},
              figure_cell(value),
              difference ? text::TableCell{*difference == 0 ? "0" : fmt::format("{:+}", *difference), tone, *difference}
                         : text::TableCell{is_for_people ? std::string{kDash} : std::string{}, text::Tone::faint},
              {std::string{to_string(compared.agreement)}, tone},
              compared.figure ? certainty_cell(value) : text::TableCell{},
              {compared.note, text::Tone::faint},
              bound(value.least),
              bound(value.most)});
  }
  rows.finish();
}

}  // namespace roce::analyze
