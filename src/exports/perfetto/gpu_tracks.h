#pragma once

#include <string>
#include <vector>

#include "exports/export_source.h"
#include "exports/kernel_rows.h"
#include "exports/perfetto/trace_file.h"
#include "exports/perfetto/tracks.h"

namespace llmprof::exports {

// The streams of one GPU, each with its kernels, copies, fills and graph replays.
class GpuTracks {
 public:
  GpuTracks(const PlacedSource& source, const KernelRows& rows, const WorkOfLaunches& launched,
            TraceFile& file);

  void write(trace::DeviceId device, TrackUuid parent);

 private:
  // What all launches of a row of the ranking share.
  struct KernelTexts {
    TextId name;
    TextId full_name;
    TextId kernel_class;
    std::vector<Annotation> metrics;  // ncu's, in short
  };
  // What arguments are called: looked up once, not for every kernel.
  struct ArgumentNames {
    TextId kernel;
    TextId shape;
    TextId stage;
    TextId step;
    TextId layer;
    TextId graph;
    TextId flops;
    TextId bytes;
  };

  void gather();
  [[nodiscard]] std::string queue_name(trace::QueueId queue) const;
  void write_queue(trace::QueueId queue, TrackUuid parent);
  void begin(const Interval& work, Sequence& sequence);
  void begin_kernel(size_t kernel, Sequence& sequence);
  void begin_memory_operation(size_t row, Sequence& sequence);
  void begin_replay(size_t row, Sequence& sequence);
  void annotate_kernel(size_t kernel, uint32_t ranked);
  TextId shape_text(trace::ShapeId shape);

  const trace::Trace& trace_;
  const analysis::Results& results_;
  const KernelRows& rows_;
  const WorkOfLaunches& launched_;
  TraceFile& file_;
  std::vector<std::vector<Interval>> work_;  // by queue
  std::vector<KernelTexts> kernels_;         // by row of the ranking
  std::vector<TextId> shapes_;               // by shape, once it was asked for
  ArgumentNames names_;
  std::vector<TextId> stages_;
  std::vector<TextId> layers_;
  std::vector<Annotation> annotations_;  // of the slice that is being written
  bool several_processes_ = false;       // on the GPU that is being written
  bool several_contexts_ = false;
};

}  // namespace llmprof::exports
