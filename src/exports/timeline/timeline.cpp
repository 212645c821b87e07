#include "exports/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTimelineVersion = 1;
constexpr uint64_t kLongestSpan = 1ULL << 53U;  // ns: what a number of JavaScript holds exactly

// Of all that has a place in time; none where nothing has.
class Bounds {
 public:
  void add(Nanoseconds start, Nanoseconds end) {
    first_ = std::min(first_, start);
    last_ = std::max({last_, start, end});
  }
  template <class Rows>
  void add_rows(const Rows& table) {
    for (size_t i = 0; i < table.size(); ++i) add(table.start[i], table.end[i]);
  }
  [[nodiscard]] std::optional<Window> window() const {
    if (first_ > last_) return std::nullopt;
    return Window{first_, last_};
  }

 private:
  Nanoseconds first_ = INT64_MAX;
  Nanoseconds last_ = INT64_MIN;
};

std::optional<Window> window_of(const ExportSource& source) {
  const trace::Trace& trace = source.trace;
  Bounds bounds;
  bounds.add_rows(trace.kernels);
  bounds.add_rows(trace.memory_operations);
  bounds.add_rows(trace.graph_replays);
  bounds.add_rows(trace.launches);
  bounds.add_rows(trace.operators);
  bounds.add_rows(trace.counters);
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const bool open = trace.ranges.end[i] == trace::kOpenEnd;
    bounds.add(trace.ranges.start[i], open ? trace.ranges.start[i] : trace.ranges.end[i]);
  }
  for (const analysis::StageInstance& instance : source.results.stages.instances) {
    bounds.add(instance.start, instance.end);
  }
  return bounds.window();
}

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
  Json json = {{"id", track.id},       {"kind", track.kind},   {"label", track.label},
               {"group", track.group}, {"table", track.table}, {"first", track.first},
               {"count", track.count}};
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
  for (const auto& [name, column] : table.columns) columns[name] = to_string(column.coding());
  return {{"rows", table.rows}, {"columns", std::move(columns)}};
}

Json header_json(const ExportSource& source, const Draft& draft, const GpuRows& gpu) {
  Json kernels = Json::array();
  for (const KernelEntry& entry : gpu.kernels) {
    kernels.push_back(
        {{"name", entry.name}, {"short", entry.short_name}, {"class", entry.kernel_class}});
  }
  Json shapes = Json::array();
  for (const trace::ShapeId id : gpu.shapes) shapes.push_back(shape_json(source.trace.shapes[id]));
  Json tracks = Json::array();
  for (const Track& track : draft.tracks) tracks.push_back(track_json(track));
  Json tables = Json::object();
  for (const Table& table : draft.tables) tables[table.name] = table_json(table);
  return {{"version", kTimelineVersion},    {"origin_ns", std::to_string(draft.window.origin)},
          {"span_ns", draft.window.span()}, {"names", draft.names.texts()},
          {"kernels", std::move(kernels)},  {"shapes", std::move(shapes)},
          {"tracks", std::move(tracks)},    {"tables", std::move(tables)}};
}

// Stages, steps, layers, streams and counters of a GPU stand together, threads behind them.
void order_tracks(std::vector<Track>& tracks) {
  const auto rank = [](const Track& track) {
    constexpr std::array<std::string_view, 6> kOrder = {"stages", "steps",   "layers",
                                                        "stream", "counter", "thread"};
    return std::find(kOrder.begin(), kOrder.end(), track.kind) - kOrder.begin();
  };
  std::stable_sort(tracks.begin(), tracks.end(), [&](const Track& a, const Track& b) {
    const bool a_thread = a.kind == "thread";
    const bool b_thread = b.kind == "thread";
    return std::tuple(a_thread, a.group, rank(a)) < std::tuple(b_thread, b.group, rank(b));
  });
}

}  // namespace

std::string_view to_string(Coding coding) {
  constexpr std::array<std::string_view, 6> kNames = {"u", "s", "udelta", "sdelta", "u8", "f32"};
  return kNames.at(static_cast<size_t>(coding));
}

uint32_t Names::add(std::string_view text) {
  const auto [known, is_new] =
      known_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return known->second;
}

std::string group_of(const trace::Trace& trace, trace::DeviceId device) {
  if (!device.valid()) return "CPU";
  const std::string label = analysis::device_label(trace, device);  // "rank3/cuda:0"
  const size_t slash = label.rfind('/');
  const std::string capture = slash == std::string::npos ? "" : label.substr(0, slash) + " / ";
  const trace::Device& info = trace.devices[device.index()];
  if (info.kind == trace::DeviceKind::cpu) return capture + "CPU";
  return fmt::format("{}GPU {}", capture, info.ordinal);
}

Result<Timeline> make_timeline(const ExportSource& source) {
  const auto window = window_of(source);
  if (!window) {
    return fail_input(
        "The captures hold totals or single measured kernels, and nothing with a place in time; "
        "`llmprof run` records a timeline.");
  }
  if (static_cast<uint64_t>(window->end) - static_cast<uint64_t>(window->origin) > kLongestSpan) {
    return fail_input(
        "The captures' times are more than 100 days apart, which no axis shows: they are damaged, "
        "or of different clocks.");
  }
  Draft draft;
  draft.window = *window;
  add_stage_rows(source, draft);
  add_call_rows(source, draft);
  add_layer_rows(source, draft);
  const GpuRows gpu = add_gpu_rows(source, draft);
  add_counter_rows(source, draft);
  add_range_rows(source, draft);
  order_tracks(draft.tracks);
  Timeline timeline;
  timeline.header =
      header_json(source, draft, gpu).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (Table& table : draft.tables) {
    for (auto& [name, column] : table.columns) {
      timeline.columns.push_back({fmt::format("{}.{}", table.name, name), column.take()});
    }
  }
  return timeline;
}

}  // namespace llmprof::exports
