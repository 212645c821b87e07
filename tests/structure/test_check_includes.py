"""The include check itself, on trees made for it."""
import pathlib
import tempfile
import unittest

import check_includes


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "src"
        for name, included in files.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"#include {target}\n" for target in included))
        return check_includes.check(source)[1]


CIRCLE = {
    "readers/ncu/rows.h": ['"readers/kineto/event.h"'],
    "readers/kineto/event.h": ['"readers/shared/reader.h"'],
    "readers/shared/reader.h": ['"readers/ncu/rows.h"'],
    "readers/nsys_csv/rows.h": ['"readers/shared/reader.h"'],
}


class CheckIncludes(unittest.TestCase):
    def test_a_module_includes_only_what_it_may(self):
        self.assertEqual(faults_of({"trace/ids.h": ['"base/text.h"', "<vector>"]}), [])
        self.assertEqual(faults_of({"trace/ids.h": ["<vector>", '"report/numbers.h"']}),
                         ['src/trace/ids.h:2: trace must not include "report/numbers.h"'])
        self.assertEqual(faults_of({"wire/log.h": ['"base/text.h"']}),
                         ['src/wire/log.h:1: wire must not include "base/text.h"'])
        self.assertEqual(len(faults_of({"trace/ids.h": ['"ids.h"', '"absent/x.h"', "<sqlite3.h>"]})), 3)
        self.assertEqual(len(faults_of({"attic/x.h": []})), 1)

    def test_rooms_that_include_each_other_are_named_with_their_includes(self):
        self.assertEqual(faults_of(CIRCLE), [
            "these rooms include each other in a circle: readers/kineto, readers/ncu, readers/shared",
            '  src/readers/kineto/event.h:1: includes "readers/shared/reader.h"',
            '  src/readers/ncu/rows.h:1: includes "readers/kineto/event.h"',
            '  src/readers/shared/reader.h:1: includes "readers/ncu/rows.h"'])

    def test_the_files_at_the_root_are_a_room(self):
        below = {"readers/ncu/rows.h": ['"readers/reader.h"'], "readers/reader.h": []}
        above = {"readers/detect.cpp": ['"readers/ncu/rows.h"'], "readers/ncu/rows.h": []}
        self.assertEqual(faults_of(below), [])
        self.assertEqual(faults_of(above), [])
        self.assertEqual(faults_of(above | below)[0],
                         "these rooms include each other in a circle: readers/, readers/ncu")

    def test_tests_close_no_circle(self):
        self.assertEqual(faults_of({"readers/ncu/rows_test.cpp": ['"readers/kineto/event.h"'],
                                    "readers/ncu/test_rows.h": ['"readers/kineto/event.h"'],
                                    "readers/kineto/event.h": ['"readers/ncu/rows.h"']}), [])


if __name__ == "__main__":
    unittest.main()
