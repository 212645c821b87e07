#include "page/view.h"

#include <nlohmann/json.hpp>

#include "report/documents/page_overview.h"
#include "report/format/class_colors.h"
#include "report/format/part_names.h"

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
}

// By their names in profile.json.
Json part_list(const profile::Profile& profile) {
  Json parts = Json::object();
  for (const report::NamedColor& each : report::class_colors()) add_part(parts, each.name);
  for (const report::NamedColor& each : report::part_colors()) add_part(parts, each.name);
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.budget) continue;
    for (const profile::BudgetPart& part : *stage.budget) add_part(parts, part.part);
  }
  return parts;
}

}  // namespace

std::string view_json(const Content& content) {
  const auto& missing = content.timeline_missing;
  const profile::Tool& tool = content.profile.tool;
  const Json view = {{"classes", class_list()},
                     {"parts", part_list(content.profile)},
                     {"made_by", tool.name + " " + tool.version},
                     {"title", report::page_title(content.profile)},
                     {"timeline_missing", missing ? Json(*missing) : Json(nullptr)}};
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace llmprof::page
