#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/bundle.h"

namespace llmprof::page {

// A block of data that the page decodes when it needs it.
struct NamedBytes {
  std::string_view name;
  std::string_view bytes;
};

// One file that needs no other, and reaches none: the overview as HTML, the data, the bundle.
std::string make_shell(const Bundle& bundle, std::string_view title, std::string_view overview,
                       const std::vector<NamedBytes>& blocks);

}  // namespace llmprof::page
