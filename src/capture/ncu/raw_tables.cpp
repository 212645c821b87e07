#include "capture/ncu/ncu_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/csv.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr std::string_view kHeaderBegin = "\"ID\",";
constexpr std::string_view kKernelName = "Kernel Name";
// A launch takes about 10 kB with all sections.
constexpr size_t kMostBytes = 2UL << 30U;

// The lines of one table, from its header on; ncu's own messages may come between rows.
std::string table_text(std::string_view output) {
  size_t begin = output.starts_with(kHeaderBegin) ? 0 : output.find("\n\"ID\",");
  if (begin == std::string_view::npos) return {};
  if (begin > 0) ++begin;
  std::string text;
  for (const std::string_view line : split(output.substr(begin), '\n')) {
    if (!line.starts_with("==")) text.append(line).append("\n");
  }
  return text;
}

std::vector<std::string> copied(const std::vector<std::string_view>& fields) {
  return {fields.begin(), fields.end()};
}

using Places = std::multimap<std::string_view, size_t>;  // of columns, by name

Places places_of(const RawTable& table) {
  Places places;
  for (size_t i = 0; i < table.columns.size(); ++i) places.insert({table.columns[i], i});
  return places;
}

bool has_other_units(const RawTable& table, const RawTable& more) {
  const Places known = places_of(table);
  for (size_t i = 0; i < more.columns.size(); ++i) {
    const auto found = known.find(more.columns[i]);
    if (found == known.end() || more.units[i].empty()) continue;
    const std::string& unit = table.units[found->second];
    if (!unit.empty() && unit != more.units[i]) return true;
  }
  return false;
}

// Where each column of `more` goes among the columns of `all`, new ones at the end.
std::vector<size_t> make_room(RawTable& all, const RawTable& more) {
  Places known = places_of(all);
  std::vector<size_t> places;
  std::vector<size_t> fresh;
  for (size_t i = 0; i < more.columns.size(); ++i) {
    const auto found = known.find(more.columns[i]);
    if (found == known.end()) {
      places.push_back(all.columns.size() + fresh.size());
      fresh.push_back(i);
      continue;
    }
    places.push_back(found->second);
    if (all.units[found->second].empty()) all.units[found->second] = more.units[i];
    known.erase(found);
  }
  for (const size_t column : fresh) {
    all.columns.push_back(more.columns[column]);
    all.units.push_back(more.units[column]);
  }
  return places;
}

void append_row(std::string& csv, const std::vector<std::string>& fields, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    csv += i == 0 ? "\"" : ",\"";
    if (i < fields.size()) csv += escaped(fields[i], "\"", '"');
    csv += '"';
  }
  csv += '\n';
}

std::optional<size_t> place_of_name(const RawTable& table) {
  const auto column = std::find(table.columns.begin(), table.columns.end(), kKernelName);
  if (column == table.columns.end()) return std::nullopt;
  return static_cast<size_t>(column - table.columns.begin());
}

}  // namespace

std::vector<std::string> RawTable::kernel_names() const {
  std::vector<std::string> names;
  const auto place = place_of_name(*this);
  if (!place) return names;
  for (const auto& launch : launches) names.push_back(launch[*place]);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void RawTable::leave_out(const std::vector<std::string>& names) {
  const auto place = place_of_name(*this);
  if (!place) return;
  std::erase_if(launches, [&](const auto& launch) {
    return std::find(names.begin(), names.end(), launch[*place]) != names.end();
  });
}

Result<RawTable> parse_raw_table(std::string_view output) {
  const std::string text = table_text(output);
  CsvRows rows(text);
  RawTable table;
  std::vector<std::string_view> fields;
  if (rows.next(fields)) table.columns = copied(fields);
  table.units.resize(table.columns.size());
  while (rows.next(fields)) {
    // Other programs' lines, and truncated rows.
    if (fields.size() != table.columns.size()) continue;
    if (parse_int(fields.front())) {
      table.launches.push_back(copied(fields));
    } else if (fields.front().empty() && table.launches.empty()) {
      table.units = copied(fields);
    }
  }
  if (table.launches.empty()) return fail(ErrorKind::tool, "no table of kernel launches");
  return table;
}

Result<RawTable> read_raw_table(const std::filesystem::path& file) {
  const auto text = read_all(file, kMostBytes);
  if (!text) return fail_with(text.error());
  auto table = parse_raw_table(*text);
  if (!table) return fail_with(table.error().within(file.string()));
  return table;
}

void RawUnion::add(const RawTable& table) {
  const auto fits = [&](const RawTable& known) { return !has_other_units(known, table); };
  auto into = std::find_if(tables_.begin(), tables_.end(), fits);
  if (into == tables_.end()) into = tables_.insert(tables_.end(), RawTable{});
  const std::vector<size_t> places = make_room(*into, table);
  for (const auto& launch : table.launches) {
    std::vector<std::string> row(into->columns.size());
    for (size_t i = 0; i < launch.size(); ++i) row[places[i]] = launch[i];
    row.front() = fmt::format("{}", launches_++);
    into->launches.push_back(std::move(row));
  }
}

std::string RawUnion::to_csv() const {
  std::string csv;
  for (const RawTable& table : tables_) csv += llmprof::capture::to_csv(table);
  return csv;
}

std::string to_csv(const RawTable& table) {
  std::string csv;
  append_row(csv, table.columns, table.columns.size());
  append_row(csv, table.units, table.columns.size());
  for (const auto& launch : table.launches) append_row(csv, launch, table.columns.size());
  return csv;
}

}  // namespace llmprof::capture
