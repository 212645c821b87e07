#include "session/run/passes.h"

namespace llmprof::session {

capture::NsysRequest nsys_request(const RunRequest& request, const Artifacts& bundle) {
  capture::NsysRequest wanted;
  wanted.options = request.options.nsys;
  wanted.workload = request.options.workload;
  wanted.bundle = bundle.root();
  wanted.limits = pass_limits(request);
  wanted.environment = pass_environment(request, bundle.path("nsys/metrics.json"),
                                        Recording::annotations, bundle.path(kNsysAnnotations));
  wanted.annotations = bundle.path(kNsysAnnotations);
  return wanted;
}

capture::NcuRequest ncu_request(const RunRequest& request, const Artifacts& bundle) {
  capture::NcuRequest wanted;
  wanted.options = request.options.ncu;
  wanted.workload = request.options.workload;
  wanted.bundle = bundle.root();
  wanted.limits = pass_limits(request);
  wanted.environment =
      pass_environment(request, bundle.path("ncu/metrics.json"), Recording::annotations);
  if (wanted.options.short_run) {
    wanted.environment.emplace_back("LLMPROF_SHORT_RUN",
                                    R"({"requests":1,"new_tokens":8,"warm_up":0})");
  }
  return wanted;
}

}  // namespace llmprof::session
