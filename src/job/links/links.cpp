#include "job/links/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"
#include "base/units.h"
#include "config/config_tree.h"

namespace llmprof::job {
namespace {

// Larger than any link: the figure has a wrong unit.
constexpr double kLargestGigabytes = 1e5;

constexpr std::array<std::string_view, 2> kSections = {"inside_host", "network"};
constexpr std::array<std::string_view, 3> kLinkKeys = {"link", "gb_per_s", "gpus"};
constexpr std::array<std::string_view, 1> kNetworkKeys = {"gb_per_s"};
constexpr std::array<std::string_view, 2> kInsideNames = {"nvlink", "pcie"};

// None if the key is missing.
Result<std::optional<double>> link_bandwidth(const config::ConfigDocument& document,
                                             const config::ConfigNode& map) {
  const config::ConfigNode* node = map.find("gb_per_s");
  if (node == nullptr) return std::optional<double>();
  const auto value = node->number();
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > kLargestGigabytes) {
    return document.wrong(*node,
                          fmt::format("'gb_per_s' must be a positive number of 10^9 bytes per "
                                      "second, but is '{}'",
                                      node->text));
  }
  return *value * kGiga;
}

}  // namespace

Result<void> Links::read(const config::ConfText& text) {
  const auto document = config::parse_yaml(text.text, text.name);
  if (!document) return fail_with(document.error());
  if (auto known = document->check_keys(document->root, kSections); !known) return known;
  if (const config::ConfigNode* inside = document->root.find("inside_host")) {
    if (!inside->is_list()) {
      return document->wrong(*inside,
                             "'inside_host' must be a list such as [{link: nvlink, gb_per_s: 450, "
                             "gpus: [H100 SXM]}]");
    }
    for (const config::ConfigNode& row : inside->children) {
      if (auto known = document->check_keys(row, kLinkKeys); !known) return known;
      const config::ConfigNode* name = row.find("link");
      if (name == nullptr || std::ranges::find(kInsideNames, name->text) == kInsideNames.end()) {
        return document->wrong(row, "'link' must be nvlink or pcie");
      }
      const auto bandwidth = link_bandwidth(*document, row);
      if (!bandwidth) return fail_with(bandwidth.error());
      if (!*bandwidth) return document->wrong(row, "'gb_per_s' is missing");
      const config::ConfigNode* gpus = row.find("gpus");
      if (gpus == nullptr || !gpus->is_list() || gpus->children.empty()) {
        return document->wrong(row, "'gpus' must be a list of names as in gpus.yaml");
      }
      for (const config::ConfigNode& gpu : gpus->children) {
        entries_.push_back({gpu.text, {name->text, *bandwidth}});
      }
    }
  }
  if (const config::ConfigNode* network = document->root.find("network")) {
    if (auto known = document->check_keys(*network, kNetworkKeys); !known) return known;
    const auto bandwidth = link_bandwidth(*document, *network);
    if (!bandwidth) return fail_with(bandwidth.error());
    if (!network_.bandwidth) network_.bandwidth = *bandwidth;
  }
  return {};
}

Result<Links> Links::load(const config::ConfFiles& conf) {
  const auto layers = conf.layers("links.yaml");
  if (!layers) return fail_with(layers.error());
  Links links;
  for (const config::ConfText& text : *layers) {
    if (auto read = links.read(text); !read) return fail_with(read.error());
  }
  return links;
}

std::optional<Link> Links::inside_host(std::string_view gpu) const {
  const auto found = std::ranges::find(entries_, gpu, &Entry::gpu);
  if (found == entries_.end()) return std::nullopt;
  return found->link;
}

}  // namespace llmprof::job
