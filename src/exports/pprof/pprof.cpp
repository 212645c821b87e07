#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/streams/deflate.h"
#include "exports/clocks/own_axes.h"
#include "exports/clocks/wall_clock.h"
#include "exports/exports.h"
#include "exports/kernel_stacks.h"
#include "exports/proto_writer.h"

namespace llmprof::exports {
namespace {

// profile.proto of pprof.
enum class ProfileField : uint8_t {
  sample_type = 1,
  sample = 2,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
  comment = 13,
  default_sample_type = 14,
};
enum class ValueTypeField : uint8_t { type = 1, unit = 2 };
enum class SampleField : uint8_t { location_id = 1, value = 2, label = 3 };
enum class LabelField : uint8_t { key = 1, text = 2 };
enum class LocationField : uint8_t { id = 1, line = 4 };
enum class LineField : uint8_t { function_id = 1 };
enum class FunctionField : uint8_t { id = 1, name = 2, system_name = 3 };

// What a sample counts.
enum Quantity : uint8_t { kTime, kCount, kDram, kFlops, kMoved, kEnergy, kQuantities };
using Numbers = std::array<int64_t, kQuantities>;

struct QuantityName {
  std::string_view type;
  std::string_view unit;
  std::string_view why_not;  // why a file does not have it
};
constexpr std::array<QuantityName, kQuantities> kNames = {{
    {"gpu_kernel_time", "nanoseconds", ""},
    {"kernels", "count", ""},
    {"dram", "bytes", "no counters of DRAM traffic were sampled in steps"},
    {"flops", "count", "only operators of a CPU state their FLOPs"},
    {"moved", "bytes", "only operators of a CPU state the bytes that they move"},
    {"energy", "microjoules", "no stage has a measured energy"},
}};
constexpr std::string_view kOfSingleRanks =
    "measured for single ranks only; export the capture of one rank";
constexpr std::string_view kCpuTime = "cpu_kernel_time";

int64_t as_number(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX));
}

struct Label {
  std::string_view key;
  std::string text;
};

class PprofFile {
 public:
  explicit PprofFile(std::string_view tool_version) {
    comment("llmprof " + std::string(tool_version));
  }

  void add_kernels(const ExportSource& source) {
    for (const KernelStack& stack : kernel_stacks(source)) {
      std::vector<uint64_t> locations;  // leaf first
      for (size_t i = stack.frames.size(); i-- > 0;) {
        const bool is_kernel = i + 1 == stack.frames.size();
        locations.push_back(location(stack.frames[i], is_kernel ? stack.kernel : std::string()));
      }
      std::vector<Label> labels = {{"device", stack.device}};
      if (stack.stage) labels.push_back({"stage", *stack.stage});
      if (!source.rank.empty()) labels.push_back({"rank", source.rank});
      Numbers numbers{};
      numbers[kTime] = stack.work.time;
      numbers[kCount] = as_number(stack.work.calls);
      numbers[kFlops] = as_number(stack.work.flops);
      numbers[kMoved] = as_number(stack.work.bytes);
      add({std::move(locations), std::move(labels), numbers});
    }
  }

  // Counters and sensors cannot tell kernels apart: their values belong to the frame of a stage.
  void add_measured(const profile::Profile& profile) {
    std::map<std::pair<std::string, bool>, double> dram;
    for (const profile::Step& step : profile.steps) {
      if (!step.dram_bytes) continue;
      const profile::Stage* const stage = profile::find_stage(profile, step.stage);
      const bool warmup = stage != nullptr && step.instance < stage->instances.size() &&
                          stage->instances[step.instance].warmup;
      dram[{step.stage, warmup}] += step.dram_bytes->value;
    }
    for (const auto& [place, bytes] : dram) {
      add_to_stage(place.first, place.second, kDram, bytes);
    }
    for (const profile::Stage& stage : profile.stages) {
      if (!stage.measured || !stage.measured->energy) continue;
      const double joules =
          stage.measured->energy->value * static_cast<double>(stage.measured->instances);
      add_to_stage(stage.name, false, kEnergy, joules * kMicro);
    }
  }

  void set_time(int64_t wall_clock) { time_ = wall_clock; }
  void set_duration(Nanoseconds duration) { duration_ = duration; }

  // `of_job`: several ranks, whose counters and sensors are in none of the profiles here.
  ExportedText finish(bool on_cpu, bool of_job) {
    std::vector<std::string> lacks;
    std::vector<Quantity> known;
    for (uint8_t i = 0; i < kQuantities; ++i) {
      const auto quantity = static_cast<Quantity>(i);
      const bool is_known =
          kNames[i].why_not.empty() || std::ranges::any_of(samples_, [&](const Sample& sample) {
            return sample.numbers[quantity] != 0;
          });
      if (is_known) {
        known.push_back(quantity);
      } else {
        const bool of_single_ranks = of_job && (quantity == kDram || quantity == kEnergy);
        lacks.push_back(fmt::format("{}: {}", kNames[i].type,
                                    of_single_ranks ? kOfSingleRanks : kNames[i].why_not));
        comment("without " + lacks.back());
      }
    }
    write(known, on_cpu ? kCpuTime : kNames[kTime].type);
    constexpr int kLevel = 6;
    return {gzip_compressed(view(bytes_), kLevel), std::move(lacks)};
  }

