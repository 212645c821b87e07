// All tests of the page, in one process with one browser: node tests/ui/all.mjs (LLMPROF names the program).
import "./compare_test.mjs";
import "./job_test.mjs";
import "./page_test.mjs";
import "./timeline_test.mjs";
