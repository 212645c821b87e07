#include "config/defaults_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/tree_path.h"

namespace llmprof::config {
namespace {

constexpr std::string_view kDefaults = "defaults";
constexpr std::string_view kSelf = "_self_";

void set_source(ConfigNode& node, const std::shared_ptr<const std::string>& source) {
  node.source = source;
  for (ConfigNode& child : node.children) set_source(child, source);
}

// Of the comments at the head of the file.
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

// Of two equal keys one would be ignored silently.
Result<void> refuse_doubled_keys(const ConfigDocument& document, const ConfigNode& node) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (node.is_map() && !seen.insert(node.keys[i]).second) {
      return document.wrong(node.children[i], fmt::format("duplicate key '{}'", node.keys[i]));
    }
    if (auto below = refuse_doubled_keys(document, node.children[i]); !below) return below;
  }
  return {};
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

  Result<std::vector<DefaultsEntry>> read(const ConfigNode& list) const {
    std::vector<DefaultsEntry> entries;
    for (const ConfigNode& item : list.children) {
      auto entry = item.is_scalar()                             ? plain(item)
                   : item.is_map() && item.children.size() == 1 ? group(item)
                                                                : wrong(item);
      if (!entry) return fail_with(entry.error());
      entries.push_back(std::move(*entry));
    }
    return entries;
  }

 private:
  [[nodiscard]] Result<DefaultsEntry> wrong(const ConfigNode& item) const {
    return document_.wrong(item,
                           "an entry of a defaults list is _self_, a configuration's name, or "
                           "'group: choice'");
  }

  [[nodiscard]] Result<DefaultsEntry> plain(const ConfigNode& item) const {
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

  [[nodiscard]] Result<DefaultsEntry> group(const ConfigNode& item) const {
    DefaultsEntry entry;
    entry.kind = DefaultsEntry::Kind::group;
    entry.place = item.children.front();
    std::string_view key = trim(item.keys.front());
    // Either order, as Hydra takes them.
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
    const bool scalars =
        std::ranges::all_of(entry.choices, [](const ConfigNode& one) { return one.is_scalar(); });
    return scalars ? entry : wrong(item);
  }

  const ConfigDocument& document_;
  std::string folder_;
};

}  // namespace

std::string folder_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash));
}

Result<ConfigPart> read_config_part(std::string_view text, const std::string& file,
                                    std::string_view name) {
  auto document = parse_yaml(text, file);
  if (!document) return fail_with(document.error());
  set_source(document->root, std::make_shared<const std::string>(file));
  if (!document->root.is_map() && !document->root.is_null()) {
    return document->wrong(document->root, "expected 'key: value' lines");
  }
  if (auto once = refuse_doubled_keys(*document, document->root); !once) {
    return fail_with(once.error());
  }
  ConfigPart part;
  part.package = package_of_header(text);
  part.body = std::move(document->root);
  part.body.kind = ConfigNode::Kind::map;
  if (const ConfigNode* list = part.body.find(kDefaults)) {
    if (!list->is_list()) return document->wrong(*list, "'defaults' must be a list");
    auto entries = DefaultsReader(*document, folder_of(name)).read(*list);
    if (!entries) return fail_with(entries.error());
    part.defaults = std::move(*entries);
    erase_path(part.body, KeyPath{std::string(kDefaults)});
  }
  const auto is_self = [](const DefaultsEntry& entry) {
    return entry.kind == DefaultsEntry::Kind::self;
  };
  if (std::ranges::none_of(part.defaults, is_self)) {
    part.defaults.emplace_back().kind = DefaultsEntry::Kind::self;
  }
  return part;
}

}  // namespace llmprof::config
