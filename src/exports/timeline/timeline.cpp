#include "exports/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTimelineVersion = 1;
constexpr uint64_t kLongestSpan = 1ULL << 53U;  // ns: exact in a JavaScript number up to here

Json shape_json(const trace::LaunchShape& shape) {
  return {shape.grid[0],
          shape.grid[1],
          shape.grid[2],
          shape.block[0],
          shape.block[1],
          shape.block[2],
          shape.registers_per_thread,
          uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes};
}

Json track_json(const Track& track) {
  Json json = {{"id", track.id},       {"kind", profile::to_string(track.kind)},
               {"label", track.label}, {"group", track.group},
               {"table", track.table}, {"first", track.first},
               {"count", track.count}};
  if (!track.device.empty()) json["device"] = track.device;
  if (track.unit) json["unit"] = *track.unit;
  if (track.max) json["max"] = *track.max;
  if (!track.levels.empty()) {
    Json levels = Json::array();
    for (const Level& level : track.levels) {
      levels.push_back({{"bin_ns", level.bin}, {"first", level.first}, {"count", level.count}});
    }
    json["levels"] = std::move(levels);
  }
  return json;
}

Json table_json(const Table& table) {
  Json columns = Json::object();
  for (const auto& [name, column] : table.columns)
    columns[name] = profile::to_string(column.coding());
  return {{"rows", table.rows}, {"columns", std::move(columns)}};
}

Json header_json(const Draft& draft) {
  Json names = Json::array();
  for (size_t i = 0; i < draft.names.size(); ++i) names.push_back(draft.names[trace::StringId(i)]);
  Json kernels = Json::array();
  for (const KernelEntry& entry : draft.kernels) {
    kernels.push_back(
        {{"name", entry.name}, {"short", entry.short_name}, {"class", entry.kernel_class}});
  }
  Json shapes = Json::array();
  for (const trace::LaunchShape& shape : draft.shapes) shapes.push_back(shape_json(shape));
  Json tracks = Json::array();
  for (const Track& track : draft.tracks) tracks.push_back(track_json(track));
  Json tables = Json::object();
  for (const Table& table : draft.tables) tables[table.name] = table_json(table);
  Json causes = Json::array();
  for (size_t part = 0; part < analysis::kBudgetParts; ++part) {
    causes.push_back(analysis::budget_part_name(part));
  }
  Json gaps = Json::array();
  for (const auto& [of, sum] : draft.gaps) {
    gaps.push_back({{"stage", of.first},
                    {"cause", analysis::budget_part_name(of.second)},
                    {"gaps", sum.count},
                    {"total_ns", sum.total},
                    {"longest_ns", sum.longest},
                    {"longest_start_ns", sum.longest_start}});
  }
  Json header = {
      {"version", kTimelineVersion},    {"origin_ns", std::to_string(draft.window.origin)},
      {"span_ns", draft.window.span()}, {"names", std::move(names)},
      {"kernels", std::move(kernels)},  {"shapes", std::move(shapes)},
      {"tracks", std::move(tracks)},    {"tables", std::move(tables)},
      {"causes", std::move(causes)},    {"gaps", std::move(gaps)}};
  for (const ClockSpan& clock : draft.clocks) {
    header["clocks"].push_back({{"label", clock.label},
                                {"first_ns", std::to_string(clock.first)},
                                {"last_ns", std::to_string(clock.last)}});
  }
  return header;
}

// Groups stages, steps, layers, streams and counters of a GPU, rank by rank, then threads.
void order_tracks(std::vector<Track>& tracks) {
  std::ranges::stable_sort(tracks, {}, [](const Track& track) {
    return std::tuple(track.kind == TrackKind::thread, track.source, std::string_view(track.group),
                      track.kind);
  });
}

void add_source(const ExportSource& source, Nanoseconds last, Draft& draft) {
  draft.clock = source.clock;
  draft.rows = {};
  add_stage_rows(source, draft);
  const EncodeRows encode_calls = add_call_rows(source, draft);
  const EncodeRows encode_ranges = add_range_rows(source, last, draft);
  // Threads are half of the work.
  std::future<void> threads = std::async([&] {
    encode_calls();
    encode_ranges();
  });
  add_layer_rows(source, draft);
  add_gpu_rows(source, draft);
  add_counter_rows(source, draft);
  add_gap_summary(source, draft);
  threads.get();
  ++draft.source;
}

