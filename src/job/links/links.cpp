#include "job/links/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/needed.h"
#include "base/units.h"

namespace llmprof::job {
namespace {

// Larger than any link: the figure has a wrong unit.
constexpr double kLargestGigabytes = 1e5;

constexpr std::array<std::string_view, 2> kSections = {"inside_host", "network"};
constexpr std::array<std::string_view, 3> kLinkKeys = {"link", "gb_per_s", "gpus"};
constexpr std::array<std::string_view, 1> kNetworkKeys = {"gb_per_s"};

// None if the key is missing. Errors are thrown (base/needed.h).
std::optional<double> link_bandwidth(const config::ConfigDocument& document,
                                     const config::ConfigNode& map) {
  const config::ConfigNode* node = map.find("gb_per_s");
  if (node == nullptr) return std::nullopt;
  const auto value = node->number();
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > kLargestGigabytes) {
    document.refuse(*node,
                    fmt::format("'gb_per_s' must be a positive number of 10^9 bytes per second, "
                                "but is '{}'",
                                node->text));
  }
  return *value * kGiga;
}

}  // namespace

void Links::read(const config::ConfText& text) {
  const config::ConfigDocument document = needed(config::parse_yaml(text.text, text.name));
  needed(document.check_keys(document.root, kSections));
  if (const config::ConfigNode* inside = document.root.find("inside_host")) {
    if (!inside->is_list()) {
      document.refuse(*inside,
                      "'inside_host' must be a list such as [{link: nvlink, gb_per_s: 450, "
                      "gpus: [H100 SXM]}]");
    }
    for (const config::ConfigNode& row : inside->children) read_link(document, row);
  }
  if (const config::ConfigNode* network = document.root.find("network")) {
    needed(document.check_keys(*network, kNetworkKeys));
    const auto bandwidth = link_bandwidth(document, *network);
    if (!network_.bandwidth) network_.bandwidth = bandwidth;
  }
}

void Links::read_link(const config::ConfigDocument& document, const config::ConfigNode& row) {
  needed(document.check_keys(row, kLinkKeys));
  using enum profile::LinkKind;
  const config::ConfigNode* name = row.find("link");
  const auto kind =
      name == nullptr ? std::nullopt : profile::find_word<profile::LinkKind>(name->text);
  if (kind != nvlink && kind != pcie) document.refuse(row, "'link' must be nvlink or pcie");
  const auto bandwidth = link_bandwidth(document, row);
  if (!bandwidth) document.refuse(row, "'gb_per_s' is missing");
  const config::ConfigNode* gpus = row.find("gpus");
  if (gpus == nullptr || !gpus->is_list() || gpus->children.empty()) {
    document.refuse(row, "'gpus' must be a list of names as in gpus.yaml");
  }
  for (const config::ConfigNode& gpu : gpus->children) {
    entries_.push_back({gpu.text, {*kind, bandwidth}});
  }
}

Result<Links> Links::load(const config::ConfFiles& conf) {
  return attempt([&] {
    Links links;
    for (const config::ConfText& text : needed(conf.layers("links.yaml"))) links.read(text);
    return links;
  });
}

std::optional<Link> Links::inside_host(std::string_view gpu) const {
  const auto found = std::ranges::find(entries_, gpu, &Entry::gpu);
  if (found == entries_.end()) return std::nullopt;
  return found->link;
}

}  // namespace llmprof::job
