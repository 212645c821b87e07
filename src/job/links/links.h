#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "profile/job.h"

namespace llmprof::job {

// A connection between two ranks, with its peak in one direction.
struct Link {
  profile::LinkKind kind{};
  std::optional<double> bandwidth;  // bytes per second per rank; none: unknown
};

// conf/links.yaml, the user's before the shipped one: connections between GPUs of a model in one
// host, and between hosts. A GPU that is not listed has no peak; it is never guessed.
class Links {
 public:
  static Result<Links> load(const config::ConfFiles& conf);

  // Between GPUs of one host; `gpu` is a name in conf/gpus.yaml. None if it is not listed.
  [[nodiscard]] std::optional<Link> inside_host(std::string_view gpu) const;
  // Between hosts, per rank; without a bandwidth if the file has none.
  [[nodiscard]] Link between_hosts() const { return network_; }

 private:
  struct Entry {
    std::string gpu;
    Link link;
  };
  void read(const config::ConfText& text);
  void read_link(const config::ConfigDocument& document, const config::ConfigNode& row);

  std::vector<Entry> entries_;  // the user's first
  Link network_{profile::LinkKind::network, std::nullopt};
};

}  // namespace llmprof::job
