#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

using profile::Profile;
using profile::Topic;

// The sections of report.md. Each adds its heading and its content, or one sentence on what is
// missing in this input and the command that would record it.
void add_section(Topic<"captures">, const Profile&, Document&);
// The engine that runs the model, and how it was recognized; nothing for a CPU's operators.
void add_section(Topic<"engine">, const Profile&, Document&);
void add_section(Topic<"key figures">, const Profile&, Document&);
// Ranks, their waits and collectives, and how their clocks were aligned; nothing without a job.
void add_section(Topic<"job">, const Profile&, Document&);
void add_section(Topic<"stages">, const Profile&, Document&);
void add_section(Topic<"token times">, const Profile&, Document&);
void add_section(Topic<"utilization">, const Profile&, Document&);
void add_section(Topic<"time budget">, const Profile&, Document&);
void add_section(Topic<"idle gaps">, const Profile&, Document&);
void add_section(Topic<"slow steps">, const Profile&, Document&);
void add_section(Topic<"device time">, const Profile&, Document&);
void add_section(Topic<"copies">, const Profile&, Document&);
void add_section(Topic<"launches">, const Profile&, Document&);
void add_section(Topic<"layers">, const Profile&, Document&);
void add_section(Topic<"kernels">, const Profile&, Document&);
void add_section(Topic<"roofline">, const Profile&, Document&);
void add_section(Topic<"potential savings">, const Profile&, Document&);
void add_section(Topic<"findings">, const Profile&, Document&);
void add_section(Topic<"operators">, const Profile&, Document&);
void add_section(Topic<"diagnostics">, const Profile&, Document&);
// Values of the GPU's own counters and sensors, after MFU and MBU; nothing if they were off.
void add_section(Topic<"measured">, const Profile&, Document&);
// Which figures cover only traced steps; nothing if everything was traced.
void add_tracing_notes(const profile::Profile& profile, Document& document);
// Nothing if overhead was not measured.
void add_section(Topic<"overhead">, const Profile&, Document&);
void add_section(Topic<"failed captures">, const Profile&, Document&);
// The selection, as a note at the top of a report; nothing without one.
void add_selection(const profile::Profile& profile, Document& document);

// Sentences that other documents also have; empty if there is nothing to report.
// The largest overhead of a pass.
std::string overhead_words(const profile::Profile& profile);
// What tracing cost per step as the run itself measured it, or why that is unknown.
std::string collector_overhead_words(const profile::Profile& profile);
// "cuda:0 is busy 44.8 % of 1,880.900 ms: compute 44.800 ms, ..."
std::string device_time_words(const profile::Profile& profile);
// "decode moves 12.50 GB per instance to and from memory, ..."
std::string measured_words(const profile::Profile& profile);
std::string coverage_sentence(const profile::Profile& profile);
// Says that kernels inside CUDA graphs are missing, how much that is, and what would show them.
std::string hidden_graphs_sentence(const profile::Profile& profile);
// How much of the GPU's work has an operator, and why the rest has none.
std::string operator_coverage_words(const profile::Profile& profile);
// "message [3 times]"
std::string message_words(const profile::Diagnostic& diagnostic);
// "warning (code): message [3 times]"
BulletList diagnostic_list(const profile::Profile& profile);

Table operator_table(const profile::Profile& profile, size_t rows);
// The longest kernels by grid and block; only matrix products if `products`.
Table shape_table(const profile::Profile& profile, size_t kernels, bool products);

}  // namespace llmprof::report
