#pragma once

#include <optional>

#include "report/document.h"
#include "report/plots/plots.h"

namespace llmprof::report {

// Shows it, where there is one.
inline void add_plot(const std::optional<Plot>& plot, Document& document) {
  if (plot) document.add(Image{std::string(plot->file), plot->description});
}

}  // namespace llmprof::report
