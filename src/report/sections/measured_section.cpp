#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

std::string ratio_words(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.3f}", *ratio) : std::string(kMissing);
}

std::string joules(const std::optional<double>& energy) {
  return energy ? fmt::format("{:.3f} J", *energy) : std::string(kMissing);
}

// "1,755 MHz (1,410 to 1,980)" without the grouping that clocks do without.
std::string clock_words(const std::optional<analysis::StageCounters::Sensor>& clock) {
  if (!clock) return std::string(kMissing);
  return fmt::format("{:.0f} MHz ({:.0f} MHz to {:.0f} MHz)", clock->mean, clock->min, clock->max);
}

std::string sensor_words(const std::optional<analysis::StageCounters::Sensor>& sensor,
                         bool highest) {
  if (!sensor) return std::string(kMissing);
  return fmt::format("{:.1f}", highest ? sensor->max : sensor->mean);
}

std::string throttle_words(const analysis::StageCounters& counters) {
  std::string text;
  for (const analysis::StageCounters::Throttled& seen : counters.throttled) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", seen.reason.words, percent(seen.share));
  }
  if (counters.throttle_samples == 0) return std::string(kMissing);
  return text.empty() ? "nothing" : text;
}

std::string sampled_words(const analysis::StageCounters& counters) {
  return fmt::format("{} of {} ({})", counters.sampled_instances, counters.instances,
                     percent(counters.coverage));
}

std::string_view rests_between_rounds(const Reported& reported) {
  const auto& stages = reported.facts.stages;
  const bool rests = std::any_of(stages.begin(), stages.end(), [](const StageFacts& stage) {
    const analysis::StageCounters* own = stage.counters;
    return own != nullptr && own->sampled_instances > 0 && own->sampled_instances < own->instances;
  });
  return rests ? " Counters rest between rounds of requests, because kernels feel them "
                 "(collector.counter_rounds): bytes, MBU and activity are of those sampled."
               : "";
}

bool has_traffic(const analysis::StageCounters& counters) {
  return counters.read_bytes || counters.write_bytes;
}

bool has_sensors(const analysis::StageCounters& counters) {
  return counters.energy || counters.sm_clock || counters.power || counters.temperature;
}

Table traffic_table(const Reported& reported) {
  const std::string instance = instance_name(reported.profile, "instance");
  Table table;
  table.columns = {text_column("stage"),
                   number_column(fmt::format("DRAM read an {}", instance)),
                   number_column("written"),
                   number_column("both over the model's bytes"),
                   number_column("both a step"),
                   number_column("MBU on wall"),
                   number_column("MBU on GPU busy"),
                   number_column(fmt::format("{}s sampled (of their wall)", instance))};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr || !has_traffic(*own)) continue;
    table.rows.push_back({reported.stages[i].name, scaled(own->read_bytes, "B"),
                          scaled(own->write_bytes, "B"), ratio_words(own->bytes_over_model),
                          scaled(own->per_step(own->bytes()), "B"), percent(own->mbu_wall),
                          percent(own->mbu_busy), sampled_words(*own)});
  }
  return table;
}

Table activity_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"), number_column("SMs active, of wall"),
                   number_column("tensor cores active, of wall")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr || (!own->sm_active && !own->tensor_active)) continue;
    table.rows.push_back(
        {reported.stages[i].name, percent(own->sm_active), percent(own->tensor_active)});
  }
  return table;
}

Table sensor_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"),
                   number_column("energy an " + instance_name(reported.profile, "instance")),
                   number_column("energy a token"),
                   number_column("power, mean (W)"),
                   number_column("SM clock, mean (min to max)"),
                   number_column("memory clock, mean (min to max)"),
                   number_column("highest temperature (C)"),
                   text_column("clocks lowered by (share of samples)")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr || !has_sensors(*own)) continue;
    table.rows.push_back({reported.stages[i].name, joules(own->energy),
                          joules(own->energy_per_token()), sensor_words(own->power, false),
                          clock_words(own->sm_clock), clock_words(own->memory_clock),
                          sensor_words(own->temperature, true), throttle_words(*own)});
  }
  return table;
}

// Found on an H200 with CUPTI's sampling and with nsys's: docs/measurements.md.
std::string_view draw_of_counters(bool sampled) {
  return sampled
             ? " Counters draw power while they are on (an H200 about 30 W): compare it with runs "
               "that sample them too, or measure it with collector.counters=false."
             : "";
}

std::string energy_sources(const Reported& reported) {
  std::string text;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr || own->energy_source.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", reported.stages[i].name,
                        own->energy_source);
  }
  return text;
}

}  // namespace

void add_measured(const Reported& reported, Document& document) {
  Table traffic = traffic_table(reported);
  Table activity = activity_table(reported);
  Table sensors = sensor_table(reported);
  if (traffic.rows.empty() && activity.rows.empty() && sensors.rows.empty()) return;
  document.add(Heading{3, "Measured by the GPU's counters and sensors"});
  const bool sampled = !traffic.rows.empty() || !activity.rows.empty();
  if (!traffic.rows.empty()) {
    document.add(std::move(traffic));
    document.add(Paragraph{
        fmt::format("Samples belong to stages by time: all that the GPU did then counts, whoever "
                    "did it. Bytes are those that DRAM delivered and took, scaled to the whole "
                    "wall time where samples cover only a part of it; MBU is measured bytes / "
                    "(time x peak bandwidth), beside the model's own above.{}",
                    rests_between_rounds(reported))});
  }
  if (!activity.rows.empty()) document.add(std::move(activity));
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr) continue;
    for (const std::string& why : {own->why_not, own->energy_why_not}) {
      if (why.empty()) continue;
      document.add(Callout{Callout::Kind::note, reported.stages[i].name + ": " + clause(why)});
    }
  }
  if (sensors.rows.empty()) return;
  document.add(std::move(sensors));
  const std::string sources = energy_sources(reported);
  if (!sources.empty()) {
    document.add(Paragraph{
        fmt::format("Energy is the whole GPU's, idle draw included ({}). A token is one that a "
                    "decode generates, and a prompt token of a prefill.{}",
                    sources, draw_of_counters(sampled))});
  }
}

void add_tracing_notes(const Reported& reported, Document& document) {
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageFacts& facts = reported.facts.stages[i];
    if (facts.tracing.whole() || !facts.tracing.share) continue;
    document.add(Callout{
        Callout::Kind::note,
        fmt::format(
            "{}: {} of {} steps ({}) were traced. Kernel times and counts, layers and busy "
            "times are of these alone, busy and idle shares of their part of the wall time; "
            "wall times are of all steps.",
            reported.stages[i].name, grouped(facts.tracing.steps_traced),
            grouped(facts.tracing.steps_all), percent(facts.tracing.share))});
  }
}

std::string measured_words(const Reported& reported) {
  std::string text;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageCounters* own = reported.facts.stages[i].counters;
    if (own == nullptr || !own->mbu_wall) continue;
    text +=
        fmt::format("{}{} moves {} an {} to and from memory, {} of the bandwidth",
                    text.empty() ? "" : "; ", reported.stages[i].name, scaled(own->bytes(), "B"),
                    instance_name(reported.profile, "instance"), percent(own->mbu_wall));
    if (const auto energy = own->energy_per_token()) {
      text += fmt::format(", and takes {} a token", joules(energy));
    }
  }
  return text.empty() ? text : "Measured by the GPU's counters, on wall time: " + text + ".";
}

}  // namespace llmprof::report
