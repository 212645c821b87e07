#include "describe_profile/schema.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "profile/profile.h"

namespace llmprof::profile {
namespace json {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Type::Kind;

constexpr int kSchemaIndent = 2;

// The place where a struct is met first, which names it: "stages.instances".
std::string below(const std::string& place, std::string_view field) {
  return place.empty() ? std::string(field) : fmt::format("{}.{}", place, field);
}

// Structs are defined once, under the place where they are met first.
class Schema {
 public:
  Json of(const Type& type, const std::string& place) {
    Json json = plain(type, place);
    if (!type.nullable) return json;
    if (json.contains("$ref")) {
      return {{"anyOf", Json::array({std::move(json), {{"type", "null"}}})}};
    }
    json["type"] = Json::array({json["type"], "null"});
    return json;
  }

  Json object(const Type& type, const std::string& place) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Type::Field& field : type.fields) {
      Json property = of(field.type, below(place, field.name));
      property["description"] = described(field);
      properties[field.name] = std::move(property);
      required.push_back(field.name);
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)}};
  }

  static Json word(const Type& type) {
    Json names = Json::array();
    std::vector<std::string> meanings;
    for (const auto& [name, meaning] : type.names) {
      names.push_back(name);
      if (!meaning.empty())
        meanings.push_back(fmt::format("{}: {}", name.empty() ? "\"\"" : name, meaning));
    }
    Json json = {{"type", "string"}, {"enum", std::move(names)}};
    if (!meanings.empty()) json["description"] = fmt::format("{}", fmt::join(meanings, "; "));
    return json;
  }

  Json take_definitions() { return std::move(definitions_); }

 private:
  static std::string described(const Type::Field& field) {
    if (!field.type.unit) return field.meaning;
    return fmt::format("{} ({})", field.meaning, *field.type.unit);
  }

  Json plain(const Type& type, const std::string& place) {
    switch (type.kind) {
      case Kind::boolean:
        return {{"type", "boolean"}};
      case Kind::integer:
        return {{"type", "integer"}};
      case Kind::count:
        return {{"type", "integer"}, {"minimum", 0}};
      case Kind::number:
        return {{"type", "number"}};
      case Kind::text:
        return {{"type", "string"}};
      case Kind::list:
        return list(type, place);
      case Kind::by_name:
        return by_name(type, place);
      case Kind::word:
      case Kind::object:
        return reference(type, place);
    }
    return {};
  }

  Json by_name(const Type& type, const std::string& place) {
    Json json = {{"type", "object"}, {"additionalProperties", of(*type.element, place)}};
    if (type.key->kind == Kind::word) json["propertyNames"] = of(*type.key, place);
    return json;
  }

  Json list(const Type& type, const std::string& place) {
    Json json = {{"type", "array"}, {"items", of(*type.element, place)}};
    if (type.length) {
      json["minItems"] = *type.length;
      json["maxItems"] = *type.length;
    }
    return json;
  }

  Json reference(const Type& type, const std::string& place) {
    const auto [known, is_new] = names_.try_emplace(type.identity, place);
    if (is_new) {
      definitions_[place] = nullptr;  // keeps its place in front of what it holds
      definitions_[place] = type.kind == Kind::word ? word(type) : object(type, place);
    }
    return {{"$ref", "#/$defs/" + known->second}};
  }

  std::map<std::type_index, std::string> names_;
  Json definitions_ = Json::object();
};

class FieldTables {
 public:
  std::string take(const Type& top) {
    table("The top", top, "");
    return std::move(out_);
  }

 private:
  void table(const std::string& title, const Type& type, const std::string& place) {
    if (type.kind == Kind::word) return words(title, type);
    out_ += fmt::format("## {}\n\n| field | type | content |\n|---|---|---|\n", title);
    std::vector<std::pair<const Type*, std::string>> inside;
    for (const Type::Field& field : type.fields) {
      const std::string there = below(place, field.name);
      out_ += fmt::format("| `{}` | {} | {} |\n", field.name, type_words(field.type, there, inside),
                          escaped(field.meaning));
    }
    out_ += '\n';
    for (const auto& [held, there] : inside) table(there, *held, there);
  }

  void words(const std::string& title, const Type& type) {
    out_ += fmt::format("## {}\n\n| value | meaning |\n|---|---|\n", title);
    for (const auto& [name, meaning] : type.names) {
      out_ += fmt::format("| `{}` | {} |\n", name.empty() ? "\"\"" : name, escaped(meaning));
    }
    out_ += '\n';
  }

  // A table's cell ends at a bar.
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '|') out += '\\';
      out += c;
    }
    return out;
  }

  std::string type_words(const Type& type, const std::string& place,
                         std::vector<std::pair<const Type*, std::string>>& inside) {
    std::string words = plain_words(type, place, inside);
    return type.nullable ? words + " or null" : words;
  }

  std::string plain_words(const Type& type, const std::string& place,
                          std::vector<std::pair<const Type*, std::string>>& inside) {
    switch (type.kind) {
      case Kind::boolean:
        return "boolean";
      case Kind::integer:
        return type.unit ? "integer, " + *type.unit : "integer";
      case Kind::count:
        return "count";
      case Kind::number:
        return type.unit ? *type.unit : "number";
      case Kind::text:
        return "text";
      case Kind::list:
        return type.length ? fmt::format("list of {}", *type.length)
                           : "list: " + type_words(*type.element, place, inside);
      case Kind::by_name:
        if (type.key->kind == Kind::word) {
          return fmt::format("by {}: {}", link(*type.key, place, inside),
                             type_words(*type.element, place, inside));
        }
        return "by name: " + type_words(*type.element, place, inside);
      case Kind::word:
      case Kind::object:
        break;
    }
    return link(type, place, inside);
  }

  std::string link(const Type& type, const std::string& place,
                   std::vector<std::pair<const Type*, std::string>>& inside) {
    const auto [known, is_new] = names_.try_emplace(type.identity, place);
    if (is_new) inside.emplace_back(&type, place);
    return fmt::format("[{0}](#{1})", known->second, anchor(known->second));
  }

  // As GitHub makes it from a heading.
  static std::string anchor(std::string_view heading) {
    std::string out;
    for (const char c : heading) {
      if (c != '.') out += c;
    }
    return out;
  }

  std::map<std::type_index, std::string> names_;
  std::string out_;
};

