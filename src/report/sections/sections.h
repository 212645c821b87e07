#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// The sections of report.md, in its order. Each adds its heading, and what it knows or one sentence
// on what is missing in this input and the command that would record it.
void add_captures(const profile::Profile& profile, Document& document);
// What runs the model, and how that was recognized; nothing for a CPU's operators.
void add_engine(const profile::Profile& profile, Document& document);
void add_key_figures(const profile::Profile& profile, Document& document);
void add_stage_timings(const profile::Profile& profile, Document& document);
void add_token_times(const profile::Profile& profile, Document& document);
void add_utilization(const profile::Profile& profile, Document& document);
void add_time_budget(const profile::Profile& profile, Document& document);
void add_idle_gaps(const profile::Profile& profile, Document& document);
void add_slow_steps(const profile::Profile& profile, Document& document);
void add_device_time(const profile::Profile& profile, Document& document);
void add_copies(const profile::Profile& profile, Document& document);
void add_launches(const profile::Profile& profile, Document& document);
void add_layers(const profile::Profile& profile, Document& document);
void add_top_kernels(const profile::Profile& profile, Document& document);
void add_roofline(const profile::Profile& profile, Document& document);
void add_recoverable(const profile::Profile& profile, Document& document);
void add_findings(const profile::Profile& profile, Document& document);
void add_operators(const profile::Profile& profile, Document& document);
void add_diagnostics(const profile::Profile& profile, Document& document);
// What the GPU's own counters and sensors say, behind MFU and MBU; nothing where they were off.
void add_measured(const profile::Profile& profile, Document& document);
// Which figures are of traced steps alone; nothing where all was traced.
void add_tracing_notes(const profile::Profile& profile, Document& document);
// Nothing where there is nothing to tell.
void add_overhead(const profile::Profile& profile, Document& document);
void add_failed_captures(const profile::Profile& profile, Document& document);
// What was narrowed to, as a note on top of a report; nothing where nothing was.
void add_selection(const profile::Profile& profile, Document& document);

// Shared with the other documents, as sentences; empty where there is nothing to tell.
// The largest overhead of a pass.
std::string overhead_words(const profile::Profile& profile);
// What tracing cost per step as the run itself measured it, or why that is not known.
std::string collector_overhead_words(const profile::Profile& profile);
// "cuda:0 is busy 44.8 % of 1,880.900 ms: compute 44.800 ms, ..."
std::string device_time_words(const profile::Profile& profile);
// "decode moves 12.50 GB per instance to and from memory, ..."
std::string measured_words(const profile::Profile& profile);
std::string coverage_sentence(const profile::Profile& profile);
// That kernels inside CUDA graphs are missing, how much that is, and what would show them.
std::string hidden_graphs_sentence(const profile::Profile& profile);
// How much of the GPU's work has an operator, and why the rest has none.
std::string operator_coverage_words(const profile::Profile& profile);
// "warning (code): message [3 times]"
std::string diagnostic_line(const profile::Diagnostic& diagnostic);

Table operator_table(const profile::Profile& profile, size_t rows);
// The longest kernels by grid and block: `products` keeps to matrix products.
Table shape_table(const profile::Profile& profile, size_t kernels, bool products);

}  // namespace llmprof::report
