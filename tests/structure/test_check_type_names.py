"""The check of type names finds what it is for, and nothing else."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import check_type_names


class CheckTypeNames(unittest.TestCase):
    def check(self, **files):
        """(exit code, what it prints) over files of these contents."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                pathlib.Path(folder, name.replace("_", ".")).write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = check_type_names.main([folder])
            return code, output.getvalue()

    def assert_fails(self, name, **files):
        code, output = self.check(**files)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{name} is defined 2 times", output)

    def assert_passes(self, **files):
        code, output = self.check(**files)
        self.assertEqual(code, 0, output)

    def test_two_types_of_one_name_fail(self):
        self.assert_fails("llmprof::Facts", a_h="namespace llmprof {\nstruct Facts { int a; };\n}\n",
                          b_h="namespace llmprof {\nclass Facts final : Base { };\n}\n")

    def test_says_where(self):
        _, output = self.check(a_h="namespace n {\n// struct T {};\nstruct T {};\n}", b_cpp="\nnamespace n { enum class T : int {}; }")
        self.assertRegex(output, r"a\.h:3\n.*b\.cpp:2\n")

    def test_namespaces_are_distinguished_however_they_are_written(self):
        self.assert_passes(a_h="namespace a::b { struct T {}; }", b_h="namespace a { struct T {}; }")
        self.assert_fails("a::b::T", a_h="namespace a::b { struct T {}; }",
                          b_h="namespace a { namespace b { struct T {}; } }")

    def test_a_type_behind_functions_and_other_types_is_in_the_same_namespace(self):
        before = "namespace a { int f(int x) { if (x) { return 1; } return 0; }\nstruct S { struct T {}; };\n"
        self.assert_fails("a::T", a_h=before + "struct T {}; }", b_h="namespace a { union T {}; }")

    def test_aliases_count(self):
        self.assert_fails("a::T", a_h="namespace a { using T = int; }", b_h="namespace a { struct T {}; }")
        self.assert_fails("a::T", a_h="namespace a { template <class U> using T = U; }",
                          b_h="namespace a { template <class U = X<(1 > 0)>> struct T {}; }")

    def test_extern_c_is_no_namespace(self):
        self.assert_fails("::T", a_h='extern "C" { struct T { int a; }; }', b_h="struct T {};")

    def test_what_declares_or_uses_a_type_is_no_definition(self):
        self.assert_passes(
            a_h="namespace a { struct T {}; enum class E : int { one }; }",
            b_h="namespace a { struct T; enum class E : int; class T* f(struct T& t);\n"
                "struct T g() { struct T { int local; }; return {}; }\n"
                "using std::T; using namespace T; namespace T2 = std; template <class T> void h(); }",
            c_h="namespace a { struct Other { struct T {}; using E = int; }; }")

    def test_specializations_share_their_template_name(self):
        self.assert_passes(a_h="namespace a { template <class T> struct S {}; template <> struct S<int> {};\n"
                               "template <> struct S<long> {}; } template <> struct std::hash<a::S<int>> {};")

    def test_anonymous_namespaces_belong_to_their_file(self):
        text = "namespace a { namespace { struct T {}; } }"
        self.assert_passes(a_cpp=text, b_cpp=text)
        self.assert_fails("T", a_cpp="namespace a { namespace { struct T {}; }\nnamespace { struct T {}; } }")

    def test_comments_literals_and_alternatives_are_no_code(self):
        self.assert_passes(
            a_h="namespace a { struct T {}; }",
            b_h='namespace a {\n/* struct T {}; */\nauto s = "struct T {};", r = R"x(struct T {}; )" } )x";\n'
                "char c = '{', d = '\\'', e = '\"'; int n = 1'000'000;\n}")
        self.assert_passes(a_h="namespace a {\n#ifdef X\nstruct T {};\n#else\nstruct T { int a; };\n#endif\n}")

    def test_an_empty_folder_is_a_mistake(self):
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
