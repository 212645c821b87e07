#include "analysis/naming/short_name.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/demangle/demangle.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// The position of each opening bracket's closing one; unmatched brackets have none.
std::vector<size_t> matching_brackets(std::string_view text) {
  std::vector<size_t> match(text.size(), kNowhere);
  std::vector<size_t> open;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '{' || c == '[') {
      open.push_back(i);
      continue;
    }
    const char opening = c == ')' ? '(' : c == '>' ? '<' : c == '}' ? '{' : c == ']' ? '[' : '\0';
    if (opening == '\0' || (c == '>' && i > 0 && text[i - 1] == '-')) continue;
    // A "<" that compares never closes: the enclosing bracket skips it.
    while (!open.empty() && c != '>' && text[open.back()] == '<') open.pop_back();
    if (open.empty() || text[open.back()] != opening) continue;
    match[open.back()] = i;
    open.pop_back();
  }
  return match;
}

// Rewrites tokens from left to right; brackets pair in the result as in the input.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      if (!drop_anonymous() && !drop_cast() && !drop_words() && !fold_lambda() && !copy_number()) {
        copy_character();
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] bool after_word() const { return !out_.empty() && is_identifier(out_.back()); }
  [[nodiscard]] bool starts_argument() const {
    return out_.empty() || out_.back() == '<' || out_.back() == ',' || out_.back() == ' ' ||
           out_.back() == '(';
  }

  bool drop_anonymous() {
    const char c = rest().front();
    if (c != '(' && c != '<' && c != '{' && c != '_') return false;
    for (const std::string_view spelling :
         {std::string_view("(anonymous namespace)"), std::string_view("<unnamed>"),
          std::string_view("{anonymous}")}) {
      if (!rest().starts_with(spelling)) continue;
      at_ += spelling.size();
      if (rest().starts_with("::")) at_ += 2;
      return true;
    }
    if (!after_word() && rest().starts_with("_GLOBAL__N_")) {
      while (at_ < text_.size() && is_identifier(text_[at_])) ++at_;
      if (rest().starts_with("::")) at_ += 2;
      return true;
    }
    return false;
  }

  // "(int)4", "(bool)1", "(at::Kind)0" as a template argument.
  bool drop_cast() {
    if (rest().front() != '(' || !starts_argument()) return false;
    const size_t close = rest().substr(0, 256).find_first_of("()<>{}[],", 1);
    if (close == kNowhere || rest()[close] != ')') return false;
    const std::string_view value = rest().substr(close + 1);
    const bool number =
        !value.empty() &&
        (is_digit(value[0]) || (value[0] == '-' && value.size() > 1 && is_digit(value[1])));
    if (!number) return false;
    const bool boolean = rest().substr(0, close) == "(bool";
    at_ += close + 1;
    if (boolean) {
      out_ += value[0] == '0' ? "false" : "true";
      ++at_;
    }
    return true;
  }

  bool drop_words() {
    if (after_word()) return false;
    if (rest().starts_with("const") && (rest().size() == 5 || !is_identifier(rest()[5]))) {
      at_ += rest().size() > 5 && rest()[5] == ' ' ? 6U : 5U;
      if (!out_.empty() && out_.back() == ' ' &&
          (out_.size() < 2 || out_[out_.size() - 2] != ',')) {
        out_.pop_back();
      }
      return true;
    }
    // The return type of a function inside an argument.
    if (starts_argument() && (rest().starts_with("void ") || rest().starts_with("bool ")) &&
        rest().size() > 5 && is_identifier(rest()[5])) {
      at_ += 5;
      return true;
    }
    return false;
  }

  // "[lambda(float) (instance 1)]" and "{lambda(float)#1}" become "{lambda(float)}".
  bool fold_lambda() {
    if (rest().starts_with("[lambda")) {
      out_ += '{';
      ++at_;
      return true;
    }
    const bool instance = rest().starts_with(" (instance ");
    if (!instance && (rest().front() != '#' || out_.empty() || out_.back() != ')')) return false;
    size_t end = at_ + (instance ? 11 : 1);
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const std::string_view closing = instance ? ")]" : "}";
    if (text_.substr(end, closing.size()) != closing) return false;
    out_ += '}';
    at_ = end + closing.size();
    return true;
  }

  bool copy_number() {
    if (!is_digit(rest().front()) || after_word()) return false;
    while (at_ < text_.size() && is_digit(text_[at_])) out_ += text_[at_++];
    size_t suffix = at_;
    while (suffix < text_.size() && (text_[suffix] == 'u' || text_[suffix] == 'l' ||
                                     text_[suffix] == 'U' || text_[suffix] == 'L')) {
      ++suffix;
    }
    const bool ends = suffix == text_.size() || !is_identifier(text_[suffix]);
    if (ends) at_ = suffix;
    return true;
  }

  void copy_character() {
    const char c = text_[at_++];
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    const bool idle_blank =
        c == ' ' && (next == '*' || next == '&' || next == '>' || next == ' ' || next == ',' ||
                     (next == '(' && std::string_view(out_).ends_with("operator")));
    if (idle_blank) return;
    // nsys leaves a comma if an empty pack ends a list.
    while (c == '>' && !out_.empty() && (out_.back() == ',' || out_.back() == ' ')) out_.pop_back();
    out_ += c;
    if (c == ',' && next != ' ') out_ += ' ';
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

bool follows(std::string_view text, size_t at, std::string_view what) {
  return text.substr(std::min(at, text.size())).starts_with(what);
}

// Removes the parameter lists of enclosing functions, "f(int)::{lambda()}" to "f::{lambda()}", and
// the calls that only wrap a lambda, "::{lambda()}::operator()".
std::string without_inner_parameters(std::string_view text) {
  constexpr std::string_view kWrapper = "::{lambda()}::operator()";
  const std::vector<size_t> match = matching_brackets(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' && match[i] != kNowhere) {
      const std::string_view before(out);
      const bool names_operator = before.ends_with("operator") && match[i] == i + 1;
      const bool in_lambda = before.ends_with("{lambda");
      if (!names_operator && !in_lambda && follows(text, match[i] + 1, "::")) {
        i = match[i];
        if (std::string_view(out).ends_with(kWrapper)) out.resize(out.size() - kWrapper.size());
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// The function's name, between its return type and its parameters.
std::string function_only(std::string_view text) {
  const std::vector<size_t> match = matching_brackets(text);
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' && !(follows(text, i, "()") && text.substr(0, i).ends_with("operator"))) {
      return std::string(text.substr(begin, i - begin));
    }
    if (c == ' ' && i > 0 && !text.substr(0, i).ends_with("operator")) begin = i + 1;
    if (c != '<' && c != '{' && c != '[' && c != '(') continue;
    // A truncated name ends inside its arguments.
    if (match[i] == kNowhere) break;
    i = match[i];
  }
  return std::string(text.substr(begin));
}

// What a mangled name that cannot be demangled still shows: its leading identifiers, then the raw
// rest in place of the arguments, so that rules for either match.
std::string from_mangled(std::string_view name) {
  std::string path;
  size_t at = std::min(name.find_first_of("0123456789"), name.size());
  const size_t digits_start = at;
  if (digits_start > 6) return std::string(name);
  while (at < name.size() && is_digit(name[at])) {
    size_t length = 0;
    while (at < name.size() && is_digit(name[at]) && length < kKernelNameHead) {
      length = length * 10 + static_cast<size_t>(name[at++] - '0');
    }
    if (length == 0 || length > name.size() - at) break;
    const std::string_view identifier = name.substr(at, length);
    at += length;
    if (identifier.starts_with("_GLOBAL__N")) continue;
    if (!path.empty()) path += "::";
    path += identifier;
  }
  if (path.empty()) return std::string(name);
  return path + "<" + std::string(name.substr(at)) + ">";
}

bool is_memory_operation(std::string_view name) {
  constexpr std::array<std::string_view, 4> kStarts = {"Memcpy ", "Memset ", "[CUDA mem",
                                                       "[CUDA Unified"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return name.starts_with(start); });
}

// ncu omits every namespace but the first: it writes "at::f" for "at::native::f".
std::string with_aten_namespace(std::string_view name) {
  constexpr std::string_view kOuter = "at::";
  constexpr std::array<std::string_view, 3> kInner = {"native::", "cuda::", "functorch::"};
  std::string full;
  for (size_t i = 0; i < name.size();) {
    const bool whole_word = i == 0 || (!is_identifier(name[i - 1]) && name[i - 1] != ':');
    if (!whole_word || !follows(name, i, kOuter)) {
      full += name[i++];
      continue;
    }
    full += kOuter;
    i += kOuter.size();
    const bool complete = std::ranges::any_of(
        kInner, [&](std::string_view inner) { return follows(name, i, inner); });
    if (!complete) full += kInner[0];
  }
  return full;
}

}  // namespace

