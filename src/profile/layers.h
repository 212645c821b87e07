#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/stages.h"

namespace llmprof::profile {

struct Layer {
  std::string name;
  std::string stage;
  std::optional<uint64_t> model_layers;
  bool part = false;
  bool outside = false;
  StageSource source = StageSource::detected;
  Milliseconds per_step;
  double kernels_per_step = 0;
  uint64_t passes = 0;
  WholeNanoseconds total_ns;
  ByWord<KernelClass, Milliseconds> classes;
  std::optional<std::string> note;
  Reasons note_reasons;

  void fields(auto& field) const {
    field("name", name,
          "\"layer_00\", \"layer_00/attn\", \"outside layers\"; stage, model_layers and name are "
          "its key");
    field("stage", stage, "stage that it belongs to");
    field("model_layers", model_layers,
          "if several models ran, the number of attention layers of this layer's model");
    field("part", part, "true for a part of the layer listed before it");
    field("outside", outside, "true for work outside layers");
    field("source", source, "as in stages");
    field("ms_per_step", per_step, "kernel time per forward pass");
    field("kernels_per_step", kernels_per_step, "kernels per forward pass");
    field("passes", passes, "forward passes that show this layer, warm-up excluded");
    field("total_ns", total_ns, "kernel time over these passes, exact");
    field("classes", classes, "kernel time per forward pass, by class");
    field("note", note, "note on a layer with far fewer or more kernels than most");
    field("note_reasons", note_reasons, "note as kinds and values");
  }
};

struct LayerPart {
  std::string name;
  Milliseconds per_step;
  Share share_of_kernel_time;

  void fields(auto& field) const {
    field("name", name, "\"attn\", \"outside layers\"");
    field("ms_per_step", per_step, "all layers together, per forward pass");
    field("share_of_kernel_time", share_of_kernel_time,
          "share of the kernel time inside and outside layers");
  }
};

struct StageLayers {
  std::string stage;
  std::optional<uint64_t> model_layers;
  uint64_t passes = 0;
  uint64_t layers = 0;
  Milliseconds mean_per_step;
  Milliseconds min_per_step;
  Milliseconds max_per_step;
  std::vector<LayerPart> parts;

  void fields(auto& field) const {
    field("stage", stage, "stage that they belong to");
    field("model_layers", model_layers, "as in layers");
    field("passes", passes, "forward passes that show these layers");
    field("layers", layers, "number of layers");
    field("mean_ms_per_step", mean_per_step, "mean kernel time of a layer");
    field("min_ms_per_step", min_per_step, "kernel time of the shortest layer");
    field("max_ms_per_step", max_per_step, "kernel time of the longest layer");
    field("parts", parts, "parts of the layers, longest first");
  }
};

struct LayerSummary {
  std::optional<std::string> why_not;
  std::vector<StageLayers> stages;
  Reasons why_not_reasons;

  void fields(auto& field) const {
    field("why_not", why_not, "why a stage has no layers");
    field("stages", stages, "one per stage and model");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
  }
};

}  // namespace llmprof::profile
