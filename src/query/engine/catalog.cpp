#include "query/engine/catalog.h"

#include <fmt/format.h>

#include "base/needed.h"
#include "base/text.h"

namespace llmprof::query {

Catalog::Catalog(std::vector<Table> tables, std::vector<Run> runs)
    : tables_(std::move(tables)), runs_(std::move(runs)), events_(runs_.size()) {
  for (const Run& run : runs_) {
    for (const profile::Kernel& kernel : run.profile.kernels) {
      short_names_.emplace(kernel.kernel_name, kernel.short_name);
    }
  }
}

const Table* Catalog::find(std::string_view name) const {
  for (const Table& table : tables_) {
    if (equals_ignoring_case(table.name, name)) return &table;
  }
  return nullptr;
}

TableRows& Catalog::rows(const Table& table) {
  auto known = loaded_.find(&table);
  if (known == loaded_.end()) known = loaded_.emplace(&table, load(table)).first;
  return *known->second.rows;
}

const std::vector<std::string>& Catalog::notes(const Table& table) {
  rows(table);
  return loaded_.at(&table).notes;
}

std::optional<std::string_view> Catalog::short_name(std::string_view kernel) {
  const auto known = short_names_.find(kernel);
  if (known == short_names_.end()) return std::nullopt;
  return known->second;
}

const std::vector<Events>& Catalog::events_of(size_t run) {
  auto& events = events_[run];
  if (!events) {
    const auto& read = runs_[run].read_events;
    events = read ? read() : fail_input("single events of this run cannot be read");
  }
  if (!*events) throw Failure(events->error());
  return **events;
}

Catalog::Loaded Catalog::load(const Table& table) {
  Loaded loaded;
  std::vector<TableRows::NamedPart> parts;
  std::optional<Error> first;
  size_t lacking = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    std::optional<Error> missing;
    std::vector<TableRows::NamedPart> own;
    size_t rows = 0;
    const auto add = [&](Part part) {
      rows += part.rows;
      own.push_back({run.name, std::move(part)});
    };
    const auto read = attempt([&] {
      if (!table.needs_events()) return add(table.of_profile(run.profile));
      for (const Events& events : events_of(i)) add(table.of_events(run.profile, events));
    });
    if (!read) {
      missing = read.error();
    } else if (const auto lack = table.lack ? table.lack(run.profile, rows) : std::nullopt) {
      missing = Error{ErrorKind::input, *lack};
    }
    if (!missing) {
      std::ranges::move(own, std::back_inserter(parts));
      continue;
    }
    ++lacking;
    loaded.notes.push_back(fmt::format("{} has no {}: {}", run.name, table.name, missing->message));
    if (!first) first = missing;
  }
  if (lacking == runs_.size() && first) {
    const std::string_view which = runs_.size() == 1 ? "" : "in none of these runs: ";
    throw Failure({first->kind, fmt::format("{}: {}{}", table.name, which, first->message)});
  }
  loaded.rows = std::make_unique<TableRows>(table, std::move(parts));
  return loaded;
}

}  // namespace llmprof::query
