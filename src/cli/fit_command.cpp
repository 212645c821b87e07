#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "fit/fit.h"
#include "profile/json/json.h"
#include "report/format/figures.h"
#include "report/writers/writers.h"

namespace llmprof::cli {
namespace {

// As of a failed gate: scripts can act on it.
constexpr int kDoesNotFit = 5;
constexpr double kMib = 1 << 20;

std::string mib(uint64_t bytes) {
  return report::text_of(report::plain(std::round(static_cast<double>(bytes) / kMib)));
}

std::string tokens(uint64_t count) { return report::text_of(report::grouped(count)); }

std::string verdict(const fit::Answer& answer) {
  const bool fits = answer.fits;
  const uint64_t difference =
      fits ? answer.gpu_bytes - answer.needed_bytes
           : answer.needed_bytes - std::min(answer.gpu_bytes, answer.needed_bytes);
  return fmt::format("{} {} {}: it needs {} MiB of {} MiB; {} MiB {}.", answer.model,
                     fits ? "fits on one" : "does not fit on one", answer.gpu,
                     mib(answer.needed_bytes), mib(answer.gpu_bytes), mib(difference),
                     fits ? "are left" : "are missing");
}

std::string setting(const fit::Answer& answer) {
  return fmt::format(
      "{} with {}, {} weights, {} cache; batch {}, context {}, prompts of {} tokens{}{}",
      answer.variant, profile::to_string(answer.engine), answer.weights, answer.kv_cache,
      tokens(answer.batch), tokens(answer.context), tokens(answer.prompt_tokens),
      answer.graphs ? ", decode in a CUDA graph" : "",
      answer.tp > 1 ? fmt::format("; one of {} GPUs", answer.tp) : "");
}

std::string largest(const fit::Answer& answer) {
  const auto number = [](const std::optional<uint64_t>& most) {
    return most ? tokens(*most) : "none";
  };
  return fmt::format(
      "Largest batch at a context of {}: {}. Largest context at a batch of {}: {}. Each token of "
      "a sequence takes {} bytes of cache.",
      tokens(answer.context), number(answer.largest_batch), tokens(answer.batch),
      number(answer.largest_context), tokens(answer.kv_bytes_per_token));
}

report::Table row_table(const fit::Answer& answer) {
  report::Table table = report::table_of("for | part | #MiB | share | known | `how@-1");
  for (const fit::MemoryRow& row : answer.rows) {
    const double share = static_cast<double>(row.bytes) /
                         static_cast<double>(std::max<uint64_t>(answer.needed_bytes, 1));
    table.add(profile::to_string(row.kind), row.name, mib(row.bytes),
              report::percent(profile::Share{share}), profile::to_string(row.basis), row.how);
  }
  table.add("sum", "", mib(answer.needed_bytes), "", "", "");
  return table;
}

// One row per format and context, one column per batch.
report::Table alternative_table(const fit::Answer& answer) {
  report::Table table = report::table_of("cache | #context");
  std::vector<uint64_t> batches;
  for (const fit::Alternative& other : answer.table) {
    if (std::ranges::find(batches, other.batch) == batches.end()) batches.push_back(other.batch);
  }
  for (const uint64_t batch : batches) {
    table.columns.push_back(
        {fmt::format("batch {} (MiB)", batch), report::Column::Kind::number, 0});
  }
  for (size_t i = 0; i < answer.table.size(); i += batches.size()) {
    report::Row row = report::cells(answer.table[i].kv_cache, tokens(answer.table[i].context));
    for (size_t at = i; at < std::min(i + batches.size(), answer.table.size()); ++at) {
      const fit::Alternative& other = answer.table[at];
      row.emplace_back(mib(other.needed_bytes) + (other.fits ? "" : " no"));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// One row per context, one column per format of the cache.
report::Table capacity_table(const fit::Answer& answer) {
  report::Table table = report::table_of("#context");
  std::vector<std::string> formats;
  for (const fit::Capacity& each : answer.capacities) {
    if (!formats.empty() && formats.back() == each.kv_cache) continue;
    formats.push_back(each.kv_cache);
    table.columns.push_back({each.kv_cache + " cache", report::Column::Kind::number, 0});
  }
  const size_t contexts = answer.capacities.size() / std::max<size_t>(formats.size(), 1);
  for (size_t row = 0; row < contexts; ++row) {
    report::Row cells = report::cells(tokens(answer.capacities[row].context));
    for (size_t at = row; at < answer.capacities.size(); at += contexts) {
      const auto& most = answer.capacities[at].largest_batch;
      cells.emplace_back(most ? tokens(*most) : "none");
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Document as_document(const fit::Answer& answer) {
  report::Document document;
  document.paragraph(verdict(answer));
  document.paragraph(setting(answer));
  document.add(row_table(answer));
  document.paragraph(largest(answer));
  document.add_filled(capacity_table(answer),
                      "Largest batch by context, which leaves 1 % of the memory:");
  document.add_filled(alternative_table(answer), "Other batches and contexts (no: does not fit):");
  for (const std::string& note : answer.notes) document.note(note);
  return document;
}

}  // namespace

int fit_command(const Arguments& arguments) {
  fit::Question question;
  question.model = arguments.text("MODEL").value_or("");
  if (auto gpu = arguments.text("--gpu")) question.gpu = std::move(*gpu);
  if (auto engine = arguments.text("--engine")) question.engine = std::move(*engine);
  const auto number = [&](std::string_view option) -> std::optional<uint64_t> {
    const auto value = arguments.number(option);
    return value ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
  };
  question.batch = number("--batch");
  question.context = number("--context");
  question.prompt_tokens = number("--prompt-tokens");
  question.weights = arguments.text("--weights");
  question.kv_cache = arguments.text("--kv");
  question.tp = static_cast<uint32_t>(number("--tp").value_or(1));
  question.graphs = !arguments.flag("--no-graphs");
  if (auto folder = arguments.text("--config-dir")) question.config_folder = std::move(*folder);
  const fit::Answer answer = needed(fit::answer(question));
  if (arguments.flag("--json")) {
    print_json(profile::json::described_to_json(answer));
  } else {
    print_rendered(report::to_terminal(as_document(answer), arguments.style()));
  }
  if (const int trouble = finish_output(); trouble != 0) return trouble;
  return answer.fits ? 0 : kDoesNotFit;
}

}  // namespace llmprof::cli
