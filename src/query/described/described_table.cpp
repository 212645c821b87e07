#include "query/described/described_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>

#include "base/text.h"
#include "profile/json/described.h"
#include "query/described/without_paths.h"

namespace llmprof::query {
namespace {

using profile::json::Type;
using Kind = Type::Kind;

constexpr size_t kDeepest = 3;

// A row of nested lists: its place in each.
struct DescribedRow {
  std::array<const void*, kDeepest> at{};    // the element
  std::array<const void*, kDeepest> name{};  // of values by name
  std::array<uint32_t, kDeepest> index{};
};
using DescribedRows = std::shared_ptr<const std::vector<DescribedRow>>;

// A member within structs inside a row.
struct Member {
  std::vector<const Type::Field*> path;  // from the row's struct

  // The value, or null if a struct around it is missing, or it is itself.
  [[nodiscard]] const void* of(const void* row) const {
    for (const Type::Field* const field : path) {
      row = static_cast<const char*>(row) + field->offset;
      if (field->type.nullable) row = field->type.content(row);
      if (row == nullptr) return nullptr;
    }
    return row;
  }
};

// Free texts that may name paths.
constexpr WordList kMessages{"message|evidence|advice|title|host|reason|why_not|state_detail|note"};
// Never columns: paths, command lines, names of files.
constexpr WordList kKept{"path|command|file"};

bool is_kept(std::string_view name, const Type::Field& field) {
  return field.type.kind == Kind::text && (kKept.contains(field.name) || name == "model_source");
}

bool is_scalar(const Type& type) {
  return type.kind != Kind::list && type.kind != Kind::by_name && type.kind != Kind::object;
}

// A list that is shown in one cell: "128, 1, 1".
bool is_short_list(const Type& type) {
  return type.kind == Kind::list &&
         (type.length || type.element->kind == Kind::text || type.element->kind == Kind::word) &&
         is_scalar(*type.element);
}

ColumnType column_type(const Type& type) {
  switch (type.kind) {
    case Kind::boolean:
      return ColumnType::boolean;
    case Kind::integer:
    case Kind::count:
      return ColumnType::integer;
    case Kind::number:
      return ColumnType::real;
    default:
      return ColumnType::text;
  }
}

Value scalar_value(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::boolean:
      return Value::of(int64_t{*static_cast<const bool*>(value) ? 1 : 0});
    case Kind::integer:
      return Value::of(type.integer(value));
    case Kind::count:
      return Value::of_count(type.count(value));
    case Kind::number:
      return Value::of(*static_cast<const double*>(value));
    case Kind::text:
      return Value::of(std::string_view(*static_cast<const std::string*>(value)));
    case Kind::word:
      return Value::of(type.word(value));
    default:
      return {};
  }
}

void append(const Value& value, std::string& text) {
  if (value.kind == Value::Kind::text) text += value.text;
  if (value.kind == Value::Kind::integer) text += fmt::format("{}", value.integer);
  if (value.kind == Value::Kind::real) text += fmt::format("{}", value.real);
}

Value list_value(const Type& type, const void* value, std::string& scratch) {
  void* const list = const_cast<void*>(value);  // the only access is the reader's
  scratch.clear();
  for (size_t i = 0; i < type.size(list); ++i) {
    if (i > 0) scratch += ", ";
    append(scalar_value(*type.element, type.at(list, i)), scratch);
  }
  return Value::of(scratch);
}

// A column of described rows: the info, and how to read it.
struct DescribedColumn {
  ColumnInfo info;
  std::function<Values(const DescribedRows&)> values;
};

// "wall time per instance: arithmetic mean": of the structs around it, then its own.
std::string meaning_of(const Member& member) {
  std::string meaning;
  for (const Type::Field* const field : member.path) {
    meaning += meaning.empty() ? field->meaning : ": " + field->meaning;
  }
  return meaning;
}

DescribedColumn member_column(std::string name, const Member& member, size_t level) {
  const Type::Field& field = *member.path.back();
  const Type& type = field.type;
  DescribedColumn column{
      {std::move(name), column_type(type), type.unit.value_or(""), meaning_of(member)}, {}};
  if (is_short_list(type)) {
    column.values = [member, level, &type](const DescribedRows& rows) {
      return composed([rows, member, level, &type](size_t row, std::string& scratch) {
        const void* const value = member.of((*rows)[row].at[level]);
        return value == nullptr ? Value() : list_value(type, value, scratch);
      });
    };
  } else if (type.kind == Kind::text && kMessages.contains(field.name)) {
    column.values = [member, level](const DescribedRows& rows) {
      return composed([rows, member, level](size_t row, std::string& scratch) {
        const void* const value = member.of((*rows)[row].at[level]);
        if (value == nullptr) return Value();
        scratch = without_paths(*static_cast<const std::string*>(value));
        return Value::of(scratch);
      });
    };
  } else {
    column.values = [member, level, &type](const DescribedRows& rows) {
      return computed([rows, member, level, &type](size_t row) {
        const void* const value = member.of((*rows)[row].at[level]);
        return value == nullptr ? Value() : scalar_value(type, value);
      });
    };
  }
  return column;
}

class Builder {
 public:
  explicit Builder(const DescribedTable& described) : described_(described) {}

