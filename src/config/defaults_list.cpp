#include "config/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/needed.h"
#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr std::string_view kDefaults = "defaults";
constexpr std::string_view kSelf = "_self_";

void set_source(ConfigNode& node, const std::shared_ptr<const std::string>& source) {
  node.source = source;
  for (ConfigNode& child : node.children) set_source(child, source);
}

// Read from the comments at the start of the file.
std::string package_of_header(std::string_view text) {
  constexpr std::string_view kDirective = "@package";
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    if (line.front() != '#') break;
    line = trim(line.substr(1));
    if (line.starts_with(kDirective)) return std::string(trim(line.substr(kDirective.size())));
  }
  return {};
}

// One of two equal keys would be ignored silently.
void refuse_doubled_keys(const ConfigDocument& document, const ConfigNode& node) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (node.is_map() && !seen.insert(node.keys[i]).second) {
      document.refuse(node.children[i], fmt::format("duplicate key '{}'", node.keys[i]));
    }
    refuse_doubled_keys(document, node.children[i]);
  }
}

std::string below(const std::string& folder, std::string_view path) {
  if (path.starts_with('/')) return std::string(path.substr(1));
  return folder.empty() ? std::string(path) : folder + "/" + std::string(path);
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size() || text[word.size()] != ' ') {
    return false;
  }
  text = trim(text.substr(word.size()));
  return true;
}

class DefaultsReader {
 public:
  DefaultsReader(const ConfigDocument& document, std::string folder)
      : document_(document), folder_(std::move(folder)) {}

  [[nodiscard]] DefaultsEntry read(const ConfigNode& item) const {
    if (item.is_scalar()) return plain(item);
    if (item.is_map() && item.children.size() == 1) return group(item);
    refuse_item(item);
  }

 private:
  [[noreturn]] void refuse_item(const ConfigNode& item) const {
    document_.refuse(
        item, "an entry of a defaults list is _self_, a configuration's name, or 'group: choice'");
  }

  [[nodiscard]] DefaultsEntry plain(const ConfigNode& item) const {
    DefaultsEntry entry;
    entry.place = item;
    if (item.text == kSelf) {
      entry.kind = DefaultsEntry::Kind::self;
      return entry;
    }
    const size_t at = item.text.find('@');
    const std::string path = below(folder_, item.text.substr(0, at));
    if (at != std::string::npos) entry.package = item.text.substr(at + 1);
    entry.group = folder_of(path);
    ConfigNode choice = item;
    choice.text = entry.group.empty() ? path : path.substr(entry.group.size() + 1);
    entry.choices = {std::move(choice)};
    return entry;
  }

  [[nodiscard]] DefaultsEntry group(const ConfigNode& item) const {
    DefaultsEntry entry;
    entry.kind = DefaultsEntry::Kind::group;
    entry.place = item.children.front();
    std::string_view key = trim(item.keys.front());
    // Either order, as in Hydra.
    for (int word = 0; word < 2; ++word) {
      entry.optional = take_word(key, "optional") || entry.optional;
      entry.replaces = take_word(key, "override") || entry.replaces;
    }
    const size_t at = key.find('@');
    entry.group = below(folder_, key.substr(0, at));
    if (at != std::string_view::npos) entry.package = key.substr(at + 1);
    const ConfigNode& choice = item.children.front();
    if (choice.is_list()) {
      entry.choices = choice.children;
    } else if (!choice.is_null()) {
      entry.choices = {choice};
    }
    if (!std::ranges::all_of(entry.choices, &ConfigNode::is_scalar)) refuse_item(item);
    return entry;
  }

  const ConfigDocument& document_;
  std::string folder_;
};

}  // namespace

std::string folder_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash));
}

ConfigPart read_config_part(std::string_view text, const std::string& file, std::string_view name) {
  ConfigDocument document = needed(parse_yaml(text, file));
  set_source(document.root, std::make_shared<const std::string>(file));
  if (!document.root.is_map() && !document.root.is_null()) {
    document.refuse(document.root, "expected 'key: value' lines");
  }
  refuse_doubled_keys(document, document.root);
  ConfigPart part;
  part.package = package_of_header(text);
  part.body = std::move(document.root);
  part.body.kind = ConfigNode::Kind::map;
  if (const ConfigNode* list = part.body.find(kDefaults)) {
    if (!list->is_list()) document.refuse(*list, "'defaults' must be a list");
    const DefaultsReader reader(document, folder_of(name));
    for (const ConfigNode& item : list->children) part.defaults.push_back(reader.read(item));
    erase_path(part.body, KeyPath{std::string(kDefaults)});
  }
  const auto self = DefaultsEntry::Kind::self;
  if (std::ranges::find(part.defaults, self, &DefaultsEntry::kind) == part.defaults.end()) {
    part.defaults.emplace_back().kind = self;
  }
  return part;
}

}  // namespace llmprof::config
