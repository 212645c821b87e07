#pragma once

#include <string>

#include "page/page.h"

namespace llmprof::page {

// What this program words and colors for the page, as JSON: the block "view".
std::string view_json(const Content& content);

}  // namespace llmprof::page