Result<Timeline> timeline_of(const ExportSources& sources, std::vector<ClockSpan> clocks) {
  std::vector<TimeSpan> spans;
  std::optional<Window> window;
  for (const ExportSource& source : sources) {
    const TimeSpan& own = spans.emplace_back(recorded_span(source.trace, source.results.stages));
    if (!own.any()) continue;
    const Window of_source = {source.clock.job_time(own.first), source.clock.job_time(own.last)};
    if (!window) window = of_source;
    window->origin = std::min(window->origin, of_source.origin);
    window->end = std::max(window->end, of_source.end);
  }
  if (!window) {
    return fail_input(
        "The captures hold totals or single measured kernels, but no times; "
        "`llmprof run` records a timeline.");
  }
  if (static_cast<uint64_t>(window->end) - static_cast<uint64_t>(window->origin) > kLongestSpan) {
    return fail_input(
        "The captures' times are more than 100 days apart, too far for one timeline: they are "
        "damaged, or use different clocks.");
  }
  Draft draft;
  draft.window = *window;
  draft.clocks = std::move(clocks);
  for (size_t i = 0; i < sources.size(); ++i) add_source(sources[i], spans[i].last, draft);
  order_tracks(draft.tracks);
  Timeline timeline;
  timeline.header = header_json(draft).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (Table& table : draft.tables) {
    for (auto& [name, column] : table.columns) {
      timeline.columns.push_back({fmt::format("{}.{}", table.name, name), column.take()});
    }
  }
  return timeline;
}

// "GPU 0", "rank 3 / GPU 0"; "CPU" if the program computes on the CPU.
std::string group_of(const ExportSource& source, trace::DeviceId device) {
  const std::string rank = source.rank.empty() ? "" : fmt::format("{} / ", source.rank);
  if (!device.valid()) return rank + "CPU";
  const trace::Device& info = source.trace.devices[device.index()];
  const std::string label = analysis::device_label(source.trace, device);  // "rank3/cuda:0"
  const size_t slash = label.rfind('/');
  std::string capture = slash == std::string::npos ? "" : label.substr(0, slash) + " / ";
  if (!rank.empty()) capture = rank;
  if (info.kind == trace::DeviceKind::cpu) return capture + "CPU";
  return fmt::format("{}GPU {}", capture, info.ordinal);
}

// The device in profile.json's kernels: "cuda:0", "rank3/cuda:0"; empty for none.
std::string device_of(const ExportSource& source, trace::DeviceId device) {
  if (!device.valid()) return {};
  std::string label = analysis::device_label(source.trace, device);
  if (source.rank.empty()) return label;
  std::string rank(source.rank);
  std::erase(rank, ' ');
  return fmt::format("{}/{}", rank, label);
}

}  // namespace

Column& Table::column(std::string_view of) {
  return std::ranges::find_if(columns, [&](const auto& each) { return each.first == of; })->second;
}

Table& Draft::table(std::string_view name, std::string_view columns) {
  const auto known = std::ranges::find(tables, name, &Table::name);
  if (known != tables.end()) return *known;
  Table& made = tables.emplace_back();
  made.name = name;
  for (const std::string_view column : split(columns, ' ')) {
    const size_t colon = column.find(':');
    made.columns.emplace_back(column.substr(0, colon),
                              profile::find_word<Coding>(column.substr(colon + 1)).value());
  }
  return made;
}

void Draft::add_track(Track track) {
  track.source = source;
  tracks.push_back(std::move(track));
}

uint32_t Draft::kernel(const KernelEntry& entry) {
  const auto [known, is_new] =
      known_kernels_.try_emplace(entry, static_cast<uint32_t>(kernels.size()));
  if (is_new) kernels.push_back(entry);
  return known->second;
}

Track device_track(const ExportSource& source, trace::DeviceId device, TrackKind kind,
                   std::string_view label, const Table& table) {
  Track track;
  track.kind = kind;
  track.label = label;
  track.table = table.name;
  track.group = group_of(source, device);
  track.device = device_of(source, device);
  track.id = fmt::format("{}/{}", track.group, label);
  track.first = table.rows;
  return track;
}

Result<Timeline> make_timeline(const ExportSources& sources) {
  const auto own = on_own_axes(sources);
  return own ? timeline_of({{own->trace, own->results}}, own->clocks) : timeline_of(sources, {});
}

}  // namespace llmprof::exports
