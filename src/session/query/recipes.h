#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "query/recipes/recipe.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// All recipes of conf/recipes, by file and name. A user's recipe replaces a shipped one of its
// name.
Result<std::vector<query::Recipe>> load_recipes(const std::optional<fs::path>& config_folder);

// The recipe, with the values of "name=value" for its variables. Errors are of kind usage, and name
// the nearest recipe or variable.
Result<query::Recipe> find_recipe(std::span<const query::Recipe> recipes, std::string_view name,
                                  std::span<const std::string> settings);

// The values of its variables.
query::Parameters parameters_of(const query::Recipe& recipe);

}  // namespace llmprof::session
