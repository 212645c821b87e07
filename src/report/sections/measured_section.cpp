#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

// A figure of a sensor; none without it.
template <class Value>
std::optional<Value> sensor_figure(const std::optional<Sensor<Value>>& sensor,
                                   Value Sensor<Value>::* figure) {
  return sensor ? std::optional(*sensor.*figure) : std::nullopt;
}

// "1755 MHz (1410 MHz to 1980 MHz)"
std::string clock_words(const std::optional<Sensor<Hertz>>& sensor) {
  if (!sensor) return std::string(kMissing);
  return fmt::format("{} ({} to {})", in_unit(sensor->mean), in_unit(sensor->min),
                     in_unit(sensor->max));
}

std::string throttle_words(const Measured& measured) {
  if (measured.throttle_samples == 0) return std::string(kMissing);
  const std::string text = joined(measured.throttle_reasons, ", ", [](const auto& seen) {
    return fmt::format("{} ({})", to_string(seen.reason), percent(seen.share_of_samples));
  });
  return text.empty() ? "nothing" : text;
}

std::string sampled_words(const Measured& measured) {
  return fmt::format("{} of {} ({})", measured.sampled_instances, measured.instances,
                     percent(measured.coverage_share_of_wall));
}

std::string_view rests_between_rounds(const Profile& profile) {
  const bool rests = std::ranges::any_of(profile.stages, [](const Stage& stage) {
    const auto& own = stage.measured;
    return own && own->sampled_instances > 0 && own->sampled_instances < own->instances;
  });
  return rests ? " Counters are off between rounds of requests, because they slow kernels down "
                 "(collector.counter_rounds): bytes, MBU and activity cover only the sampled ones."
               : "";
}

Table traffic_table(const Profile& profile) {
  return table_of(fmt::format("stage | #DRAM read per {0} | #DRAM written per {0} | #DRAM bytes "
                              "over the model's bytes | #DRAM bytes per step | #MBU on wall | #MBU "
                              "on GPU busy | #{0}s sampled (of their wall)",
                              instance_name(profile, "instance")),
                  profile.stages, [](const Stage& stage) {
                    const auto& own = stage.measured;
                    if (!own || (!own->dram_read && !own->dram_write)) return Row();
                    return cells(stage.name, in_unit(own->dram_read), in_unit(own->dram_write),
                                 ratio(own->bytes_over_model), in_unit(own->dram_per_step),
                                 percent(own->mbu.wall), percent(own->mbu.gpu_busy),
                                 sampled_words(*own));
                  });
}

Table activity_table(const Profile& profile) {
  return table_of("stage | #SMs active, of wall | #tensor cores active, of wall", profile.stages,
                  [](const Stage& stage) {
                    const auto& own = stage.measured;
                    if (!own || (!own->sm_active && !own->tensor_active)) return Row();
                    return cells(stage.name, percent(own->sm_active), percent(own->tensor_active));
                  });
}

Table sensor_table(const Profile& profile) {
  Table table = table_of(
      fmt::format("stage | #energy per {} | #energy per token | #power, mean (W) | #SM "
                  "clock, mean (min to max) | #memory clock, mean (min to max) | #highest "
                  "temperature (°C) | clocks lowered by (share of samples)",
                  instance_name(profile, "instance")),
      profile.stages, [](const Stage& stage) {
        const auto& own = stage.measured;
        if (!own || !(own->energy || own->sm_clock || own->power || own->temperature)) return Row();
        return cells(stage.name, in_unit(own->energy), in_unit(own->energy_per_token),
                     in_unit(sensor_figure(own->power, &Sensor<Watts>::mean)),
                     clock_words(own->sm_clock), clock_words(own->memory_clock),
                     in_unit(sensor_figure(own->temperature, &Sensor<DegreesCelsius>::max)),
                     throttle_words(*own));
      });
  return table.show_if(has_tokens(profile), "energy per token");
}

std::string energy_sources(const Profile& profile) {
  return joined(profile.stages, ", ", [](const Stage& stage) {
    const bool known = stage.measured && stage.measured->energy_source;
    return known ? stage.name + ": " + spelled(*stage.measured->energy_source) : std::string();
  });
}

void add_missing(const Profile& profile, Document& document) {
  for (const Stage& stage : profile.stages) {
    if (!stage.measured) continue;
    for (const auto& why : {stage.measured->why_not, stage.measured->energy_why_not}) {
      if (why) document.note(stage.name + ": " + clause(*why));
    }
  }
}

}  // namespace

void add_section(Topic<"measured"> /*topic*/, const Profile& profile, Document& document) {
  Table traffic = traffic_table(profile);
  Table activity = activity_table(profile);
  Table sensors = sensor_table(profile);
  const bool sampled = !traffic.rows.empty() || !activity.rows.empty();
  if (!sampled && sensors.rows.empty()) return;
  document.heading(3, "Measured by the GPU's counters and sensors");
  if (!traffic.rows.empty()) {
    document.add(std::move(traffic));
    const bool has_cost =
        std::ranges::any_of(profile.stages, [](const Stage& stage) { return !stage.cost.empty(); });
    document.paragraph(
        "Samples are assigned to stages by time: all GPU activity in that time counts, from any "
        "process. Bytes are read from and written to DRAM, scaled to the whole wall time if "
        "samples cover only a part of it. MBU is measured bytes / (time x peak bandwidth){}.{}",
        has_cost ? "; the table above uses the bytes that the model needs" : "",
        rests_between_rounds(profile));
  }
  document.add_filled(std::move(activity));
  add_missing(profile, document);
  if (sensors.rows.empty()) return;
  document.add(std::move(sensors));
  const std::string sources = energy_sources(profile);
  if (sources.empty()) return;
  // The power that counters draw was measured on an H200 with CUPTI's and nsys's sampling:
  // docs/measurements.md.
  document.paragraph(
      "Energy is for the whole GPU, including idle power ({}).{}{}", sources,
      has_tokens(profile) ? " Tokens are generated tokens for decode and prompt tokens for prefill."
                          : "",
      sampled
          ? " Counters draw power while they are on (about 30 W on an H200): compare energy only "
            "with runs that sample counters too, or measure it with collector.counters=false."
          : "");
}

void add_tracing_notes(const Profile& profile, Document& document) {
  for (const Stage& stage : profile.stages) {
    const auto& tracing = stage.tracing;
    if (!tracing || !tracing->share_of_steps || tracing->steps_traced == tracing->steps_all) {
      continue;
    }
    document.note(
        fmt::format("{}: {} of {} ({}) {} traced. Kernel times and counts, layers and busy times "
                    "cover only these; busy and idle shares refer to the wall time of these steps; "
                    "wall times cover all steps.",
                    stage.name, grouped(tracing->steps_traced), counted(tracing->steps_all, "step"),
                    percent(tracing->share_of_steps), were(tracing->steps_traced)));
  }
}

std::string measured_words(const Profile& profile) {
  const std::string text = joined(profile.stages, "; ", [&](const Stage& stage) {
    const auto& own = stage.measured;
    if (!own || !own->mbu.wall) return std::string();
    return fmt::format("{} moves {} per {} to and from memory, {} of the peak bandwidth{}",
                       stage.name, in_unit(own->dram), instance_name(profile, "instance"),
                       percent(own->mbu.wall),
                       own->energy_per_token
                           ? fmt::format(", and takes {} per token", in_unit(own->energy_per_token))
                           : "");
  });
  return text.empty() ? text : "Measured by the GPU's counters, on wall time: " + text + ".";
}

}  // namespace llmprof::report