  Table build() {
    find_levels();
    for (size_t level = 0; level < levels_.size(); ++level) add_key(level);
    add_element();
    Table table;
    table.name = described_.name;
    table.meaning = described_.meaning;
    for (const DescribedColumn& column : columns_) table.columns.push_back(column.info);
    table.of_profile = [levels = levels_, columns = columns_](const profile::Profile& profile) {
      auto rows = std::make_shared<std::vector<DescribedRow>>();
      DescribedRow row;
      collect(levels, 0, &profile, row, *rows);
      Part part;
      part.rows = rows->size();
      for (const DescribedColumn& column : columns) part.columns.push_back(column.values(rows));
      return part;
    };
    table.lack = described_.lack;
    return table;
  }

 private:
  // A list of the path, as a member of the element before it.
  struct Level {
    Member list;
    const Type* type = nullptr;
  };

  [[noreturn]] void refuse(std::string_view what) const {
    throw std::logic_error(fmt::format("table {}: {}", described_.name, what));
  }

  void find_levels() {
    const Type* type = &profile::json::profile_type();
    Member member;
    for (const std::string_view name : split(described_.path, '.')) {
      if (name.empty()) break;
      const auto field = std::ranges::find(type->fields, name, &Type::Field::name);
      if (field == type->fields.end()) refuse(fmt::format("no member {}", name));
      member.path.push_back(&*field);
      type = &field->type;
      if (type->kind != Kind::list && type->kind != Kind::by_name) continue;
      levels_.push_back({std::move(member), type});
      member = {};
      type = type->element.get();
    }
    // A struct, not a list: a table of one row, or none if it is missing.
    if (levels_.empty() || !member.path.empty()) levels_.push_back({std::move(member), nullptr});
    if (levels_.size() > kDeepest) refuse("too many lists in each other");
    element_ = levels_.back().type == nullptr ? type : levels_.back().type->element.get();
  }

  static void collect(const std::vector<Level>& levels, size_t depth, const void* owner,
                      DescribedRow& row, std::vector<DescribedRow>& rows) {
    if (depth == levels.size()) {
      rows.push_back(row);
      return;
    }
    const auto& [member, type] = levels[depth];
    const void* const found = member.of(owner);
    if (found == nullptr) return;
    if (type == nullptr) {
      row.at[depth] = found;
      return collect(levels, depth + 1, found, row, rows);
    }
    void* const list = const_cast<void*>(found);
    for (size_t i = 0; i < type->size(list); ++i) {
      const void* element = type->at(list, i);
      if (type->element->nullable) element = type->element->content(element);
      row.at[depth] = element;
      row.index[depth] = static_cast<uint32_t>(i);
      if (type->kind == Kind::by_name) row.name[depth] = type->key_at(list, i);
      if (element != nullptr) collect(levels, depth + 1, element, row, rows);
    }
  }

