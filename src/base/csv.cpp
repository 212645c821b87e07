#include "base/csv.h"

#include <cstring>

namespace llmprof {

// Called after the opening quote; leaves the rest after the closing one.
std::string_view CsvRows::quoted_field() {
  const char* const begin = rest_.data();
  const char* const end = begin + rest_.size();
  const char* at = begin;
  std::string* copy = nullptr;
  const char* copied = begin;
  while (true) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at, '"', static_cast<size_t>(end - at)));
    if (quote == nullptr) {
      rest_ = {};
      at = end;
      break;
    }
    if (quote + 1 < end && quote[1] == '"') {
      if (copy == nullptr) copy = &unescaped_.emplace_back();
      copy->append(copied, quote + 1);
      copied = quote + 2;
      at = quote + 2;
      continue;
    }
    rest_.remove_prefix(static_cast<size_t>(quote + 1 - begin));
    at = quote;
    break;
  }
  if (copy == nullptr) return {begin, static_cast<size_t>(at - begin)};
  copy->append(copied, at);
  return *copy;
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
    // Plain text; after a closing quote it is an error of the writer, and dropped.
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
