#include "page/view.h"

#include <nlohmann/json.hpp>

#include "report/diff/diff_report.h"
#include "report/diff/diff_words.h"
#include "report/documents/documents.h"
#include "report/format/part_names.h"
#include "report/format/words.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/section_words.h"

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
  for (const auto& [value, name, meaning] : profile::kWords<profile::KernelClass>) {
    const report::PartLook look = report::look_of(value);
    list.push_back({{"id", name},
                    {"label", look.shown},
                    {"plain", look.plain},
                    {"color", color_json(look.color)}});
  }
  return list;
}

Json part_json(const report::PartLook& look, std::optional<profile::KernelClass> kernel_class) {
  return {{"label", look.shown},
          {"plain", look.plain},
          {"class", kernel_class ? Json(to_string(*kernel_class)) : Json(nullptr)},
          {"color", color_json(look.color)},
          {"why", look.why.empty() ? Json(nullptr) : Json(look.why)}};
}

void add_part(Json& parts, profile::TimePart part) {
  parts[std::string(to_string(part))] =
      part_json(report::look_of(part), report::class_of_part(part));
}

// Keyed by their names in profile.json.
Json known_parts() {
  Json parts = Json::object();
  for (const auto& [value, name, meaning] : profile::kWords<profile::KernelClass>) {
    parts[std::string(name)] = part_json(report::look_of(value), value);
  }
  for (const auto& [value, name, meaning] : profile::kWords<profile::TimePart>) {
    add_part(parts, value);
  }
  return parts;
}

Json part_list(const profile::Profile& profile) {
  Json parts = known_parts();
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.budget) continue;
    for (const profile::BudgetPart& part : *stage.budget) add_part(parts, part.part);
  }
  return parts;
}

Json part_list(const compare::Diff& diff) {
  Json parts = known_parts();
  for (const compare::StageDiff& stage : diff.stages) {
    for (const compare::PartChange& part : stage.budget) {
      add_part(parts,
               profile::read_word<profile::TimePart>(part.part).value_or(profile::TimePart{}));
    }
  }
  return parts;
}

// Words for what profile.json stores about a job as kinds and values.
Json job_words(const profile::Profile& profile) {
  if (!profile.job) return nullptr;
  const profile::Job& job = *profile.job;
  Json names = Json::object();
  const auto name = [&](const std::string& text) { names[text] = report::shown_text(text); };
  Json stragglers = Json::array();
  for (const profile::Straggler& each : job.stragglers) {
    names[std::string(to_string(each.cause))] = report::in_words(each.cause);
    stragglers.push_back(report::reason_words(each.why).value_or(""));
  }
  Json groups = Json::array();
  for (const profile::RankGroup& each : job.groups) {
    groups.push_back(report::reason_words(each.why).value_or(""));
  }
  for (const profile::JobCollective& each : job.collectives) {
    name(each.kind);
    if (each.link) name(*each.link);
  }
  return {{"sentences", report::job_sentences(profile)},
          {"stragglers", std::move(stragglers)},
          {"groups", std::move(groups)},
          {"names", std::move(names)}};
}

Json headline_list(const profile::Profile& profile) {
  Json list = Json::array();
  for (const report::Headline& each : report::headlines(profile)) {
    Json beside = nullptr;
    if (each.beside) {
      beside = {{"words", each.beside->words},
                {"text", each.beside->text},
                {"exact", or_null(each.beside->exact)}};
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
  for (const profile::StageRecoverable& stage : profile.recoverable) {
    for (const profile::RecoverableKernel& kernel : stage.kernels) {
      names[kernel.floor_basis] = report::shown_text(kernel.floor_basis);
    }
  }
  return names;
}

std::string text_of(const Json& view) {
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string view_json(const Content& content) {
  const auto& missing = content.timeline_missing;
  const profile::Tool& tool = content.profile.tool;
  const Json view = {{"classes", class_list()},
                     {"parts", part_list(content.profile)},
                     {"made_by", tool.name + " " + tool.version},
                     {"title", report::page_title(content.profile)},
                     {"headlines", headline_list(content.profile)},
                     {"names", shown_names(content.profile)},
                     {"timeline_missing", or_null(missing)},
                     {"job", job_words(content.profile)}};
  return text_of(view);
}

std::string diff_view_json(const compare::Diff& diff) {
  Json comparisons = Json::array();
  for (const compare::Comparison& each : diff.comparisons) {
    comparisons.push_back(
        {{"quantity", report::quantity_words(each, diff.device_kind == profile::DeviceKind::cpu)},
         {"answer", report::answer_words(each, diff.threshold)},
         {"shown", report::is_shown(diff, each)}});
  }
  Json stages = Json::array();
  for (const compare::StageDiff& stage : diff.stages) {
    Json causes = Json::array();
    for (const compare::Cause& cause : stage.causes) causes.push_back(report::cause_words(cause));
    const compare::Comparison* headline = report::headline(diff, stage.stage);
    stages.push_back({{"headline", headline == nullptr ? Json(nullptr)
                                                       : Json(headline - diff.comparisons.data())},
                      {"causes", std::move(causes)}});
  }
  const Json view = {{"classes", class_list()},
                     {"parts", part_list(diff)},
                     {"made_by", diff.tool.name + " " + diff.tool.version},
                     {"title", report::diff_title(diff)},
                     {"verdict", report::verdict_words(diff)},
                     {"comparisons", std::move(comparisons)},
                     {"stages", std::move(stages)}};
  return text_of(view);
}

}  // namespace llmprof::page
