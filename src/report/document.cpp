#include "report/document.h"

namespace llmprof::report {

std::vector<Column> columns(std::string_view titles) {
  constexpr std::string_view kBetween = " | ";
  std::vector<Column> made;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = titles.find(kBetween);
    const std::string_view title = titles.substr(0, end);
    made.push_back(title.starts_with('#')   ? number_column(title.substr(1))
                   : title.starts_with('`') ? code_column(title.substr(1))
                                            : text_column(title));
    titles.remove_prefix(end == std::string_view::npos ? 0 : end + kBetween.size());
  }
  return made;
}

}  // namespace llmprof::report
