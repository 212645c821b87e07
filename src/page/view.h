#pragma once

#include <string>

#include "compare/model/diff.h"
#include "page/page.h"

namespace llmprof::page {

// Words and colors that this program chooses for the page, as JSON: the block "view".
std::string view_json(const Content& content);

// The same for the page of a comparison, in the order of diff.json's lists.
std::string diff_view_json(const compare::Diff& diff);

}  // namespace llmprof::page
