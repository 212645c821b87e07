#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/executables.h"
#include "capture/open_detached.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "session/bundle/find_page.h"

namespace llmprof::cli {
namespace {

using CommandLine = std::vector<std::string>;

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

CommandLine split(const std::string& text, char at) {
  CommandLine words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(at, start), text.size());
    if (end > start) words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

bool on_path(const std::string& program) {
  return capture::find_executable(program, environment_text("PATH")).has_value();
}

// $BROWSER is a list of command lines, in which %s stands for the page; without one it comes last.
std::optional<CommandLine> browser_of_user(const std::string& page) {
  for (const std::string& line : split(environment_text("BROWSER"), ':')) {
    CommandLine words = split(line, ' ');
    if (words.empty() || !on_path(words.front())) continue;
    bool placed = false;
    for (std::string& word : words) {
      if (const size_t at = word.find("%s"); at != std::string::npos) {
        word.replace(at, 2, page);
        placed = true;
      }
    }
    if (!placed) words.push_back(page);
    return words;
  }
  return std::nullopt;
}

// None where this machine shows nothing: a server, a container.
std::optional<CommandLine> opener(const std::string& page) {
  if (auto words = browser_of_user(page)) return words;
  const bool screen =
      !environment_text("DISPLAY").empty() || !environment_text("WAYLAND_DISPLAY").empty();
  if (screen && on_path("xdg-open")) return CommandLine{"xdg-open", page};
  return std::nullopt;
}

}  // namespace

int open_command(const Arguments& arguments) {
  constexpr std::chrono::milliseconds kPatience(3000);
  const auto page = session::find_page(arguments.path("RUN").value_or(""));
  if (!page) return complain(page.error());
  const auto words = opener(page->string());
  if (!words) {
    print_text(
        fmt::format("No browser to open it here; open this file in one:\n{}\n", page->string()));
    return finish_output();
  }
  if (const auto opened = capture::open_detached(*words, kPatience); !opened) {
    return complain({opened.error().kind, fmt::format("{}; open this file in a browser: {}",
                                                      opened.error().message, page->string())});
  }
  print_text(fmt::format("Opened {}\n", page->string()));
  return finish_output();
}

}  // namespace llmprof::cli
