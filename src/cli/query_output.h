#pragma once

#include <memory>
#include <string_view>

#include "query/formats/text_rows.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {

// Prints answers to stdout: as a table for people, as Markdown, or as a format for programs.
// `format` is a choice of --format. What was left out is said at the end of a table, in JSON, and
// on stderr for formats that have no place for it.
std::unique_ptr<query::AnswerWriter> answer_printer(std::string_view format,
                                                    const report::TerminalStyle& style);

}  // namespace llmprof::cli
