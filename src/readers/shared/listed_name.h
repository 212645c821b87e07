#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace llmprof::readers {

// One of the names in a list "A|B|C", by its index. Columns and fields are written as their names;
// a name that is not in the list does not compile.
template <const std::string_view& List>
struct ListedName {
  static constexpr size_t kCount = std::count(List.begin(), List.end(), '|') + 1;

  consteval ListedName(const char* name)  // NOLINT(google-explicit-constructor)
      : index(find(name).value()) {}
  consteval explicit ListedName(std::string_view name) : index(find(name).value()) {}

  // The index of a name that is known only at run time.
  static constexpr std::optional<size_t> find(std::string_view name) {
    std::string_view rest = List;
    for (size_t place = 0; place < kCount; ++place) {
      const std::string_view listed = rest.substr(0, rest.find('|'));
      if (listed == name) return place;
      rest.remove_prefix(std::min(listed.size() + 1, rest.size()));
    }
    return std::nullopt;
  }

  friend bool operator==(ListedName, ListedName) = default;

  size_t index;
};

}  // namespace llmprof::readers
