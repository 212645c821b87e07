#include <fmt/format.h>

#include <array>
#include <variant>

#include "session/load_plan/load_arguments.h"
#include "session/options/tool_options.h"

namespace llmprof::session {
namespace {

using Text = std::optional<std::string> LoadArguments::*;
using Name = std::string LoadArguments::*;
using Count = std::optional<uint64_t> LoadArguments::*;
using CountOrZero = uint64_t LoadArguments::*;
using File = std::optional<fs::path> LoadArguments::*;

// A key of `server.load`, and the option of `llmprof load` that it becomes.
struct LoadKey {
  std::string_view key;
  std::string_view option;
  std::variant<Text, Name, Count, CountOrZero, File> into;
  std::string_view words = {};  // of a choice, between blanks
  uint64_t most = INT64_MAX;    // of a count
};

using L = LoadArguments;
constexpr auto kLoadKeys =
    std::to_array<LoadKey>({{"rate", "--rate", &L::rate},
                            {"concurrency", "--concurrency", &L::concurrency, {}, 100'000},
                            {"requests", "--requests", &L::requests, {}, 100'000'000},
                            {"duration", "--duration", &L::duration},
                            {"arrivals", "--arrivals", &L::arrivals, "poisson constant"},
                            {"prompt_tokens", "--prompt-tokens", &L::prompt_tokens},
                            {"new_tokens", "--new-tokens", &L::new_tokens},
                            {"prompt_as", "--prompt-as", &L::prompt_as, "words tokens"},
                            {"speed", "--speed", &L::speed},
                            {"seed", "--seed", &L::seed},
                            {"api", "--api", &L::api, "auto completions chat llama.cpp"},
                            {"model", "--model", &L::model},
                            {"slo", "--slo", &L::slo},
                            {"warm_up", "--warm-up", &L::warm_up},
                            {"timeout", "--timeout", &L::timeout},
                            {"replay", "--replay", &L::replay},
                            {"prompts", "--prompts", &L::prompts},
                            {"ca_file", "--ca-file", &L::ca_file}});

// "http://127.0.0.1:8000" of "http://127.0.0.1:8000/health".
std::string server_of(const std::string& url) {
  constexpr std::string_view kScheme = "://";
  const size_t host = url.find(kScheme);
  return host == std::string::npos ? url : url.substr(0, url.find('/', host + kScheme.size()));
}

// The value of one key, as the argument of its option; none if the key is absent.
class LoadValue {
 public:
  LoadValue(config::Settings& settings, const LoadKey& row, LoadArguments& load)
      : settings_(settings), row_(row), load_(load) {}

  std::optional<std::string> operator()(Text into) { return load_.*into = text(); }
  std::optional<std::string> operator()(Name into) {
    const auto value = text();
    load_.*into = value.value_or("");
    return value;
  }
  std::optional<std::string> operator()(File into) {
    auto value = text();
    if (value) value = fs::absolute(*value).string();
    load_.*into = value;
    return value;
  }
  std::optional<std::string> operator()(Count into) { return argument(load_.*into = count(1)); }
  std::optional<std::string> operator()(CountOrZero into) {
    const auto value = count(0);
    load_.*into = value.value_or(0);
    return argument(value);
  }

 private:
  std::optional<std::string> text() {
    const bool is_set = settings_.node(row_.key) != nullptr;
    if (row_.words.empty() || !is_set) return settings_.optional_text(row_.key);
    return settings_.one_of(row_.key, row_.words, {});
  }
  std::optional<uint64_t> count(uint64_t least) {
    return settings_.optional_whole(row_.key, least, row_.most);
  }
  static std::optional<std::string> argument(std::optional<uint64_t> value) {
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }

  config::Settings& settings_;
  const LoadKey& row_;
  LoadArguments& load_;
};

LoadArguments read_keys(config::Settings& settings, capture::ServerWorkload& server) {
  LoadArguments load;
  load.url = settings.text("url");
  const bool is_ready_server = load.url.empty();
  if (is_ready_server) load.url = server_of(server.ready_url);
  if (load.url.empty()) {
    settings.wrong("url", "is missing: without server.ready.url, it names the server to load");
  }
  server.load = {"load", load.url};
  const auto add = [&](std::string_view option, const std::string& value) {
    server.load.insert(server.load.end(), {std::string(option), value});
  };
  for (const LoadKey& row : kLoadKeys) {
    if (const auto value = std::visit(LoadValue(settings, row, load), row.into)) {
      add(row.option, *value);
    }
  }
  if (is_ready_server && !load.ca_file && !server.ready_ca_file.empty()) {
    load.ca_file = server.ready_ca_file;
    add("--ca-file", server.ready_ca_file);
  }
  return load;
}

}  // namespace

void read_load_options(config::Settings& settings, capture::ServerWorkload& server) {
  LoadArguments load;
  settings.section("load", [&](config::Settings& keys) { load = read_keys(keys, server); });
  if (const auto checked = check_load(load); !checked) {
    settings.wrong("load", fmt::format("cannot be sent: {}", checked.error().message));
  }
}

}  // namespace llmprof::session
