#include "readers/requests/whole_json.h"

#include <fmt/format.h>

#include "base/streams/byte_stream.h"
#include "readers/shared/python_json.h"

namespace llmprof::readers {

Result<simdjson::dom::object> WholeJson::read(const std::filesystem::path& path,
                                              std::string_view what) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  auto text = read_all(**stream, kLargestRequestsFile);
  if (!text) return fail_with(text.error().within(path.string()));
  simdjson::dom::object root;
  const std::string_view json = without_byte_order_mark(*text);
  auto trouble = parser_.parse(json).get(root);
  if (trouble != simdjson::SUCCESS) {
    const std::string plain = as_plain_json(json, non_finite_);
    if (non_finite_ > 0) trouble = parser_.parse(plain).get(root);
  }
  if (trouble == simdjson::SUCCESS) return root;
  const std::string damage = (*stream)->damage();
  return fail_input(fmt::format(
      "{}: {} is cut off or damaged ({}); copy the file again, or run the load again",
      path.string(), what, damage.empty() ? simdjson::error_message(trouble) : damage.c_str()));
}

}  // namespace llmprof::readers
