#include "session/bundle/provenance/recorded_tree.h"

#include <algorithm>

#include "base/secrets/secrets.h"

namespace llmprof::session {
namespace {

bool is_plain(const config::ConfigNode& node) { return node.is_scalar(); }

void replace(config::ConfigNode& scalar, std::string text) {
  if (scalar.text == text) return;
  scalar.text = std::move(text);
  scalar.quoted = true;
}

// A list of texts in place, so that a flag meets its value.
void hide_in_list(config::ConfigNode& list) {
  std::vector<std::string> texts;
  texts.reserve(list.children.size());
  for (const config::ConfigNode& item : list.children)
    texts.push_back(is_plain(item) ? item.text : "");
  texts = llmprof::without_secrets(texts);
  for (size_t i = 0; i < list.children.size(); ++i) {
    config::ConfigNode& item = list.children[i];
    if (is_plain(item)) {
      replace(item, std::move(texts[i]));
    } else {
      item = without_secrets(std::move(item));
    }
  }
}

// All of what a key with a telling name holds.
void hide_whole(config::ConfigNode& node, const std::string& key) {
  if (is_plain(node)) return replace(node, recorded_value(key, node.text));
  for (config::ConfigNode& child : node.children) hide_whole(child, key);
}

}  // namespace

config::ConfigNode without_secrets(config::ConfigNode node) {
  if (is_plain(node)) {
    replace(node, llmprof::without_secrets(node.text));
  } else if (node.is_list()) {
    hide_in_list(node);
  } else if (node.is_map()) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (names_a_secret(node.keys[i])) {
        hide_whole(node.children[i], node.keys[i]);
      } else {
        node.children[i] = without_secrets(std::move(node.children[i]));
      }
    }
  }
  return node;
}

}  // namespace llmprof::session
