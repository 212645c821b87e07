#include "page/page.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/quantiles.h"
#include "report/diff/diff_report.h"
#include "report/documents/documents.h"
#include "report/format/memory_words.h"
#include "report/format/request_words.h"
#include "report/format/words.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/sections.h"

namespace llmprof::page {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json color_json(const report::Color& color) {
  return {{"light", color.light}, {"dark", color.dark}};
}

Json class_list() {
  Json list = Json::array();
  for (const auto& word : profile::kWords<profile::KernelClass>) {
    const report::PartLook look = report::look_of(word.value);
    list.push_back({{"id", word.name},
                    {"label", look.shown},
                    {"plain", look.plain},
                    {"color", color_json(look.color)}});
  }
  return list;
}

Json part_json(const report::PartLook& look, std::optional<profile::KernelClass> kernel_class) {
  return {{"label", look.shown},
          {"short", look.brief},
          {"plain", look.plain},
          {"class", kernel_class ? Json(to_string(*kernel_class)) : Json(nullptr)},
          {"color", color_json(look.color)},
          {"why", look.why.empty() ? Json(nullptr) : Json(look.why)}};
}

// Keyed by their names in profile.json: all parts and classes, and the parts of another version
// among those that are used.
Json part_list(const std::vector<profile::TimePart>& used) {
  Json parts = Json::object();
  for (const auto& word : profile::kWords<profile::KernelClass>) {
    parts[std::string(word.name)] = part_json(report::look_of(word.value), word.value);
  }
  const auto add = [&](profile::TimePart part) {
    parts[std::string(to_string(part))] =
        part_json(report::look_of(part), report::class_of_part(part));
  };
  for (const auto& word : profile::kWords<profile::TimePart>) add(word.value);
  for (const profile::TimePart part : used) add(part);
  return parts;
}

// Of a share: the page shows four, in percent two.
constexpr double kDigits = 1e6;

Json sentence_list(const std::vector<report::Sentence>& sentences) {
  Json list = Json::array();
  for (const report::Sentence& each : sentences) {
    list.push_back({{"kind", profile::to_string(each.kind)}, {"text", each.text}});
  }
  return list;
}

// The value with the strongest color: the few largest must not make all others pale.
double strongest(std::vector<double> sizes, double least) {
  constexpr double kQuantile = 0.99;
  if (sizes.empty()) return least;
  const auto rank = static_cast<size_t>(static_cast<double>(sizes.size()) * kQuantile);
  return std::max(least, value_of_rank(std::span(sizes), std::min(rank, sizes.size() - 1)));
}

// Each cell's own time above the median rank's, which profile.json omits for its size, and the
// scales of the colors.
Json heat_json(const profile::Heat& heat) {
  constexpr double kNoStep = -1;
  constexpr double kLeastShare = 0.02;  // less is noise and must not look significant
  constexpr double kLeastTime = 1e-9;
  Json above = Json::array();
  std::vector<double> shares;
  std::vector<double> own;
  std::vector<double> waits;
  for (const profile::HeatRow& row : heat.rows) {
    Json cells = Json::array();
    for (size_t bin = 0; bin < row.wall_ms.size(); ++bin) {
      const double median = bin < heat.median_ms.size() ? heat.median_ms[bin] : kNoStep;
      if (row.wall_ms[bin] == kNoStep || median <= 0) {
        cells.push_back(nullptr);
        continue;
      }
      const double share = std::round((row.wall_ms[bin] / median - 1) * kDigits) / kDigits;
      cells.push_back(share);
      shares.push_back(std::abs(share));
    }
    above.push_back(std::move(cells));
    std::ranges::remove_copy(row.wall_ms, std::back_inserter(own), kNoStep);
    std::ranges::remove_copy(row.wait_ms, std::back_inserter(waits), kNoStep);
  }
  return {{"text", report::heat_sentence(heat)},
          {"share_above_median", std::move(above)},
          {"scales",
           {{"against", strongest(std::move(shares), kLeastShare)},
            {"own", strongest(std::move(own), kLeastTime)},
            {"wait", strongest(std::move(waits), kLeastTime)}}}};
}

// The display name of a word in profile.json.
template <profile::Vocabulary Word>
void add_name(Word word, Json& names) {
  names[std::string(profile::to_string(word))] = report::in_words(word);
}

// Words for what profile.json stores about a job as kinds and values.
Json job_words(const profile::Profile& profile) {
  if (!profile.job) return nullptr;
  const profile::Job& job = *profile.job;
  Json names = Json::object();
  Json stragglers = Json::array();
  for (const profile::Straggler& each : job.stragglers) {
    add_name(each.cause, names);
    stragglers.push_back(report::reason_words(each.why).value_or(""));
  }
  Json groups = Json::array();
  for (const profile::RankGroup& each : job.groups) {
    groups.push_back(report::reason_words(each.why).value_or(""));
  }
  for (const profile::JobCollective& each : job.collectives) {
    add_name(each.kind, names);
    if (each.link) add_name(*each.link, names);
  }
  for (const profile::Rank& rank : profile.ranks) {
    if (rank.clock) add_name(rank.clock->method, names);
  }
  return {{"sentences", sentence_list(report::job_summary(profile))},
          {"heat", heat_json(job.heat)},
          {"stragglers", std::move(stragglers)},
          {"groups", std::move(groups)},
          {"names", std::move(names)}};
}

// Words and colors for requests of a client.
Json request_words(const profile::Profile& profile) {
  if (!profile.requests) return nullptr;
  Json parts = Json::object();
  for (const auto& word : profile::kWords<profile::RequestPart>) {
    const report::RequestPartLook look = report::look_of(word.value);
    parts[std::string(word.name)] = {{"label", look.shown},
                                     {"plain", look.plain},
                                     {"class", nullptr},
                                     {"color", color_json(look.color)},
                                     {"why", look.why}};
  }
  Json figures = Json::object();
  for (const auto& word : profile::kWords<profile::RequestFigure>) {
    figures[std::string(word.name)] = {{"label", report::in_words(word.value)},
                                       {"definition", report::definition_of(word.value)},
                                       {"one", report::value_word(word.value)}};
  }
  Json names = Json::object();
  for (const auto& word : profile::kWords<profile::RequestStatus>) add_name(word.value, names);
  Json sentences = Json::array();
  for (const std::string& each :
       {report::requests_sentence(profile), report::load_sentence(profile),
        report::slow_requests_sentence(profile)}) {
    if (!each.empty()) sentences.push_back(each);
  }
  return {{"parts", std::move(parts)},
          {"figures", std::move(figures)},
          {"names", std::move(names)},
          {"sentences", std::move(sentences)}};
}

// Bytes at the peak of each GPU of a memory snapshot that none of the listed stacks holds.
Json other_stacks(const profile::Memory& memory) {
  Json list = Json::array();
  for (const profile::MemoryDevice& device : memory.devices) {
    if (!device.peak) {
      list.push_back(nullptr);
      continue;
    }
    double rest = device.peak->active.value_or(device.peak->allocated).value;
    for (const profile::MemoryStack& stack : memory.stacks) {
      const bool here = stack.snapshot == device.snapshot && stack.device == device.device;
      if (here && stack.at_peak) rest -= stack.at_peak->value;
    }
    list.push_back(std::max(rest, 0.0));
  }
  return list;
}

// What reports call each value of a vocabulary.
template <class Enum>
Json shown_words() {
  Json words = Json::object();
  for (const auto& word : profile::kWords<Enum>) {
    words[std::string(word.name)] = report::in_words(word.value);
  }
  return words;
}

// Words and colors for GPU memory.
Json memory_words(const profile::Profile& profile) {
  if (!profile.memory_ledger && !profile.memory) return nullptr;
  Json parts = Json::object();
  for (const auto& word : profile::kWords<profile::LedgerPart>) {
    const report::LedgerPartLook look = report::look_of(word.value);
    parts[std::string(word.name)] = {{"label", look.shown},
                                     {"class", nullptr},
                                     {"color", color_json(look.color)},
                                     {"why", look.why}};
  }
  Json moments = Json::array();
  if (profile.memory_ledger) {
    for (const profile::LedgerMoment& moment : profile.memory_ledger->moments) {
      moments.push_back(report::moment_words(moment.kind, moment.stage));
    }
  }
  Json failures = Json::array();
  if (profile.memory) {
    for (const profile::OutOfMemory& each : profile.memory->out_of_memory) {
      failures.push_back({{"cause", report::cause_words(each.cause)},
                          {"sentence", report::failure_sentence(each)}});
    }
  }
  return {{"parts", std::move(parts)},
          {"bases", shown_words<profile::LedgerBasis>()},
          {"contents", shown_words<profile::MemoryContent>()},
          {"content_bases", shown_words<profile::ContentBasis>()},
          {"stated_parts", shown_words<profile::StatedPart>()},
          {"moments", std::move(moments)},
          {"sentence", report::memory_sentence(profile)},
          {"failures", std::move(failures)},
          {"other_stacks_bytes", profile.memory ? other_stacks(*profile.memory) : Json::array()}};
}

Json headline_list(const profile::Profile& profile) {
  Json list = Json::array();
  for (const report::Headline& each : report::headlines(profile)) {
    Json beside = nullptr;
    if (const auto& own = each.beside) {
      beside = {{"words", own->words}, {"text", own->text}, {"exact", or_null(own->exact)}};
    }
    list.push_back({{"name", each.name},
                    {"text", each.text},
                    {"exact", or_null(each.exact)},
                    {"unit", each.unit},
                    {"of", each.of},
                    {"beside", std::move(beside)}});
  }
  return list;
}

// Display names for names in profile.json.
Json shown_names(const profile::Profile& profile) {
  Json names = Json::object();
  for (const profile::PotentialSavings& stage : profile.savings) {
    for (const profile::KernelSaving& kernel : stage.kernels) add_name(kernel.floor_basis, names);
  }
  for (const profile::RooflineKernel& kernel : profile.roofline.kernels) {
    if (kernel.why_no_flops) add_name(*kernel.why_no_flops, names);
  }
  for (const profile::Product& product : profile.products) add_name(product.role, names);
  for (const auto& kernel : profile.products_found.without_shape) add_name(kernel.why, names);
  for (const profile::Capture& capture : profile.context.captures) add_name(capture.format, names);
  return names;
}

// How many of the causes, which are sorted, the page lists, and the sum of the others.
Json other_causes(const std::vector<compare::Cause>& causes) {
  constexpr size_t kListed = 8;
  constexpr double kLeastPoints = 0.00005;  // of the base's wall time; less is rounding
  Json listed = Json::array();
  uint64_t others = 0;
  Nanoseconds rest = 0;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (std::abs(causes[i].points.value_or(profile::Share{}).value) < kLeastPoints) continue;
    if (listed.size() < kListed) {
      listed.push_back(i);
      continue;
    }
    ++others;
    rest += causes[i].difference.value;
  }
  return {{"listed", std::move(listed)}, {"count", others}, {"difference_ns", rest}};
}

