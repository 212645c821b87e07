#pragma once

namespace llmprof {

// The 97.5 % quantile of Student's distribution: half of a 95 % interval is this times the standard
// error. Never too small: between the degrees of a table the lower ones count.
double student_t_975(double degrees_of_freedom);

}  // namespace llmprof
