#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

template <class Value>
std::optional<Value> mean_of(const std::optional<profile::Sensor<Value>>& sensor) {
  return sensor ? std::optional(sensor->mean) : std::nullopt;
}

template <class Value>
std::optional<Value> highest_of(const std::optional<profile::Sensor<Value>>& sensor) {
  return sensor ? std::optional(sensor->max) : std::nullopt;
}

// "1755 MHz (1410 MHz to 1980 MHz)"
std::string clock_words(const std::optional<profile::Sensor<profile::Hertz>>& sensor) {
  if (!sensor) return std::string(kMissing);
  return fmt::format("{} ({} to {})", clock(sensor->mean), clock(sensor->min), clock(sensor->max));
}

std::string throttle_words(const profile::Measured& measured) {
  if (measured.throttle_samples == 0) return std::string(kMissing);
  std::string text;
  for (const profile::ThrottleReason& seen : measured.throttle_reasons) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", seen.reason,
                        percent(seen.share_of_samples));
  }
  return text.empty() ? "nothing" : text;
}

std::string sampled_words(const profile::Measured& measured) {
  return fmt::format("{} of {} ({})", measured.sampled_instances, measured.instances,
                     percent(measured.coverage_share_of_wall));
}

std::string_view rests_between_rounds(const profile::Profile& profile) {
  const bool rests =
      std::any_of(profile.stages.begin(), profile.stages.end(), [](const profile::Stage& stage) {
        const auto& own = stage.measured;
        return own && own->sampled_instances > 0 && own->sampled_instances < own->instances;
      });
  return rests ? " Counters are off between rounds of requests, because they slow kernels down "
                 "(collector.counter_rounds): bytes, MBU and activity are of the sampled ones."
               : "";
}

bool has_traffic(const profile::Measured& measured) {
  return measured.dram_read || measured.dram_write;
}

bool has_sensors(const profile::Measured& measured) {
  return measured.energy || measured.sm_clock || measured.power || measured.temperature;
}

Table traffic_table(const profile::Profile& profile) {
  const std::string instance = instance_name(profile, "instance");
  Table table{{text_column("stage"), number_column(fmt::format("DRAM read per {}", instance)),
               number_column(fmt::format("DRAM written per {}", instance)),
               number_column("DRAM bytes over the model's bytes"),
               number_column("DRAM bytes per step"), number_column("MBU on wall"),
               number_column("MBU on GPU busy"),
               number_column(fmt::format("{}s sampled (of their wall)", instance))}};
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.measured || !has_traffic(*stage.measured)) continue;
    const profile::Measured& own = *stage.measured;
    const auto& over = own.bytes_over_model;
    table.rows.push_back({stage.name, scaled(own.dram_read), scaled(own.dram_write),
                          ratio(over ? std::optional(over->value) : std::nullopt),
                          scaled(own.dram_per_step), percent(own.mbu.wall),
                          percent(own.mbu.gpu_busy), sampled_words(own)});
  }
  return table;
}

Table activity_table(const profile::Profile& profile) {
  Table table{columns("stage | #SMs active, of wall | #tensor cores active, of wall")};
  for (const profile::Stage& stage : profile.stages) {
    const auto& own = stage.measured;
    if (!own || (!own->sm_active && !own->tensor_active)) continue;
    table.rows.push_back({stage.name, percent(own->sm_active), percent(own->tensor_active)});
  }
  return table;
}

Table sensor_table(const profile::Profile& profile) {
  Table table{
      {text_column("stage"), number_column("energy per " + instance_name(profile, "instance"))}};
  if (has_tokens(profile)) table.columns.push_back(number_column("energy per token"));
  for (const char* of_all : {"power, mean (W)", "SM clock, mean (min to max)",
                             "memory clock, mean (min to max)", "highest temperature (°C)"}) {
    table.columns.push_back(number_column(of_all));
  }
  table.columns.push_back(text_column("clocks lowered by (share of samples)"));
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.measured || !has_sensors(*stage.measured)) continue;
    const profile::Measured& own = *stage.measured;
    auto& row = table.rows.emplace_back();
    row = {stage.name, energy(own.energy)};
    if (has_tokens(profile)) row.emplace_back(energy(own.energy_per_token));
    row.insert(row.end(),
               {power(mean_of(own.power)), clock_words(own.sm_clock), clock_words(own.memory_clock),
                temperature(highest_of(own.temperature)), throttle_words(own)});
  }
  return table;
}

