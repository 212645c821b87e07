// Uses libyaml, because every analysis reads kernels.yaml, and libyaml needs a fifth of yaml-cpp's
// instructions for it.
#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/needed.h"
#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::config {
namespace {

// Counts the values of a document while it is read.
class TreeLimits {
 public:
  explicit TreeLimits(const std::string& document) : document_(document) {}

  // Counts a value at this depth (the root is 0).
  void admit(int depth) {
    if (depth > kDeepest || ++nodes_ > kMostNodes) {
      give_up(ErrorKind::usage,
              fmt::format("{}: nested deeper than {} levels, or more than {} values", document_,
                          kDeepest, kMostNodes));
    }
  }
  // Counts a value with all below it.
  void admit(int depth, const ConfigNode& node) {
    admit(depth);
    for (const ConfigNode& child : node.children) admit(depth + 1, child);
  }

 private:
  // Deeper documents are refused: they would exhaust the stack, and no configuration is that deep.
  static constexpr int kDeepest = 200;
  // Larger documents are refused too: a few lines of YAML aliases can stand for billions of values.
  static constexpr size_t kMostNodes = 1'000'000;
  const std::string& document_;
  size_t nodes_ = 0;
};

void convert(const nlohmann::ordered_json& from, ConfigNode& into, TreeLimits& limits,
             int depth = 0) {
  limits.admit(depth);
  if (from.is_object()) {
    into.kind = ConfigNode::Kind::map;
    for (const auto& [key, value] : from.items()) {
      into.keys.push_back(key);
      convert(value, into.children.emplace_back(), limits, depth + 1);
    }
  } else if (from.is_array()) {
    into.kind = ConfigNode::Kind::list;
    for (const auto& value : from) {
      convert(value, into.children.emplace_back(), limits, depth + 1);
    }
  } else if (!from.is_null()) {
    const bool text = from.is_string();
    into = ConfigNode::scalar(text ? from.get<std::string>() : from.dump(), text);
  }
}

class Event {
 public:
  // Throws the parser's error if there is no event.
  explicit Event(yaml_parser_t& parser, const std::string& document) {
    if (yaml_parser_parse(&parser, &event_) != 0) return;
    const char* problem = parser.problem == nullptr ? "out of memory" : parser.problem;
    // Invalid characters have an offset instead of a mark.
    const size_t line =
        parser.error == YAML_READER_ERROR ? parser.mark.line : parser.problem_mark.line;
    refuse(document, line + 1, problem);
  }
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  [[noreturn]] static void refuse(const std::string& document, size_t line, std::string_view what) {
    give_up(ErrorKind::usage, fmt::format("{}:{}: not valid YAML: {}", document, line, what));
  }
  [[nodiscard]] yaml_event_type_t type() const { return event_.type; }
  [[nodiscard]] size_t line() const { return event_.start_mark.line + 1; }

  [[nodiscard]] std::string_view scalar() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }
  [[nodiscard]] bool is_plain() const {
    return event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  }
  // The anchor that an alias refers to, or that a value defines; empty: none.
  [[nodiscard]] std::string_view anchor() const {
    const yaml_char_t* name =
        event_.type == YAML_ALIAS_EVENT            ? event_.data.alias.anchor
        : event_.type == YAML_SCALAR_EVENT         ? event_.data.scalar.anchor
        : event_.type == YAML_SEQUENCE_START_EVENT ? event_.data.sequence_start.anchor
        : event_.type == YAML_MAPPING_START_EVENT  ? event_.data.mapping_start.anchor
                                                   : nullptr;
    return name == nullptr ? std::string_view() : reinterpret_cast<const char*>(name);
  }

 private:
  yaml_event_t event_{};
};

// YAML allows no other control characters.
bool is_allowed(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) {
    return byte(0) == '\t' || byte(0) == '\n' || byte(0) == '\r' ||
           (byte(0) >= 0x20 && byte(0) < 0x7F);
  }
  if (byte(0) == 0xC2) return byte(1) >= 0xA0 || byte(1) == 0x85;
  return character != "\xEF\xBB\xBF" && character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