// A comment of one line or more, of at most 119 columns.
std::string wrapped(std::string text) {
  constexpr size_t kColumns = 110;  // next to the comment markers
  constexpr std::string_view kNextLine = "\n   * ";
  for (size_t begin = 0; text.size() - begin > kColumns;) {
    const size_t cut = text.rfind(' ', begin + kColumns);
    if (cut == std::string::npos || cut <= begin) break;
    text.replace(cut, 1, kNextLine);
    begin = cut + kNextLine.size();
  }
  return text;
}

class Interfaces {
 public:
  std::string take(const Type& top, const std::string& name, std::string_view from) {
    out_ = fmt::format("// Generated from the structs of {}\n", from);
    write(name, top, "");
    return std::move(out_);
  }

 private:
  void write(const std::string& name, const Type& type, const std::string& place) {
    if (type.kind == Kind::word) return write_words(name, type);
    std::string text = fmt::format("\nexport interface {} {{\n", name);
    std::vector<std::pair<const Type*, std::string>> inside;
    for (const Type::Field& field : type.fields) {
      const std::string there = below(place, field.name);
      text += fmt::format("  /** {} */\n  {}: {};\n", wrapped(comment(field)), field.name,
                          spelled(field.type, there, inside));
    }
    out_ += text + "}\n";
    for (const auto& [held, there] : inside) write(interface_name(there), *held, there);
  }

  void write_words(const std::string& name, const Type& type) {
    out_ += fmt::format("\nexport type {} =", name);
    constexpr size_t kLongest = 119;
    for (const auto& [word, meaning] : type.names) {
      std::string line = fmt::format("  | \"{}\"", word);
      if (line.size() + meaning.size() + std::string_view(" /*  */").size() > kLongest) {
        line = fmt::format("  /* {} */\n{}", wrapped(std::string(meaning)), line);
      } else if (!meaning.empty()) {
        line += fmt::format(" /* {} */", meaning);
      }
      out_ += "\n" + line;
    }
    out_ += ";\n";
  }

  static std::string comment(const Type::Field& field) {
    std::string text = field.meaning;
    if (field.type.unit) text += fmt::format(" ({})", *field.type.unit);
    for (size_t end = text.find("*/"); end != std::string::npos; end = text.find("*/")) {
      text.replace(end, 2, "* /");
    }
    return text;
  }

  // "stages.budget_ns" is "StagesBudgetNs".
  static std::string interface_name(std::string_view place) {
    std::string name;
    bool begins = true;
    for (const char c : place) {
      const bool letter = c >= 'a' && c <= 'z';
      if (c != '.' && c != '_') name += begins && letter ? static_cast<char>(c - 'a' + 'A') : c;
      begins = c == '.' || c == '_';
    }
    return name;
  }

  static std::string list(const std::string& element, bool nullable) {
    return nullable ? fmt::format("({})[]", element) : element + "[]";
  }

  std::string spelled(const Type& type, const std::string& place,
                      std::vector<std::pair<const Type*, std::string>>& inside) {
    std::string text = plain(type, place, inside);
    return type.nullable ? text + " | null" : text;
  }

  std::string plain(const Type& type, const std::string& place,
                    std::vector<std::pair<const Type*, std::string>>& inside) {
    switch (type.kind) {
      case Kind::boolean:
        return "boolean";
      case Kind::integer:
      case Kind::count:
      case Kind::number:
        return "number";
      case Kind::text:
        return "string";
      case Kind::list:
        return list(spelled(*type.element, place, inside), type.element->nullable);
      case Kind::by_name:
        return fmt::format("Record<string, {}>", spelled(*type.element, place, inside));
      case Kind::word:
      case Kind::object:
        break;
    }
    const auto [known, is_new] = names_.try_emplace(type.identity, place);
    if (is_new) inside.emplace_back(&type, place);
    return interface_name(known->second);
  }

  std::map<std::type_index, std::string> names_;
  std::string out_;
};

}  // namespace

std::string json_schema_of(const Type& top, std::string_view title) {
  Schema schema;
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  document.update(schema.object(top, ""));
  document["$defs"] = schema.take_definitions();
  return document.dump(kSchemaIndent) + "\n";
}

std::string field_tables_of(const Type& top) { return FieldTables().take(top); }

std::string typescript_types_of(const Type& top, const std::string& name, std::string_view from) {
  return Interfaces().take(top, name, from);
}

}  // namespace json

std::string json_schema() {
  return json::json_schema_of(json::profile_type(), "profile.json of llmprof");
}

std::string field_tables() { return json::field_tables_of(json::profile_type()); }

std::string typescript_types() {
  std::set<std::string_view> views;
  each_topic([&](auto row, auto... /*members*/) {
    if (!row.kView.empty()) views.insert(row.kView);
  });
  std::string text = json::typescript_types_of(
      json::profile_type(), "Profile",
      "src/profile: python3 tests/end_to_end/test_profile_schema.py --rewrite");
  text += "\n/** Views that topics name. */\nexport type TopicView =";
  for (const std::string_view view : views) text += fmt::format("\n  | \"{}\"", view);
  return text + ";\n";
}

}  // namespace llmprof::profile
