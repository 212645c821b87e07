#pragma once

#include <string>
#include <vector>

#include "llm/config_keys.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

// What looks at images in a configuration: towers and projector, in the order an image meets them.
// `text_hidden` is the width they hand over to. Adds a note for what the file does not tell.
std::vector<VisionTower> read_vision(ConfigKeys& root, uint32_t text_hidden,
                                     std::vector<std::string>& notes);

}  // namespace llmprof::llm