// Found on an H200 with CUPTI's sampling and with nsys's: docs/measurements.md.
std::string_view draw_of_counters(bool sampled) {
  return sampled ? " Counters draw power while they are on (about 30 W on an H200): compare energy "
                   "only with runs that sample counters too, or measure it with "
                   "collector.counters=false."
                 : "";
}

std::string energy_sources(const profile::Profile& profile) {
  std::string text;
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.measured || !stage.measured->energy_source) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", stage.name,
                        *stage.measured->energy_source);
  }
  return text;
}

bool has_cost(const profile::Profile& profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return !stage.cost.empty(); });
}

void add_missing(const profile::Profile& profile, Document& document) {
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.measured) continue;
    for (const auto& why : {stage.measured->why_not, stage.measured->energy_why_not}) {
      if (why) document.add(Callout{Callout::Kind::note, stage.name + ": " + clause(*why)});
    }
  }
}

}  // namespace

void add_section(Topic<"measured"> /*topic*/, const Profile& profile, Document& document) {
  Table traffic = traffic_table(profile);
  Table activity = activity_table(profile);
  Table sensors = sensor_table(profile);
  if (traffic.rows.empty() && activity.rows.empty() && sensors.rows.empty()) return;
  document.add(Heading{3, "Measured by the GPU's counters and sensors"});
  const bool sampled = !traffic.rows.empty() || !activity.rows.empty();
  if (!traffic.rows.empty()) {
    document.add(std::move(traffic));
    document.add(Paragraph{fmt::format(
        "Samples are assigned to stages by time: everything that the GPU did in that time counts, "
        "whichever process did it. Bytes are those read from and written to DRAM, scaled to the "
        "whole wall time where samples cover only a part of it. MBU is measured bytes / (time x "
        "peak bandwidth){}.{}",
        has_cost(profile) ? "; the table above has it by the bytes that the model needs" : "",
        rests_between_rounds(profile))});
  }
  if (!activity.rows.empty()) document.add(std::move(activity));
  add_missing(profile, document);
  if (sensors.rows.empty()) return;
  document.add(std::move(sensors));
  if (const std::string sources = energy_sources(profile); !sources.empty()) {
    document.add(Paragraph{
        fmt::format("Energy is that of the whole GPU, idle draw included ({}).{}{}", sources,
                    has_tokens(profile) ? " Tokens are those that a decode generates, and the "
                                          "prompt tokens of a prefill."
                                        : "",
                    draw_of_counters(sampled))});
  }
}

void add_tracing_notes(const profile::Profile& profile, Document& document) {
  for (const profile::Stage& stage : profile.stages) {
    const auto& tracing = stage.tracing;
    if (!tracing || !tracing->share_of_steps || tracing->steps_traced == tracing->steps_all) {
      continue;
    }
    document.add(Callout{
        Callout::Kind::note,
        fmt::format("{}: {} of {} ({}) {} traced. Kernel times and counts, layers and busy "
                    "times are of these alone, busy and idle shares of their part of the wall "
                    "time; wall times are of all steps.",
                    stage.name, grouped(tracing->steps_traced), counted(tracing->steps_all, "step"),
                    percent(tracing->share_of_steps), were(tracing->steps_traced))});
  }
}

std::string measured_words(const profile::Profile& profile) {
  std::string text;
  for (const profile::Stage& stage : profile.stages) {
    const auto& own = stage.measured;
    if (!own || !own->mbu.wall) continue;
    text += fmt::format("{}{} moves {} per {} to and from memory, {} of the peak bandwidth",
                        text.empty() ? "" : "; ", stage.name, scaled(own->dram),
                        instance_name(profile, "instance"), percent(own->mbu.wall));
    if (own->energy_per_token) {
      text += fmt::format(", and takes {} per token", energy(own->energy_per_token));
    }
  }
  return text.empty() ? text : "Measured by the GPU's counters, on wall time: " + text + ".";
}

}  // namespace llmprof::report
