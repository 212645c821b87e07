#include "readers/nsys_sqlite/schema.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::readers {
namespace {

// 1 for the name itself, n for "name_Vn", 0 for another table.
int64_t version_of(std::string_view candidate, std::string_view table) {
  if (!candidate.starts_with(table)) return 0;
  candidate.remove_prefix(table.size());
  if (candidate.empty()) return 1;
  if (!candidate.starts_with("_V")) return 0;
  return parse_int(candidate.substr(2)).value_or(0);
}

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<std::string> NsysSchema::find(std::string_view table) const {
  const std::string* best = nullptr;
  int64_t newest = 0;
  for (const std::string& candidate : tables_) {
    if (const int64_t version = version_of(candidate, table); version > newest) {
      newest = version;
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

bool NsysSchema::is_nsys() const {
  return !is_nvprof() && find("StringIds") &&
         std::any_of(tables_.begin(), tables_.end(), [](std::string_view table) {
           return table.starts_with("CUPTI_ACTIVITY_KIND_") || table == "NVTX_EVENTS" ||
                  table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA" ||
                  table == "ANALYSIS_DETAILS" || table == "OSRT_API";
         });
}

bool NsysSchema::is_nvprof() const {
  return listed(tables_, "StringTable") && !listed(tables_, "StringIds");
}

std::vector<std::string> NsysSchema::columns(std::string_view table,
                                             std::span<const std::string_view> wanted) const {
  const std::vector<std::string> present = file_->columns(table);
  std::vector<std::string> found;
  for (std::string_view alternatives : wanted) {
    std::string& column = found.emplace_back();
    while (column.empty() && !alternatives.empty()) {
      const std::string_view name = alternatives.substr(0, alternatives.find('|'));
      alternatives.remove_prefix(std::min(alternatives.size(), name.size() + 1));
      if (listed(present, name)) column = name;
    }
  }
  return found;
}

std::string NsysSchema::select(std::string_view table,
                               std::span<const std::string_view> wanted) const {
  return select_columns(table, columns(table, wanted));
}

bool NsysSchema::has_column(std::string_view table, std::string_view column) const {
  return listed(file_->columns(table), column);
}

std::string select_columns(std::string_view table, std::span<const std::string> columns) {
  std::string list;
  for (const std::string& column : columns) {
    if (!list.empty()) list += ", ";
    list += column.empty() ? "NULL" : sql_name(column);
  }
  return "SELECT " + list + " FROM " + sql_name(table);
}

}  // namespace llmprof::readers
