#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"

namespace llmprof::job {

// What data between two ranks move over, with its peak in one direction.
struct Link {
  std::string name;                 // "nvlink", "pcie", "network", "memory"
  std::optional<double> bandwidth;  // bytes per second of one rank; none: not known
};

// conf/links.yaml, the user's over the shipped one: what connects GPUs of a model in one host, and
// hosts. A GPU that is not listed has no peak, never a guess.
class Links {
 public:
  static Result<Links> load(const config::ConfFiles& conf);

  // Between GPUs of one host; `gpu` is a name of conf/gpus.yaml. None where it is not listed.
  [[nodiscard]] std::optional<Link> inside_host(std::string_view gpu) const;
  // Between hosts, of one rank; without a bandwidth where the file has none.
  [[nodiscard]] Link between_hosts() const { return network_; }

 private:
  struct Entry {
    std::string gpu;
    Link link;
  };
  Result<void> read(const config::ConfText& text);

  std::vector<Entry> entries_;  // the user's first
  Link network_{"network", std::nullopt};
};

}  // namespace llmprof::job
