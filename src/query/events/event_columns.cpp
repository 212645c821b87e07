#include "query/events/event_columns.h"

#include <fmt/format.h>

#include <deque>

#include "analysis/ranking/kernels.h"
#include "analysis/stages/instance_numbers.h"
#include "base/text.h"
#include "query/described/without_paths.h"

namespace llmprof::query {
namespace {

// A dictionary with the texts that it had to make.
struct OwnedTexts {
  std::vector<Value> values;
  std::deque<std::string> made;
};

Dictionary dictionary_of(std::shared_ptr<const OwnedTexts> texts) {
  const auto* const values = &texts->values;
  return {std::move(texts), values};
}

}  // namespace

const Dictionary& EventSource::strings() const {
  if (strings_) return strings_;
  auto texts = std::make_shared<OwnedTexts>();
  texts->values.reserve(trace.strings.size());
  for (size_t i = 0; i < trace.strings.size(); ++i) {
    std::string_view text = trace.strings[trace::StringId(i)];
    if (!is_printable_utf8(text)) text = texts->made.emplace_back(to_printable(text));
    if (events.hides_paths) text = texts->made.emplace_back(without_full_paths(text));
    texts->values.push_back(Value::unless_empty(text));
  }
  strings_ = dictionary_of(std::move(texts));
  return strings_;
}

Dictionary EventSource::texts(std::vector<std::string> texts) {
  auto owned = std::make_shared<OwnedTexts>();
  for (std::string& text : texts) {
    owned->values.push_back(Value::unless_empty(owned->made.emplace_back(std::move(text))));
  }
  return dictionary_of(std::move(owned));
}

Dictionary EventSource::devices() const {
  std::vector<std::string> labels;
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const std::string own = to_printable(analysis::device_label(trace, trace::DeviceId(i)));
    labels.push_back(events.rank ? fmt::format("rank{}/{}", *events.rank, own) : own);
  }
  return texts(std::move(labels));
}

Dictionary EventSource::numbers(size_t count) {
  auto values = std::make_shared<std::vector<Value>>();
  values->reserve(count);
  for (size_t i = 0; i < count; ++i) values->push_back(Value::of(static_cast<int64_t>(i)));
  return values;
}

Table event_table(std::string name, std::string meaning, EventColumns columns,
                  size_t (*rows_of)(const trace::Trace&),
                  std::optional<std::string> (*lack)(const profile::Profile&, size_t rows)) {
  Table table;
  table.name = std::move(name);
  table.meaning = std::move(meaning);
  for (const EventColumn& column : columns) table.columns.push_back(column.info);
  table.of_events = [columns = std::move(columns), rows_of](const profile::Profile& profile,
                                                            const Events& events) {
    const EventSource source(profile, events);
    Part part;
    part.rows = rows_of(events.trace);
    for (const EventColumn& column : columns) part.columns.push_back(column.values(source));
    return part;
  };
  table.lack = lack;
  return table;
}

EventColumns first_columns(std::string_view index_name) {
  using enum ColumnType;
  return {{{std::string(index_name), integer, "",
            "index of the row in its run (of a job, in its rank), by start from 0",
            ColumnInfo::Order::row},
           [](const EventSource&) {
             return computed([](size_t row) { return Value::of(static_cast<int64_t>(row)); });
           }},
          {{"rank", integer, "", "rank in a distributed job; null outside a job"},
           [](const EventSource& source) {
             auto values = std::make_shared<std::vector<Value>>();
             values->push_back(Value::of_count(source.events.rank));
             return coded(Dictionary(std::move(values)), [](size_t /*row*/) { return 0U; });
           }}};
}

EventColumns joined(std::vector<EventColumns> parts) {
  EventColumns all;
  for (EventColumns& part : parts) std::ranges::move(part, std::back_inserter(all));
  return all;
}

namespace detail {

EventColumns columns_of_owners(
    const std::function<const std::vector<analysis::InstanceId>&(const analysis::WorkOwners&)>&
        instances,
    const std::function<const std::vector<analysis::StepId>&(const analysis::WorkOwners&)>& steps) {
  using enum ColumnType;
  // By instance, what the column shows of it.
  const auto of_instance = [&](const char* name, ColumnType type, const char* meaning,
                               auto values_of) {
    return EventColumn{{name, type, "", meaning},
                       [instances, values_of](const EventSource& source) {
                         const analysis::Stages& stages = source.results.stages;
                         const auto& owners = instances(stages.owners);
                         return coded(values_of(stages), [&owners](size_t row) {
                           return row < owners.size() ? owners[row].value : UINT32_MAX;
                         });
                       }};
  };
  return {of_instance("stage", text, "stage that it belongs to; null outside stages",
                      [](const analysis::Stages& stages) {
                        std::vector<std::string> names;
                        names.reserve(stages.instances.size());
                        for (const auto& instance : stages.instances) {
                          names.push_back(to_printable(stages.stages[instance.stage].name));
                        }
                        return EventSource::texts(std::move(names));
                      }),
          of_instance("instance", integer, "index among the instances of its stage, from 0",
                      [](const analysis::Stages& stages) {
                        auto values = std::make_shared<std::vector<Value>>();
                        for (const uint64_t number : analysis::numbers_in_stage(stages)) {
                          values->push_back(Value::of_count(number));
                        }
                        return Dictionary(std::move(values));
                      }),
          of_instance("warmup", boolean,
                      "true in instances that statistics exclude; null outside stages",
                      [](const analysis::Stages& stages) {
                        auto values = std::make_shared<std::vector<Value>>();
                        for (const auto& instance : stages.instances) {
                          values->push_back(Value::of(int64_t{instance.warmup ? 1 : 0}));
                        }
                        return Dictionary(std::move(values));
                      }),
          {{"step", integer, "",
            "index in steps (of a job, in rank_steps of its rank); null outside steps"},
           [steps](const EventSource& source) {
             const analysis::Stages& stages = source.results.stages;
             const auto& owners = steps(stages.owners);
             return coded(EventSource::numbers(stages.steps.size()), [&owners](size_t row) {
               return row < owners.size() ? owners[row].value : UINT32_MAX;
             });
           }}};
}

}  // namespace detail

}  // namespace llmprof::query
