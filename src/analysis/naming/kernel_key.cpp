#include "analysis/naming/kernel_key.h"

#include <array>

#include "base/demangle/demangle.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kLongestName = 64UL << 10U;

// Length of "(int)" and the like in front of a number, 0 if there is none.
size_t cast_length(std::string_view text) {
  constexpr std::array<std::string_view, 12> kCasts = {
      "(int)",           "(bool)",        "(unsigned int)", "(unsigned long)",
      "(long)",          "(char)",        "(short)",        "(unsigned short)",
      "(unsigned char)", "(signed char)", "(long long)",    "(unsigned long long)"};
  for (const std::string_view cast : kCasts) {
    if (!text.starts_with(cast) || text.size() == cast.size()) continue;
    const char next = text[cast.size()];
    if (is_digit(next) || next == '-') return cast.size();
  }
  return 0;
}

// Writes "{lambda(float)#2}" for nsys's "[lambda(float) (instance 2)]" at the front of `text`;
// returns how much of it that was.
size_t lambda_length(std::string_view text, std::string& key) {
  constexpr std::string_view kOpen = "[lambda";
  constexpr std::string_view kInstance = "(instance ";
  if (!text.starts_with(kOpen)) return 0;
  const size_t instance = text.find(kInstance);
  if (instance == std::string_view::npos) return 0;
  size_t end = instance + kInstance.size();
  while (end < text.size() && is_digit(text[end])) ++end;
  if (!text.substr(end).starts_with(")]")) return 0;
  key += "{lambda";
  key += kernel_key(text.substr(kOpen.size(), instance - kOpen.size()));
  key += '#';
  key += text.substr(instance + kInstance.size(), end - instance - kInstance.size());
  key += '}';
  return end + 2;
}

size_t unnamed_length(std::string_view text) {
  constexpr std::array<std::string_view, 2> kUnnamed = {"<unnamed>::", "(anonymous namespace)::"};
  for (const std::string_view unnamed : kUnnamed) {
    if (text.starts_with(unnamed)) return unnamed.size();
  }
  return 0;
}

// What stands before "::" is a namespace or a class, and goes.
std::string canonical(std::string_view name) {
  std::string key;
  key.reserve(name.size());
  size_t word = 0;  // where the identifier being written began in `key`
  for (size_t i = 0; i < name.size();) {
    if (is_identifier(name[i])) {
      key += name[i++];
      continue;
    }
    const std::string_view rest = name.substr(i);
    if (const size_t cast = cast_length(rest); cast > 0) {
      i += cast;
    } else if (const size_t lambda = lambda_length(rest, key); lambda > 0) {
      i += lambda;
      word = key.size();
    } else if (const size_t unnamed = unnamed_length(rest); unnamed > 0) {
      i += unnamed;
    } else if (rest.starts_with("::")) {
      key.resize(word);
      i += 2;
    } else {
      if (name[i] != ' ') key += name[i];
      word = key.size();
      ++i;
    }
  }
  return key;
}

}  // namespace

std::string_view without_parameters(std::string_view name) {
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (!name.ends_with(')')) return name;
  size_t depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

std::string kernel_key(std::string_view name) {
  name = name.substr(0, kLongestName);
  std::string demangled;
  if (name.starts_with("_Z")) {
    if (auto plain = demangle(name)) {
      demangled = std::move(*plain);
      name = demangled;
    }
  }
  if (name.starts_with("void ")) name.remove_prefix(5);
  return canonical(without_parameters(name));
}

}  // namespace llmprof::analysis
