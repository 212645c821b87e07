// All tests of the page, in one process with one browser: node tests/ui/all.mjs (LLMPROF names the program).
import "./compare_test.mjs";
import "./contrast_test.mjs";
import "./explain_test.mjs";
import "./figures_test.mjs";
import "./job_test.mjs";
import "./links_test.mjs";
import "./memory_diff_test.mjs";
import "./memory_test.mjs";
import "./numbers_test.mjs";
import "./page_test.mjs";
import "./reading_test.mjs";
import "./requests_test.mjs";
import "./timeline_test.mjs";
import "./words_test.mjs";