// A recorded command line may contain any bytes, for which libyaml would refuse the whole file.
std::string readable(std::string_view text) {
  const bool is_utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (is_utf16) return std::string(text);  // libyaml reads it
  std::string readable;
  readable.reserve(text.size());
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    readable += length > 0 && is_allowed(character) ? character : kReplacement;
    text.remove_prefix(character.size());
  }
  return readable;
}

// The first document of a text.
class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& name)
      : text_(readable(text)), name_(name), limits_(name) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                                 text_.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  void read(ConfigNode& root) {
    while (true) {
      const Event event(parser_, name_);
      if (event.type() == YAML_STREAM_END_EVENT) return;
      if (event.type() != YAML_STREAM_START_EVENT && event.type() != YAML_DOCUMENT_START_EVENT) {
        return value(event, root, 0);
      }
    }
  }

 private:
  // Reads the value that starts with `event`. A map's member already has its key's line.
  void value(const Event& event, ConfigNode& into, int depth) {
    if (event.type() == YAML_ALIAS_EVENT) return copy(event, into, depth);
    limits_.admit(depth);
    if (into.line == 0) into.line = event.line();
    if (event.type() == YAML_SEQUENCE_START_EVENT) {
      list(into, depth);
    } else if (event.type() == YAML_MAPPING_START_EVENT) {
      map(into, depth);
    } else {
      scalar(event, into);
    }
    if (event.anchor().empty()) return;
    limits_.admit(depth, into);
    anchored_.insert_or_assign(std::string(event.anchor()), into);
  }

  static void scalar(const Event& event, ConfigNode& into) {
    if (event.is_plain() && means_null(event.scalar())) return;
    into.kind = ConfigNode::Kind::scalar;
    into.text = event.scalar();
    into.quoted = !event.is_plain();
  }

  void list(ConfigNode& into, int depth) {
    into.kind = ConfigNode::Kind::list;
    while (true) {
      const Event item(parser_, name_);
      if (item.type() == YAML_SEQUENCE_END_EVENT) return;
      value(item, into.children.emplace_back(), depth + 1);
    }
  }

  void map(ConfigNode& into, int depth) {
    into.kind = ConfigNode::Kind::map;
    while (true) {
      const Event key(parser_, name_);
      if (key.type() == YAML_MAPPING_END_EVENT) return;
      // A list or map used as a key has no text.
      ConfigNode named;
      value(key, named, depth + 1);
      into.keys.push_back(std::move(named.text));
      ConfigNode& member = into.children.emplace_back();
      member.line = key.line();
      value(Event(parser_, name_), member, depth + 1);
    }
  }

  void copy(const Event& alias, ConfigNode& into, int depth) {
    const auto found = anchored_.find(alias.anchor());
    if (found == anchored_.end()) {
      Event::refuse(name_, alias.line(), fmt::format("no '&{0}' before '*{0}'", alias.anchor()));
    }
    limits_.admit(depth, found->second);
    const size_t line = into.line;
    into = found->second;
    if (line != 0) into.line = line;
  }

  std::string text_;
  const std::string& name_;
  yaml_parser_t parser_{};
  TreeLimits limits_;
  std::map<std::string, ConfigNode, std::less<>> anchored_;
};

}  // namespace

Result<ConfigDocument> parse_yaml(std::string_view text, std::string name) {
  return attempt([&] {
    ConfigDocument document{std::move(name), {}};
    YamlReader(text, document.name).read(document.root);
    return document;
  });
}

Result<ConfigDocument> parse_json(std::string_view text, std::string name) {
  return attempt([&] {
    ConfigDocument document{std::move(name), {}};
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      give_up(ErrorKind::usage, fmt::format("{}: not valid JSON", document.name));
    }
    TreeLimits limits(document.name);
    convert(json, document.root, limits);
    return document;
  });
}

}  // namespace llmprof::config