 private:
  static constexpr double kMicro = 1e6;

  struct Sample {
    std::vector<uint64_t> locations;
    std::vector<Label> labels;
    Numbers numbers{};
  };

  void add(Sample sample) { samples_.push_back(std::move(sample)); }
  void add_to_stage(const std::string& stage, bool warmup, Quantity quantity, double value) {
    Sample sample{{location(stage_frame(stage, warmup), "")}, {{"stage", stage}}, {}};
    sample.numbers[quantity] = std::llround(value);
    add(std::move(sample));
  }

  uint64_t text(std::string_view text) {
    const auto [found, is_new] = texts_.try_emplace(std::string(text), texts_.size());
    if (is_new) table_.push_back(found->first);
    return found->second;
  }
  void comment(std::string_view words) { comments_.push_back(text(words)); }

  // One location and one function for each frame. pprof shortens C++ names unless it has another
  // system name: an empty one, if it is the same.
  uint64_t location(const std::string& frame, const std::string& system_name) {
    const std::string other = system_name == frame ? std::string() : system_name;
    return locations_.try_emplace({text(frame), text(other)}, locations_.size() + 1).first->second;
  }

  void write(std::span<const Quantity> known, std::string_view time_name) {
    using enum ProfileField;
    for (const Quantity quantity : known) {
      const std::string_view type = quantity == kTime ? time_name : kNames[quantity].type;
      writer_.message(sample_type, [&] {
        writer_.number(ValueTypeField::type, text(type));
        writer_.number(ValueTypeField::unit, text(kNames[quantity].unit));
      });
    }
    for (const Sample& each : samples_) writer_.message(sample, [&] { write(each, known); });
    for (const auto& [names, id] : locations_) {
      writer_.message(ProfileField::location, [&] {
        writer_.number(LocationField::id, id);
        writer_.message(LocationField::line, [&] { writer_.number(LineField::function_id, id); });
      });
      writer_.message(function, [&] {
        writer_.number(FunctionField::id, id);
        writer_.number(FunctionField::name, names.first);
        writer_.number(FunctionField::system_name, names.second);
      });
    }
    if (time_) writer_.number(time_nanos, static_cast<uint64_t>(*time_));
    writer_.number(duration_nanos, static_cast<uint64_t>(duration_));
    for (const uint64_t words : comments_) writer_.number(ProfileField::comment, words);
    writer_.number(default_sample_type, text(time_name));
    for (const std::string_view each : table_) writer_.bytes(string_table, each);
  }

  void write(const Sample& sample, std::span<const Quantity> known) {
    for (const uint64_t location : sample.locations) {
      writer_.number(SampleField::location_id, location);
    }
    for (const Quantity quantity : known) {
      writer_.number(SampleField::value, static_cast<uint64_t>(sample.numbers[quantity]));
    }
    for (const Label& label : sample.labels) {
      writer_.message(SampleField::label, [&] {
        writer_.number(LabelField::key, text(label.key));
        writer_.number(LabelField::text, text(label.text));
      });
    }
  }

  std::map<std::string, uint64_t> texts_ = {{"", 0}};  // its place in the table
  std::vector<std::string_view> table_ = {""};         // of texts_, whose keys stay in place
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> locations_;
  std::vector<Sample> samples_;
  std::vector<uint64_t> comments_;
  std::optional<int64_t> time_;
  Nanoseconds duration_ = 0;
  ProtoBuffer bytes_;
  ProtoWriter writer_{bytes_};
};

bool is_on_cpu(const ExportSource& source) {
  const auto& devices = source.trace.devices;
  return !devices.empty() && std::ranges::all_of(devices, [](const trace::Device& device) {
    return device.kind == trace::DeviceKind::cpu;
  });
}

}  // namespace

Result<ExportedText> pprof_profile(const ExportSources& sources, std::string_view tool_version) {
  PprofFile file(tool_version);
  TimeSpan whole;
  for (const ExportSource& source : sources) {
    file.add_kernels(source);
    const TimeSpan span = recorded_span(source.trace, source.results.stages);
    if (span.any()) {
      whole.add(source.clock.job_time(span.first), source.clock.job_time(span.last));
    }
  }
  const bool any_kernels = std::ranges::any_of(
      sources, [](const ExportSource& source) { return !source.results.ranking.rows.empty(); });
  if (!any_kernels) {
    return fail_input("no kernels to export: these captures hold none; record them again");
  }
  // Captures of unrelated clocks have no common span.
  if (whole.any() && !on_own_axes(sources)) {
    file.set_duration(whole.last - whole.first);
    const profile::Profile* const profile = sources.front().profile;
    const auto wall = profile == nullptr ? std::nullopt : wall_clock_of_timeline(profile->context);
    if (wall) file.set_time(*wall + whole.first);
  }
  if (sources.front().profile != nullptr) file.add_measured(*sources.front().profile);
  return file.finish(std::ranges::all_of(sources, is_on_cpu), sources.front().profile == nullptr);
}

}  // namespace llmprof::exports
