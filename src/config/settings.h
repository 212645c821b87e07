#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_tree.h"

namespace llmprof::config {

// Typed access to one map of a composed tree. Invalid values throw (base/needed.h): "f.yaml:3:
// run.mode must be ...".
class Settings {
 public:
  // Both arguments must outlive this object. `path` is the map's key, for messages: "ncu"; empty:
  // the root.
  Settings(const ConfigDocument& document, const ConfigNode& node, std::string path = {})
      : document_(document), node_(node), path_(std::move(path)) {}

  // Absent and null mean the same everywhere: the result is `otherwise`.
  std::string text(std::string_view key, std::string_view otherwise = {});
  bool boolean(std::string_view key, bool otherwise);
  uint64_t whole(std::string_view key, uint64_t otherwise, uint64_t least = 0,
                 uint64_t most = INT64_MAX);
  std::optional<uint64_t> optional_whole(std::string_view key, uint64_t least = 0,
                                         uint64_t most = INT64_MAX);
  std::optional<double> optional_number(std::string_view key, double least, double most);
  std::optional<std::string> optional_text(std::string_view key);
  // A scalar is a list of one. Nested lists are flattened, and nulls are skipped.
  std::vector<std::string> texts(std::string_view key);
  // `valid` contains words separated by blanks.
  std::string one_of(std::string_view key, std::string_view valid, std::string_view otherwise);
  std::vector<std::string> each_one_of(std::string_view key, std::string_view valid);

  // The map at `key`; empty if that is absent.
  Settings within(std::string_view key);
  // Lets `read` read that map. Keys that it does not read are refused, naming the nearest one that
  // it does.
  template <class Read>
  void section(std::string_view key, Read&& read) {
    Settings inner = within(key);
    std::forward<Read>(read)(inner);
    inner.refuse_unknown_keys();
  }
  // The node itself; null pointer if it is absent or null.
  const ConfigNode* node(std::string_view key);
  // Accepts keys that are not read.
  void allow(std::initializer_list<std::string_view> keys);
  [[noreturn]] void wrong(std::string_view key, std::string_view what) const;
  // Call last, on the root.
  void refuse_unknown_keys() const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;
  std::optional<std::string> scalar(std::string_view key, std::string_view expected);
  void check_word(std::string_view key, std::string_view value, std::string_view valid) const;
  void flatten(std::string_view key, const ConfigNode& node, std::vector<std::string>& into) const;

  const ConfigDocument& document_;
  const ConfigNode& node_;
  std::string path_;
  std::vector<std::string> asked_;
};

}  // namespace llmprof::config
