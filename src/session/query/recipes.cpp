#include "session/query/recipes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/needed.h"
#include "base/text.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "config/settings.h"

namespace llmprof::session {
namespace {

using config::ConfigNode;
using query::Recipe;

// A whole number, a number or a text, as it is written.
query::Parameter parameter_of(const ConfigNode& node) {
  if (!node.quoted) {
    if (const auto whole = node.integer()) return *whole;
    if (const auto number = node.number()) return *number;
  }
  return node.text;
}

Recipe read_recipe(const config::ConfigDocument& document, const std::string& name,
                   const ConfigNode& node) {
  config::Settings settings(document, node, name);
  Recipe recipe;
  recipe.name = name;
  recipe.question = settings.text("question");
  recipe.meaning = settings.text("meaning");
  recipe.caveat = settings.text("caveat");
  recipe.tables = settings.texts("tables");
  recipe.sql = settings.text("sql");
  if (const ConfigNode* const variables = settings.node("variables")) {
    for (size_t i = 0; i < variables->keys.size(); ++i) {
      const ConfigNode& variable = variables->children[i];
      recipe.variables.push_back(
          {variables->keys[i], variable["meaning"].text, parameter_of(variable["value"])});
    }
  }
  settings.refuse_unknown_keys();
  if (recipe.question.empty() || recipe.sql.empty() || recipe.tables.empty()) {
    document.refuse(node, fmt::format("recipe {} needs question, tables and sql", name));
  }
  return recipe;
}

// Of the type of the variable's own value.
query::Parameter read_value(const Recipe::Variable& variable, std::string_view text) {
  const auto wrong = [&](std::string_view type) {
    give_up(ErrorKind::usage,
            fmt::format("{} must be {}, not '{}'", variable.name, type, to_printable(text)));
  };
  if (std::holds_alternative<int64_t>(variable.value)) {
    const auto whole = parse_int(text);
    if (!whole) wrong("a whole number");
    return *whole;
  }
  if (std::holds_alternative<double>(variable.value)) {
    const auto number = parse_decimal(text);
    if (!number) wrong("a number");
    return *number;
  }
  return std::string(text);
}

template <class Items>
std::vector<std::string_view> names_of(const Items& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

}  // namespace

Result<std::vector<Recipe>> load_recipes(const std::optional<fs::path>& config_folder) {
  return attempt([&] {
    const auto conf = needed(config::ConfFiles::open(config_folder));
    std::vector<Recipe> recipes;
    for (const std::string& file : conf.names_in("recipes")) {
      for (const config::ConfText& text : needed(conf.layers("recipes/" + file + ".yaml"))) {
        const auto document = needed(config::parse_yaml(text.text, text.name));
        for (size_t i = 0; i < document.root.keys.size(); ++i) {
          Recipe recipe = read_recipe(document, document.root.keys[i], document.root.children[i]);
          // The user's text comes first.
          if (std::ranges::find(recipes, recipe.name, &Recipe::name) == recipes.end()) {
            recipes.push_back(std::move(recipe));
          }
        }
      }
    }
    return recipes;
  });
}

Result<Recipe> find_recipe(std::span<const Recipe> recipes, std::string_view name,
                           std::span<const std::string> settings) {
  return attempt([&] {
    const auto found = std::ranges::find(recipes, name, &Recipe::name);
    if (found == recipes.end()) {
      give_up(ErrorKind::usage, config::unknown_word("recipe", name, names_of(recipes)));
    }
    Recipe recipe = *found;
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      const std::string_view wanted = std::string_view(setting).substr(0, equals);
      const auto variable = std::ranges::find(recipe.variables, wanted, &Recipe::Variable::name);
      if (equals == std::string::npos || variable == recipe.variables.end()) {
        give_up(ErrorKind::usage,
                equals == std::string::npos
                    ? fmt::format("'{}' is not name=value", to_printable(setting))
                    : config::unknown_word("variable", wanted, names_of(recipe.variables)));
      }
      variable->value = read_value(*variable, std::string_view(setting).substr(equals + 1));
    }
    return recipe;
  });
}

query::Parameters parameters_of(const Recipe& recipe) {
  query::Parameters parameters;
  for (const Recipe::Variable& variable : recipe.variables) {
    parameters.emplace(variable.name, variable.value);
  }
  return parameters;
}

}  // namespace llmprof::session
