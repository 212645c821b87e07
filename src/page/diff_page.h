#pragma once

#include <string>
#include <string_view>

#include "compare/model/diff.h"
#include "page/bundle.h"

namespace llmprof::page {

struct DiffContent {
  const compare::Diff& diff;
  std::string_view json;  // the text of diff.json
};

// report.html of a comparison: the same shell and bundle as a run's, with diff.json in it.
std::string make_diff_page(const Bundle& bundle, const DiffContent& content);

}  // namespace llmprof::page