  void add_key(size_t level) {
    if (level >= described_.keys.size() || described_.keys[level].empty()) return;
    const std::string_view key = described_.keys[level];
    const Type* const type = levels_[level].type;
    if (contains(key, "=")) {
      for (const std::string_view one : split(key, ',')) add_outer_member(one, *type, level);
    } else if (type->kind == Kind::by_name) {
      const Type& of = *type->key;
      columns_.push_back({{std::string(key), ColumnType::text, "", "name of these values"},
                          [level, &of](const DescribedRows& rows) {
                            return computed([rows, level, &of](size_t row) {
                              return scalar_value(of, (*rows)[row].name[level]);
                            });
                          }});
    } else {
      const bool is_row = levels_.size() == 1;
      columns_.push_back({{std::string(key), ColumnType::integer, "",
                           fmt::format("index in {} of profile.json, from 0", path_to(level)),
                           is_row ? ColumnInfo::Order::row : ColumnInfo::Order::none},
                          [level](const DescribedRows& rows) {
                            return computed([rows, level](size_t row) {
                              return Value::of(int64_t{(*rows)[row].index[level]});
                            });
                          }});
    }
  }

  // "stage=name": the column's name, and the member.
  void add_outer_member(std::string_view key, const Type& list, size_t level) {
    const size_t equals = key.find('=');
    const std::string_view name = key.substr(equals + 1);
    const auto& fields = list.element->fields;
    const auto field = std::ranges::find(fields, name, &Type::Field::name);
    if (field == fields.end()) refuse(fmt::format("no key {}", name));
    columns_.push_back(member_column(std::string(key.substr(0, equals)), {{&*field}}, level));
  }

  [[nodiscard]] std::string path_to(size_t level) const {
    std::string path;
    for (size_t i = 0; i <= level; ++i) {
      for (const Type::Field* const field : levels_[i].list.path) {
        path += path.empty() ? field->name : "." + field->name;
      }
    }
    return path;
  }

  void add_element() {
    const size_t level = levels_.size() - 1;
    if (element_->kind == Kind::object) return add_members(*element_, {}, "", level);
    if (described_.value.empty()) refuse("its values need a name");
    const Type& type = *element_;
    columns_.push_back({{std::string(described_.value), column_type(type), type.unit.value_or(""),
                         std::string(described_.meaning)},
                        [level, &type](const DescribedRows& rows) {
                          return computed([rows, level, &type](size_t row) {
                            return scalar_value(type, (*rows)[row].at[level]);
                          });
                        }});
  }

  void add_members(const Type& object, const Member& around, const std::string& prefix,
                   size_t level) {
    for (const Type::Field& field : object.fields) {
      if (is_kept(prefix + field.name, field)) continue;
      const bool is_first = prefix.empty() && !described_.only.words.empty();
      if (is_first && !described_.only.contains(field.name)) continue;
      Member member = around;
      member.path.push_back(&field);
      const std::string name = prefix + field.name;
      if (field.type.kind == Kind::object) {
        add_members(field.type, member, name + "_", level);
      } else if (is_scalar(field.type) || is_short_list(field.type)) {
        if (!is_known(name)) columns_.push_back(member_column(name, member, level));
      }
    }
  }

  [[nodiscard]] bool is_known(std::string_view name) const {
    return std::ranges::any_of(columns_, [&](const DescribedColumn& column) {
      return equals_ignoring_case(column.info.name, name);
    });
  }

  const DescribedTable& described_;
  std::vector<Level> levels_;
  const Type* element_ = nullptr;
  std::vector<DescribedColumn> columns_;
};

}  // namespace

Table table_of(const DescribedTable& described) { return Builder(described).build(); }

std::vector<DescribedTable> remaining_lists(const std::vector<DescribedTable>& shown) {
  std::vector<DescribedTable> remaining;
  for (const Type::Field& field : profile::json::profile_type().fields) {
    const bool is_table = field.type.kind == Kind::list && field.type.element->kind == Kind::object;
    // kernels_topk repeats the first rows of kernels; reasons are what sentences are made from.
    if (!is_table || field.name == "kernels_topk" || field.name.ends_with("_reasons") ||
        std::ranges::find(shown, field.name, &DescribedTable::path) != shown.end()) {
      continue;
    }
    remaining.push_back({field.name, field.meaning, field.name});
  }
  return remaining;
}

}  // namespace llmprof::query
