#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "exports/clocks/wall_clock.h"
#include "exports/exports.h"
#include "exports/otlp/span_ids.h"
#include "exports/otlp/span_lines.h"

namespace llmprof::exports {
namespace {

using profile::Request;
using profile::RequestSource;

constexpr std::string_view kTimelineTrace = "timeline";

std::string request_key(uint64_t row) { return fmt::format("request {}", row); }
std::string step_key(uint64_t row) { return fmt::format("step {}", row); }
std::string instance_key(std::string_view stage, uint64_t instance) {
  return fmt::format("instance {} {}", instance, stage);
}

// A clock's times in Unix time. A clock that does not know the time of day keeps its own times,
// moved so that none is negative, which OTLP cannot hold.
struct UnixClock {
  UnixClock(std::optional<int64_t> wall_clock, Nanoseconds first)
      : is_wall(wall_clock.has_value()), offset(wall_clock.value_or(first < 0 ? -first : 0)) {}
  [[nodiscard]] Nanoseconds time(Nanoseconds own) const { return own + offset; }

  bool is_wall;
  Nanoseconds offset;
};

Nanoseconds first_of_steps(const profile::Profile& profile) {
  Nanoseconds first = INT64_MAX;
  for (const profile::Step& step : profile.steps) {
    first = std::min(first, to_nanoseconds(step.start));
  }
  for (const profile::Stage& stage : profile.stages) {
    for (const auto& instance : stage.instances) first = std::min(first, instance.start_ns.value);
  }
  return first;
}

Nanoseconds first_of_requests(const profile::Profile& profile) {
  Nanoseconds first = INT64_MAX;
  if (!profile.requests) return first;
  for (const Request& request : profile.requests->items) {
    if (request.sent) first = std::min(first, to_nanoseconds(*request.sent));
  }
  return first;
}

// What distinguishes runs of one name.
std::string identity(const profile::Profile& profile, std::string_view run) {
  std::string text =
      fmt::format("{} {} {}", run, profile.totals.kernel_count, profile.totals.kernel_sum_ns.value);
  for (const profile::Capture& capture : profile.context.captures) {
    text += fmt::format(" {}", capture.wall_clock_ns.value_or(0));
  }
  text += fmt::format(" {} {}", first_of_steps(profile), first_of_requests(profile));
  return text;
}

// The last part of a name that may be a path.
std::string_view without_folders(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  return name.substr(name.rfind('/') + 1);
}

// "idle_launch_bound" of "idle: launch bound": keys of attributes are in snake_case.
std::string as_key(std::string_view word) {
  std::string key;
  for (const char letter : word) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) {
      key += static_cast<char>(std::tolower(byte));
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  if (key.ends_with('_')) key.pop_back();
  return key;
}

template <class Times>
void add_times(std::string_view prefix, const Times& times, OtlpAttributes& attributes) {
  for (const auto& [word, time] : times) {
    attributes.add(fmt::format("{}.{}_ns", prefix, as_key(to_string(word))), int64_t{time.value});
  }
}

class Spans {
 public:
  Spans(const profile::Profile& profile, std::string_view run, std::string_view tool_version)
      : profile_(profile),
        run_(run),
        version_(tool_version),
        ids_(identity(profile, run)),
        of_steps_(wall_clock_of_timeline(profile.context), first_of_steps(profile)),
        of_requests_(wall_clock_of_requests(profile), first_of_requests(profile)) {
    find_links();
  }

  std::string write() {
    SpanLines requests(resource(of_requests_), "llmprof.requests", version_);
    const size_t count = profile_.requests ? profile_.requests->items.size() : 0;
    for (size_t row = 0; row < count; ++row) {
      if (profile_.requests->items[row].sent) requests.add(request_span(row));
    }
    SpanLines stages(resource(of_steps_), "llmprof.stages", version_);
    for (const profile::Stage& stage : profile_.stages) {
      for (size_t i = 0; i < stage.instances.size(); ++i) stages.add(instance_span(stage, i));
    }
    SpanLines steps(resource(of_steps_), "llmprof.steps", version_);
    for (size_t row = 0; row < profile_.steps.size(); ++row) steps.add(step_span(row));
    return requests.finish() + stages.finish() + steps.finish();
  }

 private:
  // Steps know the tokens that they made, requests the step of their first token.
  void find_links() {
    if (!profile_.requests) return;
    const profile::Requests& requests = *profile_.requests;
    for (size_t row = 0; row < requests.items.size(); ++row) {
      if (!requests.items[row].sent) continue;
      const auto& batches = requests.items[row].token_batches;
      for (size_t chunk = 0; chunk < batches.size(); ++chunk) {
        const auto step = step_of_batch(batches[chunk]);
        if (!step) continue;
        tokens_of_step_[*step].emplace_back(row, chunk);
        if (chunk == 0) first_step_[row] = *step;
      }
    }
  }

