// All unit tests of the page's pure functions, in one process: node tests/ui/units/all.mjs
import "./columns_test.mjs";
import "./figures_test.mjs";
import "./launches_test.mjs";
import "./memory_test.mjs";
import "./scope_test.mjs";
import "./timeline_test.mjs";
import "./words_test.mjs";