std::string canonical_kernel_name(std::string_view full_name) {
  const std::string_view head = trim(full_name.substr(0, kKernelNameHead));
  if (is_memory_operation(head)) return std::string(head);
  std::string demangled;
  std::string_view spelled = head;
  if (head.starts_with("_Z")) {
    auto readable =
        head.size() == full_name.size() ? demangle(head, DemangleExtent::name_only) : std::nullopt;
    if (!readable) return from_mangled(head);
    demangled = std::move(*readable);
    spelled = demangled;
  }
  std::string name =
      with_aten_namespace(function_only(without_inner_parameters(Rewriter(spelled).run())));
  return name.empty() ? std::string(head) : name;
}

TemplateName split_template(std::string_view canonical) {
  TemplateName parts;
  int depth = 0;
  size_t open = kNowhere;
  size_t start = 0;
  for (size_t i = 0; i < canonical.size(); ++i) {
    const char c = canonical[i];
    const bool closes =
        c == ')' || c == '}' || c == ']' || (c == '>' && (i == 0 || canonical[i - 1] != '-'));
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      if (c == '<' && depth == 0 && open == kNowhere) {
        open = i;
        start = i + 1;
      }
      ++depth;
    } else if (closes && depth > 0) {
      --depth;
      if (depth == 0 && open != kNowhere && c == '>') {
        if (i > start) parts.args.push_back(trim(canonical.substr(start, i - start)));
        parts.tail = canonical.substr(i + 1);
        break;
      }
    } else if (c == ',' && depth == 1 && open != kNowhere) {
      parts.args.push_back(trim(canonical.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.path = canonical.substr(0, open);
  return parts;
}

std::string_view own_identifier(std::string_view canonical) {
  size_t end = kNowhere;
  size_t begin = 0;
  std::string_view best;
  const std::vector<size_t> match = matching_brackets(canonical);
  const auto take = [&](size_t segment_end) {
    const std::string_view segment = canonical.substr(begin, std::min(end, segment_end) - begin);
    if (!segment.empty() && segment != "operator()") best = segment;
  };
  for (size_t i = 0; i < canonical.size(); ++i) {
    const char c = canonical[i];
    if (c == '<' || c == '{' || c == '(' || c == '[') {
      if (end == kNowhere) end = follows(canonical, i, "()") ? kNowhere : i;
      if (match[i] == kNowhere) break;
      i = match[i];
    } else if (follows(canonical, i, "::")) {
      take(i);
      begin = i + 2;
      end = kNowhere;
      ++i;
    }
  }
  take(canonical.size());
  return best;
}

std::vector<std::string> split_at(std::string_view separator, std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::vector<std::string> between_underscores(std::string_view name) {
  std::vector<std::string> parts = split_at("_", name);
  std::erase(parts, "");
  return parts;
}

std::string words_of_identifier(std::string_view identifier) {
  const auto at = [&](size_t i) { return i < identifier.size() ? identifier[i] : '\0'; };
  std::string words;
  for (size_t i = 0; i < identifier.size(); ++i) {
    const bool upper = is_upper(at(i));
    const bool begins_word = upper && i > 0 &&
                             (is_lower(at(i - 1)) || is_digit(at(i - 1)) ||
                              (is_upper(at(i - 1)) && is_lower(at(i + 1))));
    if (begins_word) words += '_';
    words += at(i);
  }
  return words;
}

}  // namespace llmprof::analysis
