#include "readers/nsys_csv/columns.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "readers/nsys_csv/values.h"

namespace llmprof::readers::nsys_csv {
namespace {

struct Spelling {
  std::string_view text;  // letters, digits and '#' only, in lower case
  Column column;
};

constexpr Spelling kSpellings[] = {
    {"start", Column::start},
    {"end", Column::end},
    {"duration", Column::duration},
    {"dur", Column::duration},
    {"name", Column::name},
    {"corrid", Column::correlation},
    {"correlationid", Column::correlation},
    {"grdx", Column::grid_x},
    {"grdy", Column::grid_y},
    {"grdz", Column::grid_z},
    {"blkx", Column::block_x},
    {"blky", Column::block_y},
    {"blkz", Column::block_z},
    {"gridxyz", Column::grid},
    {"blockxyz", Column::block},
    {"regtrd", Column::registers},
    {"stcsmem", Column::static_shared},
    {"dymsmem", Column::dynamic_shared},
    {"bytes", Column::bytes},
    {"srcmemkd", Column::source_memory},
    {"dstmemkd", Column::destination_memory},
    {"device", Column::device},
    {"devid", Column::device_number},
    {"deviceid", Column::device_number},
    {"ctx", Column::context},
    {"context", Column::context},
    {"strm", Column::stream},
    {"stream", Column::stream},
    {"pid", Column::process},
    {"tid", Column::thread},
    {"threadname", Column::thread_name},
    {"result", Column::result},
    {"totaltime", Column::total_time},
    {"instances", Column::calls},
    {"kerninst", Column::calls},
    {"numcalls", Column::calls},
    {"calls", Column::calls},
    {"count", Column::calls},
    {"operations", Column::calls},
    {"med", Column::median},
    {"median", Column::median},
    {"min", Column::min},
    {"minimum", Column::min},
    {"max", Column::max},
    {"maximum", Column::max},
    {"range", Column::range},
    {"nvtxrange", Column::range},
    {"style", Column::style},
    {"category", Column::category},
    {"operation", Column::operation},
    {"kernelname", Column::kernel_name},
    {"nvtxinst", Column::range_calls},
    {"rangeinstances", Column::range_calls},
    {"totalprojtime", Column::total_projected},
    {"projectedstart", Column::projected_start},
    {"origstart", Column::original_start},
    {"origduration", Column::original_duration},
    {"apistart", Column::api_start},
    {"apidur", Column::api_duration},
    {"apifunction", Column::api_name},
    {"kernelstart", Column::kernel_start},
    {"kerneldur", Column::kernel_duration},
    {"rangestack", Column::range_stack},
    {"durchild", Column::range_stack},
};

struct HeaderName {
  std::string text;
  std::string_view unit;
};

// "Total Time (ns)" is "totaltime" in "ns".
HeaderName normalized(std::string_view field) {
  field = trim(field);
  HeaderName name;
  const size_t open = field.find_last_of("([");
  if (open != std::string_view::npos && (field.ends_with(')') || field.ends_with(']'))) {
    name.unit = trim(field.substr(open + 1, field.size() - open - 2));
    field = field.substr(0, open);
  }
  for (const char c : field) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name.text += c;
    } else if (c >= 'A' && c <= 'Z') {
      name.text += static_cast<char>(c - 'A' + 'a');
    }
  }
  return name;
}

// nsys writes nanoseconds and bytes where it names no unit.
int power_of(std::string_view unit) {
  if (const auto power = time_unit_power(unit)) return *power;
  return byte_unit_power(unit).value_or(0);
}

}  // namespace

HeaderColumns find_columns(const std::vector<std::string_view>& fields, ReportLayout& layout) {
  HeaderColumns columns;
  layout.width = fields.size();
  layout.position.fill(ReportLayout::kAbsent);
  for (size_t i = 0; i < fields.size(); ++i) {
    const HeaderName name = normalized(fields[i]);
    columns.counts_calls |= name.text == "numcalls" || name.text == "calls";
    columns.counts_operations |= name.text == "operations";
    columns.memory_sizes |= name.text == "total" && byte_unit_power(name.unit).has_value();
    columns.queue_count |= name.text == "qcount";
    const auto* const known =
        std::find_if(std::begin(kSpellings), std::end(kSpellings),
                     [&](const Spelling& spelling) { return spelling.text == name.text; });
    if (known == std::end(kSpellings) || layout.has(known->column)) continue;
    const auto column = static_cast<size_t>(known->column);
    layout.position[column] = static_cast<int16_t>(i);
    layout.unit_power[column] = static_cast<int8_t>(power_of(name.unit));
  }
  return columns;
}

std::string_view current_spelling(Column column) {
  switch (column) {
    case Column::start:
      return "Start";
    case Column::duration:
      return "Duration";
    case Column::name:
      return "Name";
    case Column::total_time:
      return "Total Time";
    case Column::calls:
      return "Instances";
    case Column::range:
      return "Range";
    case Column::category:
      return "Category";
    case Column::operation:
      return "Operation";
    case Column::kernel_name:
      return "Kernel Name";
    case Column::range_calls:
      return "Range Instances";
    case Column::total_projected:
      return "Total Proj Time";
    case Column::projected_start:
      return "Projected Start";
    case Column::original_start:
      return "Orig Start";
    case Column::original_duration:
      return "Orig Duration";
    case Column::kernel_start:
      return "Kernel Start";
    case Column::kernel_duration:
      return "Kernel Dur";
    default:
      return "a required column";
  }
}

}  // namespace llmprof::readers::nsys_csv
