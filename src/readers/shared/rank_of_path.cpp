#include "readers/shared/rank_of_path.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr size_t kMostRankDigits = 6;
constexpr int kMostFolders = 3;

bool is_word_character(char c) { return is_identifier(c) && c != '_'; }

// The number behind `word` at `at`, which one of "-_" may separate from it; the word and the number
// must not be parts of longer ones.
std::optional<uint32_t> number_behind(std::string_view text, size_t at, std::string_view word) {
  if (at > 0 && is_word_character(text[at - 1])) return std::nullopt;
  text.remove_prefix(at + word.size());
  if (!text.empty() && (text[0] == '-' || text[0] == '_')) text.remove_prefix(1);
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits = static_cast<size_t>(end - text.begin());
  if (digits == 0 || digits > kMostRankDigits) return std::nullopt;
  if (end != text.end() && is_word_character(*end)) return std::nullopt;
  return static_cast<uint32_t>(*parse_int(text.substr(0, digits)));
}

// Behind the last occurrence that has one.
std::optional<uint32_t> last_number(std::string_view text, std::string_view word) {
  for (size_t at = text.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(word, at - 1)) {
    if (const auto number = number_behind(text, at, word)) return number;
  }
  return std::nullopt;
}

std::string lower(const std::filesystem::path& name) {
  std::string text = name.string();
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

}  // namespace

std::optional<uint32_t> rank_of_path(const std::filesystem::path& path) {
  // SGLang's processes of tensor parallelism number the ranks; a worker is PyTorch's own word.
  constexpr std::array<std::string_view, 3> kWords = {"rank", "tp-", "worker"};
  const std::string file = lower(path.filename());
  for (const std::string_view word : kWords) {
    if (const auto rank = last_number(file, word)) return rank;
  }
  std::filesystem::path folder = path.parent_path();
  for (int i = 0; i < kMostFolders && folder.has_filename(); ++i) {
    const std::string name = lower(folder.filename());
    if (name.starts_with("rank")) {
      const bool ends_in_digits =
          name.find_first_not_of("0123456789", name.find_first_of("0123456789")) ==
          std::string::npos;
      const auto rank = number_behind(name, 0, "rank");
      if (rank && ends_in_digits) return rank;
    }
    folder = folder.parent_path();
  }
  return std::nullopt;
}

}  // namespace llmprof::readers
