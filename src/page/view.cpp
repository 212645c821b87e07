#include "page/view.h"

#include <nlohmann/json.hpp>

#include "report/diff/comparison_words.h"
#include "report/diff/diff_report.h"
#include "report/diff/why_words.h"
#include "report/documents/headlines.h"
#include "report/documents/page_overview.h"
#include "report/format/class_colors.h"
#include "report/format/part_names.h"
#include "report/format/words.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/job_sections.h"

namespace llmprof::page {
namespace {

using Json = nlohmann::ordered_json;

Json color_json(const report::Color& color) {
  return {{"light", color.light}, {"dark", color.dark}};
}

Json class_list() {
  Json list = Json::array();
  for (const report::NamedColor& each : report::class_colors()) {
    list.push_back({{"id", each.name},
                    {"label", report::shown_name(each.name)},
                    {"plain", report::plain_part_name(each.name)},
                    {"color", color_json(each.color)}});
  }
  return list;
}

void add_part(Json& parts, std::string_view part) {
  const auto kernel_class = report::class_of_part(part);
  parts[std::string(part)] = {{"label", report::shown_name(part)},
                              {"plain", report::plain_part_name(part)},
                              {"class", kernel_class ? Json(*kernel_class) : Json(nullptr)},
                              {"color", color_json(report::color_of(part))}};
  const std::string_view why = report::idle_meaning(part);
  parts[std::string(part)]["why"] = why.empty() ? Json(nullptr) : Json(why);
}

// By their names in profile.json.
Json known_parts() {
  Json parts = Json::object();
  for (const report::NamedColor& each : report::class_colors()) add_part(parts, each.name);
  for (const report::NamedColor& each : report::part_colors()) add_part(parts, each.name);
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
    for (const compare::PartChange& part : stage.budget) add_part(parts, part.part);
  }
  return parts;
}

// What profile.json holds of a job as kinds and values.
Json job_words(const profile::Profile& profile) {
  if (!profile.job) return nullptr;
  const profile::Job& job = *profile.job;
  Json names = Json::object();
  const auto name = [&](const std::string& text) { names[text] = report::shown_name(text); };
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
                {"exact", each.beside->exact ? Json(*each.beside->exact) : Json(nullptr)}};
    }
    list.push_back({{"name", each.name},
                    {"text", each.text},
                    {"exact", each.exact ? Json(*each.exact) : Json(nullptr)},
                    {"unit", each.unit},
                    {"of", each.of},
                    {"beside", std::move(beside)}});
  }
  return list;
}

// Names of profile.json that readers know by another one.
Json shown_names(const profile::Profile& profile) {
  Json names = Json::object();
  for (const profile::StageRecoverable& stage : profile.recoverable) {
    for (const profile::RecoverableKernel& kernel : stage.kernels) {
      names[kernel.floor_basis] = report::shown_name(kernel.floor_basis);
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
                     {"timeline_missing", missing ? Json(*missing) : Json(nullptr)},
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
