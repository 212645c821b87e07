#pragma once

#include <string>

#include "compare/model/diff.h"
#include "page/page.h"

namespace llmprof::page {

// What this program words and colors for the page, as JSON: the block "view".
std::string view_json(const Content& content);

// Likewise for the page of a comparison, in the order of diff.json's lists.
std::string diff_view_json(const compare::Diff& diff);

}  // namespace llmprof::page