  // The batch's last pass, whose results are its tokens.
  [[nodiscard]] std::optional<uint64_t> step_of_batch(int64_t row) const {
    const auto& batches = profile_.requests->batches;
    if (row < 0 || static_cast<size_t>(row) >= batches.size()) return std::nullopt;
    const profile::RequestBatch& batch = batches[static_cast<size_t>(row)];
    const uint64_t step = batch.first_step + batch.steps - 1;
    if (batch.steps == 0 || step >= profile_.steps.size()) return std::nullopt;
    return step;
  }

  [[nodiscard]] OtlpJson resource(const UnixClock& clock) const {
    OtlpAttributes attributes;
    const bool is_known = profile_.engine.name != profile::kUnknownEngine;
    attributes.add("service.name", is_known ? profile_.engine.name : std::string("llmprof"));
    attributes.add("llmprof.run", run_);
    attributes.add("llmprof.version", version_);
    attributes.add("llmprof.clock", clock.is_wall
                                        ? "time of day"
                                        : "time since the capture's zero: it does not know the "
                                          "time of day");
    attributes.add("llmprof.clock.offset_ns", int64_t{clock.offset});
    return std::move(attributes).take();
  }

  [[nodiscard]] bool measured_by_server() const {
    switch (profile_.requests->source) {
      case RequestSource::sglang_server:
      case RequestSource::vllm_spans:
      case RequestSource::sglang_spans:
      case RequestSource::transformers:
        return true;
      default:
        return false;
    }
  }

  [[nodiscard]] OtlpSpan request_span(size_t row) const {
    const Request& request = profile_.requests->items[row];
    const Nanoseconds sent = of_requests_.time(to_nanoseconds(*request.sent));
    const Nanoseconds last = request.token_times.empty() ? 0 : request.token_times.back().value;
    OtlpSpan span{.trace_id = ids_.trace(request_key(row)),
                  .span_id = ids_.span(request_key(row)),
                  .parent = {},
                  .name = "request",
                  .kind = measured_by_server() ? SpanKind::server : SpanKind::client,
                  .start = sent,
                  .end = sent + (request.e2e ? request.e2e->value : last)};
    OtlpAttributes& attributes = span.attributes;
    if (profile_.model && profile_.model->name) {
      attributes.add("gen_ai.request.model", without_folders(*profile_.model->name));
    }
    attributes.add("gen_ai.usage.input_tokens", request.prompt_tokens);
    attributes.add("gen_ai.usage.output_tokens", request.output_tokens);
    attributes.add("llmprof.request", uint64_t{row});
    attributes.add("llmprof.request.id", request.id);
    attributes.add("llmprof.status", to_string(request.status));
    attributes.add("llmprof.warm_up", request.warm_up);
    const auto add_ns = [&](std::string_view key, const auto& time) {
      if (time) attributes.add(key, int64_t{time->value});
    };
    add_ns("llmprof.ttft_ns", request.ttft);
    add_ns("llmprof.client_delay_ns", request.client_delay);
    add_ns("llmprof.longest_gap_ns", request.longest_gap);
    if (request.tpot) attributes.add("llmprof.tpot_ms", request.tpot->value);
    attributes.add("llmprof.cached_tokens", request.cached_tokens);
    attributes.add("llmprof.joined_tokens", request.joined_tokens);
    attributes.add("llmprof.preemptions", request.preemptions);
    add_times("llmprof.parts", request.parts, attributes);
    add_times("llmprof.ttft_parts", request.ttft_parts, attributes);
    if (request.ttft) span.events.push_back(otlp_event("first_token", sent + request.ttft->value));
    if (const auto step = first_step_.find(row); step != first_step_.end()) {
      OtlpAttributes which;
      which.add("llmprof.step", step->second).add("llmprof.chunk", uint64_t{0});
      span.links.push_back(otlp_link(ids_.trace(kTimelineTrace), ids_.span(step_key(step->second)),
                                     std::move(which)));
    }
    span.failed = request.status == profile::RequestStatus::failed ||
                  request.status == profile::RequestStatus::cut;
    return span;
  }

