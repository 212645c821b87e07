#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "query/model/table.h"

namespace llmprof::query {

// A table of the structs that profile.json describes: names, units and meanings of its columns are
// those of the description. Members of nested structs are joined by '_': wall_ms.mean is
// wall_ms_mean. Lists inside a row are tables of their own. Paths, command lines and the names of
// files are left out.
struct DescribedTable {
  std::string_view name;
  std::string_view meaning;
  // A list or values by name in profile.json, or one inside another: "stages.instances".
  std::string_view path;
  // A column for the index of a row in its list, or for the name of values by name: one for each
  // list of the path, "" for none. With '=', members of the outer row that identify it:
  // "stage=stage,layer=name".
  std::vector<std::string_view> keys = {};
  // For values by name that are numbers: the column's name.
  std::string_view value = {};
  // If given, only these members become columns.
  WordList only = {};
  std::optional<std::string> (*lack)(const profile::Profile&, size_t rows) = nullptr;
};

Table table_of(const DescribedTable& described);

// Lists of profile.json that no table shows: they become tables of their own, named as there.
std::vector<DescribedTable> remaining_lists(const std::vector<DescribedTable>& shown);

}  // namespace llmprof::query
