#include "page/page.h"

#include <nlohmann/json.hpp>

#include "report/diff/diff_report.h"
#include "report/documents/documents.h"
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

Json sentence_list(const std::vector<report::Sentence>& sentences) {
  Json list = Json::array();
  for (const report::Sentence& each : sentences) {
    list.push_back({{"kind", to_string(each.kind)}, {"text", each.text}});
  }
  return list;
}

// Words for what profile.json stores about a job as kinds and values.
Json job_words(const profile::Profile& profile) {
  if (!profile.job) return nullptr;
  const profile::Job& job = *profile.job;
  Json names = Json::object();
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
    names[each.kind] = report::shown_text(each.kind);
    if (!each.link) continue;
    const std::string link(to_string(*each.link));
    names[link] = report::shown_text(link);
  }
  return {{"sentences", sentence_list(report::job_summary(profile))},
          {"stragglers", std::move(stragglers)},
          {"groups", std::move(groups)},
          {"names", std::move(names)}};
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
    for (const profile::KernelSaving& kernel : stage.kernels) {
      const std::string basis(to_string(kernel.floor_basis));
      names[basis] = report::shown_text(basis);
    }
  }
  return names;
}

std::string text_of(const Json& view) {
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
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
                  {"timeline_missing", or_null(content.timeline_missing)},
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
    const compare::Comparison* headline = report::headline(diff, stage.stage);
    stages.push_back({{"headline", headline == nullptr ? Json(nullptr)
                                                       : Json(headline - diff.comparisons.data())},
                      {"causes", std::move(causes)}});
  }
  return text_of({{"classes", class_list()},
                  {"parts", part_list(parts)},
                  {"made_by", diff.tool.name + " " + diff.tool.version},
                  {"title", report::diff_title(diff)},
                  {"verdict", report::verdict_words(diff)},
                  {"comparisons", std::move(comparisons)},
                  {"stages", std::move(stages)}});
}

}  // namespace llmprof::page