  [[nodiscard]] OtlpSpan instance_span(const profile::Stage& stage, size_t row) const {
    const profile::Instance& instance = stage.instances[row];
    const Nanoseconds start = of_steps_.time(instance.start_ns.value);
    OtlpSpan span{.trace_id = ids_.trace(kTimelineTrace),
                  .span_id = ids_.span(instance_key(stage.name, row)),
                  .parent = {},
                  .name = stage.name,
                  .start = start,
                  .end = start + to_nanoseconds(instance.wall)};
    OtlpAttributes& attributes = span.attributes;
    attributes.add("llmprof.stage", stage.name);
    attributes.add("llmprof.instance", uint64_t{row});
    attributes.add("llmprof.device", instance.device);
    attributes.add("llmprof.warm_up", instance.warmup);
    attributes.add("llmprof.kernels", instance.kernel_count);
    attributes.add("llmprof.steps", instance.steps);
    attributes.add("llmprof.gpu_busy_ms", instance.gpu_busy.value);
    if (instance.budget) add_times("llmprof.parts", *instance.budget, attributes);
    attributes.add("llmprof.clocks_lowered", instance.clocks_lowered);
    return span;
  }

  [[nodiscard]] OtlpSpan step_span(size_t row) const {
    const profile::Step& step = profile_.steps[row];
    const Nanoseconds start = of_steps_.time(to_nanoseconds(step.start));
    OtlpSpan span{.trace_id = ids_.trace(kTimelineTrace),
                  .span_id = ids_.span(step_key(row)),
                  .parent = ids_.span(instance_key(step.stage, step.instance)),
                  .name = fmt::format("{} step", to_string(step.kind)),
                  .start = start,
                  .end = start + to_nanoseconds(step.wall)};
    OtlpAttributes& attributes = span.attributes;
    attributes.add("llmprof.step", uint64_t{row});
    attributes.add("llmprof.stage", step.stage);
    attributes.add("llmprof.instance", step.instance);
    attributes.add("llmprof.step_of_instance", step.step_of_instance);
    attributes.add("llmprof.kind", to_string(step.kind));
    attributes.add("llmprof.batch", step.batch);
    attributes.add("llmprof.tokens", step.tokens);
    attributes.add("llmprof.prefill_tokens", step.prefill_tokens);
    attributes.add("llmprof.decode_tokens", step.decode_tokens);
    attributes.add("llmprof.context_tokens", step.context_tokens);
    attributes.add("llmprof.kernels", step.kernel_count);
    attributes.add("llmprof.gpu_busy_ms", step.gpu_busy.value);
    if (step.dram_bytes) attributes.add("llmprof.dram_bytes", step.dram_bytes->value);
    add_times("llmprof.classes", step.classes, attributes);
    attributes.add("llmprof.clocks_lowered", step.clocks_lowered);
    if (const auto tokens = tokens_of_step_.find(row); tokens != tokens_of_step_.end()) {
      for (const auto& [request, chunk] : tokens->second) {
        OtlpAttributes which;
        which.add("llmprof.request", uint64_t{request}).add("llmprof.chunk", uint64_t{chunk});
        span.links.push_back(otlp_link(ids_.trace(request_key(request)),
                                       ids_.span(request_key(request)), std::move(which)));
      }
    }
    return span;
  }

  const profile::Profile& profile_;
  std::string_view run_;
  std::string_view version_;
  SpanIds ids_;
  UnixClock of_steps_;
  UnixClock of_requests_;
  std::map<uint64_t, std::vector<std::pair<size_t, size_t>>> tokens_of_step_;  // request, chunk
  std::map<size_t, uint64_t> first_step_;                                      // by request
};

std::vector<std::string> lacks_of(const profile::Profile& profile) {
  std::vector<std::string> lacks;
  if (!profile.requests) {
    lacks.emplace_back("spans of requests: no file of requests was read (docs/requests.md)");
    return lacks;
  }
  const auto& items = profile.requests->items;
  const auto without = std::ranges::count_if(items, [](const Request& item) { return !item.sent; });
  if (without > 0) {
    lacks.push_back(fmt::format("spans of {}: their file does not say when they were sent",
                                counted(static_cast<uint64_t>(without), "request")));
  }
  if (profile.requests->join.state != profile::JoinState::joined) {
    lacks.emplace_back("links: requests are not joined to steps (docs/requests.md)");
  }
  return lacks;
}

}  // namespace

Result<ExportedText> otlp_spans(const profile::Profile& profile, std::string_view run,
                                std::string_view tool_version) {
  std::string lines = Spans(profile, run, tool_version).write();
  if (lines.empty()) {
    return fail_input(
        "no spans to export: this run has neither requests with their times nor stages; "
        "report.md says why there are no stages");
  }
  return ExportedText{std::move(lines), lacks_of(profile)};
}

}  // namespace llmprof::exports
