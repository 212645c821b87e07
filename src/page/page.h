#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/model/diff.h"
#include "page/bundle.h"
#include "profile/profile.h"

namespace llmprof::page {

// Bytes that the page decodes on demand (docs/report-html.md): "timeline", "t.slices.start".
struct Block {
  std::string name;
  std::string bytes;
};

struct Content {
  const profile::Profile& profile;
  std::string_view json;        // the text of profile.json
  std::vector<Block> timeline;  // the header and its columns; empty without a timeline
  std::optional<std::string> timeline_missing;  // why there is no timeline, as a sentence
};

// report.html: one self-contained file that loads nothing.
std::string make_page(const Bundle& bundle, const Content& content);

struct DiffContent {
  const compare::Diff& diff;
  std::string_view json;  // the text of diff.json
};

// report.html of a comparison: the same shell and bundle as for a run, with diff.json in it.
std::string make_diff_page(const Bundle& bundle, const DiffContent& content);

}  // namespace llmprof::page
