#include "config/config_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr size_t kIndent = 2;

bool is_plain_letter(char c) {
  constexpr std::string_view kOthers = "-./+@:%";
  return is_identifier(c) || kOthers.find(c) != std::string_view::npos;
}

// Stricter than YAML: a refused text is only written in quotes.
bool needs_no_quotes(std::string_view text) {
  constexpr std::string_view kDocumentEnd = "...";
  if (text.empty() || text.starts_with(kDocumentEnd) || text.back() == ':') return false;
  constexpr std::string_view kIndicators = "-:%@";  // only special at the start
  const bool minus_of_a_number = text.front() == '-' && parse_decimal(text);
  if (kIndicators.find(text.front()) != std::string_view::npos && !minus_of_a_number) return false;
  return !means_null(text) && std::ranges::all_of(text, is_plain_letter);
}

// Escapes text that would be read as an interpolation.
std::string without_interpolations(std::string_view text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

std::string escaped_in_quotes(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  std::string escaped;
  for (const char c : in_quotes(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte < kFirstPrintable || byte == kDelete;
    escaped += control ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return escaped;
}

std::string scalar_text(const ConfigNode& node) {
  if (!node.quoted && needs_no_quotes(node.text)) return node.text;
  return escaped_in_quotes(without_interpolations(node.text));
}

bool is_block(const ConfigNode& node) { return !node.children.empty(); }

std::string on_one_line(const ConfigNode& node) {
  if (node.is_scalar()) return scalar_text(node);
  return node.is_null() ? "null" : node.is_list() ? "[]" : "{}";
}

std::string key_text(std::string_view key) {
  return needs_no_quotes(key) ? std::string(key) : escaped_in_quotes(key);
}

void write_block(const ConfigNode& node, size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (size_t i = 0; i < node.children.size(); ++i) {
    const ConfigNode& child = node.children[i];
    const std::string head = node.is_map() ? key_text(node.keys[i]) + ":" : "-";
    if (!is_block(child)) {
      out += fmt::format("{}{} {}\n", margin, head, on_one_line(child));
    } else if (node.is_map()) {
      out += fmt::format("{}{}\n", margin, head);
      write_block(child, indent + kIndent, out);
    } else {
      // The first line of the element follows the dash.
      std::string element;
      write_block(child, indent + kIndent, element);
      element.replace(indent, 1, "-");
      out += element;
    }
  }
}

nlohmann::ordered_json json_of(const ConfigNode& node) {
  if (node.is_map()) {
    auto object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < node.keys.size(); ++i) object[node.keys[i]] = json_of(node.children[i]);
    return object;
  }
  if (node.is_list()) {
    auto array = nlohmann::ordered_json::array();
    for (const ConfigNode& child : node.children) array.push_back(json_of(child));
    return array;
  }
  if (node.is_null()) return nullptr;
  if (node.quoted) return node.text;
  if (const auto truth = node.boolean()) return *truth;
  if (const auto whole = node.integer()) return *whole;
  if (const auto number = node.number(); number && std::isfinite(*number)) return *number;
  return node.text;
}

}  // namespace

std::string to_yaml(const ConfigNode& node) {
  if (!is_block(node)) return on_one_line(node) + "\n";
  std::string out;
  write_block(node, 0, out);
  return out;
}

std::string to_json(const ConfigNode& node) {
  return json_of(node).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace llmprof::config
