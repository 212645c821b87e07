#include "base/csv.h"

#include <algorithm>

namespace llmprof {

// Called after the opening quote; stops after the closing one.
std::string_view CsvRows::quoted_field() {
  const std::string_view text = rest_;
  std::string* copy = nullptr;
  size_t copied = 0;
  size_t end = text.find('"');
  for (; end < text.size() && text.substr(end + 1).starts_with('"'); end = text.find('"', copied)) {
    if (copy == nullptr) copy = &unescaped_.emplace_back();
    copy->append(text.substr(copied, end + 1 - copied));
    copied = end + 2;
  }
  end = std::min(end, text.size());
  rest_.remove_prefix(std::min(end + 1, text.size()));
  if (copy == nullptr) return text.substr(0, end);
  return copy->append(text.substr(copied, end - copied));
}

bool CsvRows::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unescaped_.clear();
  if (rest_.empty()) return false;
  while (true) {
    std::string_view field;
    if (!rest_.empty() && rest_.front() == '"') {
      rest_.remove_prefix(1);
      field = quoted_field();
    }
    // Plain text; text after a closing quote is the writer's error and is dropped.
    size_t length = 0;
    while (length < rest_.size() && rest_[length] != ',' && rest_[length] != '\n') ++length;
    if (field.data() == nullptr) {
      field = rest_.substr(0, length);
      const bool last_of_line = length == rest_.size() || rest_[length] == '\n';
      if (last_of_line && field.ends_with('\r')) field.remove_suffix(1);
    }
    fields.push_back(field);
    if (length == rest_.size()) {
      rest_ = {};
      return true;
    }
    const bool more = rest_[length] == ',';
    rest_.remove_prefix(length + 1);
    if (!more) return true;
  }
}

}  // namespace llmprof