// GPU self time of each operator over the GPU time that operators launched.
Json operator_shares(const profile::Profile& profile) {
  Json shares = Json::array();
  const double all = profile.operators_found.cuda_self_sum.value;
  for (const profile::Operator& row : profile.operators) {
    shares.push_back(all > 0 ? Json(row.cuda_self.value / all) : Json(nullptr));
  }
  return shares;
}

// Busy time of each step over its wall time.
Json step_busy_shares(const profile::Profile& profile) {
  Json shares = Json::array();
  for (const profile::Step& step : profile.steps) {
    const double share = step.gpu_busy.value / step.wall.value;
    shares.push_back(step.wall.value > 0 ? Json(std::round(share * kDigits) / kDigits)
                                         : Json(nullptr));
  }
  return shares;
}

std::string text_of(const Json& view) {
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Words for memory, in the order of diff.json's lists.
Json memory_words(const compare::Diff& diff) {
  if (!diff.memory) return nullptr;
  Json parts = Json::object();
  for (const auto& word : profile::kWords<profile::LedgerPart>) add_name(word.value, parts);
  Json pytorch = Json::object();
  for (const auto& word : profile::kWords<compare::PytorchMemory>) {
    pytorch[std::string(word.name)] = report::pytorch_words(word.value);
  }
  Json moments = Json::array();
  for (const compare::MemoryMomentChange& moment : diff.memory->moments) {
    moments.push_back(report::moment_words(moment.kind, moment.stage));
  }
  return {{"parts", std::move(parts)},
          {"pytorch", std::move(pytorch)},
          {"moments", std::move(moments)},
          {"missing", report::missing_memory(diff)}};
}

}  // namespace

