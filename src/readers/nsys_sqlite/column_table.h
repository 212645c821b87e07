#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/nsys_sqlite/tables.h"
#include "trace/append.h"

namespace llmprof::readers {

// What the tables of an export have in common: columns of their own that go into the trace when all
// is read, and a scratch pad for each thread.
template <class Columns, class Scratch>
class NsysColumnTable : public NsysTable {
 public:
  NsysColumnTable(NsysReading& reading, std::string table, Columns& destination,
                  std::span<const std::string_view> wanted)
      : reading_(reading),
        scratch_(reading.workers),
        destination_(destination),
        table_(std::move(table)),
        wanted_(reading.schema.columns(table_, wanted)) {}

  [[nodiscard]] const std::string& name() const override { return table_; }
  [[nodiscard]] const std::vector<std::string>& columns() const override { return wanted_; }

  void move_down(size_t from, size_t to, size_t count) override {
    const auto move = [&](auto& column) {
      if (column.empty()) return;
      const auto first = column.begin() + static_cast<std::ptrdiff_t>(from);
      std::move(first, first + static_cast<std::ptrdiff_t>(count),
                column.begin() + static_cast<std::ptrdiff_t>(to));
    };
    std::apply([&](auto&... column) { (move(column), ...); }, columns_.columns());
  }

  void deliver() override { trace::append_rows(destination_, std::move(columns_)); }

 protected:
  NsysReading& reading_;
  Columns columns_;
  std::vector<Scratch> scratch_;

 private:
  Columns& destination_;
  std::string table_;
  std::vector<std::string> wanted_;
};

// The ids of the trace for those that one thread gave, found when they are first asked for.
template <class Id>
class SettledIds {
 public:
  template <class Find>
  Id settle(Id local, Find&& find) {
    if (local.index() >= ids_.size()) ids_.resize(local.index() + 1);
    Id& id = ids_[local.index()];
    if (!id.valid()) id = find(local);
    return id;
  }

 private:
  std::vector<Id> ids_;
};

template <class... Column>
void resize_columns(size_t rows, Column&... columns) {
  (columns.resize(rows), ...);
}

}  // namespace llmprof::readers
