#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/model/diff.h"
#include "profile/profile.h"

namespace llmprof::page {

// The files that ui/ is built into.
struct Bundle {
  std::string_view script;
  std::string_view style;
  std::string_view script_sha256;  // of `script`, in hexadecimal
};

// The bundle embedded in this program; none if it could not be built.
std::optional<Bundle> embedded_bundle();
// Why the build has no bundle, and how to get one.
std::string why_no_bundle();

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
// The same shell and bundle for a comparison, with the text of diff.json in it.
std::string make_diff_page(const Bundle& bundle, const compare::Diff& diff, std::string_view json);

// Words and colors that this program chooses for the page, as JSON: the block "view". For a
// comparison in the order of diff.json's lists.
std::string view_json(const Content& content);
std::string view_json(const compare::Diff& diff);

}  // namespace llmprof::page