std::string view_json(const Content& content) {
  const profile::Profile& profile = content.profile;
  std::vector<profile::TimePart> parts;
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.budget) continue;
    for (const profile::BudgetPart& part : *stage.budget) parts.push_back(part.part);
  }
  return text_of({{"classes", class_list()},
                  {"parts", part_list(parts)},
                  {"made_by", profile.tool.name + " " + profile.tool.version},
                  {"title", report::page_title(profile)},
                  {"headlines", headline_list(profile)},
                  {"summary", sentence_list(report::executive_summary(profile))},
                  {"names", shown_names(profile)},
                  {"engine", report::engine_words(profile)},
                  {"failed_captures", report::failure_sentences(profile)},
                  {"operator_shares", operator_shares(profile)},
                  {"step_busy_shares", step_busy_shares(profile)},
                  {"timeline_missing", or_null(content.timeline_missing)},
                  {"requests", request_words(profile)},
                  {"memory", memory_words(profile)},
                  {"job", job_words(profile)}});
}

std::string view_json(const compare::Diff& diff) {
  Json comparisons = Json::array();
  for (const compare::Comparison& each : diff.comparisons) {
    comparisons.push_back({{"quantity", report::quantity_words(each, report::is_of_cpu(diff))},
                           {"answer", report::answer_words(each, diff.threshold)},
                           {"shown", report::is_shown(diff, each)}});
  }
  Json stages = Json::array();
  std::vector<profile::TimePart> parts;
  for (const compare::StageDiff& stage : diff.stages) {
    for (const compare::PartChange& part : stage.budget) {
      const auto known = profile::read_word<profile::TimePart>(part.part);
      parts.push_back(known.value_or(profile::TimePart{}));
    }
    Json causes = Json::array();
    for (const compare::Cause& cause : stage.causes) causes.push_back(report::cause_words(cause));
    Json launches = Json::array();
    for (const compare::KernelChange& row : stage.kernels) {
      launches.push_back(
          {{"base", calls_of(row.base_kernels)}, {"new", calls_of(row.now_kernels)}});
    }
    const compare::Comparison* headline = report::headline(diff, stage.stage);
    stages.push_back({{"headline", headline == nullptr ? Json(nullptr)
                                                       : Json(headline - diff.comparisons.data())},
                      {"causes", std::move(causes)},
                      {"other_causes", other_causes(stage.causes)},
                      {"launches", std::move(launches)}});
  }
  Json matched_by = Json::object();
  for (const auto& word : profile::kWords<compare::MatchedBy>) {
    matched_by[std::string(word.name)] = word.meaning;
  }
  Json request_parts = Json::object();
  for (const auto& word : profile::kWords<profile::RequestPart>) {
    request_parts[std::string(word.name)] = report::part_words(word.value);
  }
  return text_of({{"classes", class_list()},
                  {"parts", part_list(parts)},
                  {"request_parts", std::move(request_parts)},
                  {"memory", memory_words(diff)},
                  {"made_by", diff.tool.name + " " + diff.tool.version},
                  {"title", report::diff_title(diff)},
                  {"verdict", report::verdict_words(diff)},
                  {"matched_by", std::move(matched_by)},
                  {"comparisons", std::move(comparisons)},
                  {"stages", std::move(stages)}});
}

}  // namespace llmprof::page
