#include "readers/requests/whole_json.h"

#include <fmt/format.h>

#include "readers/requests/object_array.h"
#include "readers/shared/python_json.h"

namespace llmprof::readers {

Result<simdjson::dom::object> WholeJson::read(const std::filesystem::path& path,
                                              std::string_view what) {
  const auto text = PaddedText::read(path);
  if (!text) return fail_with(text.error());
  simdjson::dom::object root;
  const std::string_view json = without_byte_order_mark(text->text());
  auto trouble = parser_.parse(json.data(), json.size(), false).get(root);
  if (trouble != simdjson::SUCCESS) {
    const std::string plain = as_plain_json(json, non_finite_);
    if (non_finite_ > 0) trouble = parser_.parse(plain).get(root);
  }
  if (trouble == simdjson::SUCCESS) return root;
  const std::string& damage = text->damage();
  return fail_input(fmt::format(
      "{}: {} is cut off or damaged ({}); copy the file again, or run the load again",
      path.string(), what, damage.empty() ? simdjson::error_message(trouble) : damage.c_str()));
}

}  // namespace llmprof::readers
