# SPDX-License-Identifier: Apache-2.0
"""Cases of tests/tools/run for tools/same-code, tools/check-headers and tests/compile/blocks."""
import importlib.machinery
import importlib.util
import os
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ONE = "/** Adds. */\n#define ADD(a, b) ((a) + (b))\nint add(int a);\nconst char *text(void) { return \"one\"; }\n"


class SameCode(unittest.TestCase):
    def compare(self, before, after, *options):
        with tempfile.TemporaryDirectory() as directory:
            def git(*arguments):
                subprocess.run(["git", "-C", directory, "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
                               check=True, stdout=subprocess.DEVNULL)
            os.makedirs(os.path.join(directory, "src/base"))
            os.makedirs(os.path.join(directory, "include"))
            path = os.path.join(directory, "src/base/a.c")
            with open(os.path.join(directory, "include/none"), "w", encoding="utf-8") as stream:
                stream.write("")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(before)
            git("init", "--quiet")
            git("add", ".")
            git("commit", "--quiet", "--message", "before")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(after)
            done = subprocess.run([os.path.join(ROOT, "tools/same-code"), "--root", directory, *options, "HEAD"],
                                  text=True, stdout=subprocess.PIPE, check=False)
            return done.returncode, done.stdout

    def test_comments_and_line_breaks_do_not_count(self):
        after = ONE.replace("Adds.", "Returns the sum,\n * without a check.").replace("int add(int a)", "int add(\n    int a)")
        self.assertEqual(self.compare(ONE, after), (0, "1 files differ in comments only, 0 also in texts, 0 in code\n"))

    def test_a_token_counts(self):
        status, text = self.compare(ONE, ONE.replace("int a)", "long a)"))
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.c:3: 'int' was here, now it is 'long'", text)

    def test_a_comment_inside_a_text_is_a_text(self):
        status, text = self.compare(ONE, ONE.replace('"one"', '"one /* 1 */"'))
        self.assertEqual(status, 1, text)

    def test_the_end_of_a_directive_counts(self):
        status, text = self.compare(ONE, ONE.replace("(b))\n", "(b)) "))
        self.assertEqual(status, 1, text)

    def test_texts_may_differ_when_asked(self):
        status, text = self.compare(ONE, ONE.replace('"one"', '"t" "wo"'), "--strings")
        self.assertEqual((status, text), (0, "0 files differ in comments only, 1 also in texts, 0 in code\n"))

    def test_a_length_in_the_code_is_found_by_its_objects(self):
        before = "unsigned long f(void) { return sizeof(\"one\"); }\n"
        status, text = self.compare(before, before.replace("one", "three"), "--strings", "--objects")
        self.assertEqual(status, 1, text)
        self.assertIn("src/base/a.c:1: the object code differs", text)
        status, text = self.compare(before, before.replace("one", "two"), "--strings", "--objects")
        self.assertEqual(status, 0, text)


class CheckHeaders(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as directory:
            os.makedirs(os.path.join(directory, "include/troupe"))
            with open(os.path.join(directory, "include/troupe/a.h"), "w", encoding="utf-8") as stream:
                stream.write(text)
            done = subprocess.run([os.path.join(ROOT, "tools/check-headers"), directory], text=True,
                                  stdout=subprocess.PIPE, check=False)
            return done.returncode, done.stdout

    def passes(self, text):
        self.assertEqual(self.check(text), (0, ""))

    def refused(self, text, where):
        status, said = self.check(text)
        self.assertEqual(status, 1, said)
        self.assertIn(where, said)
        self.assertEqual(said.count("\n"), 1, said)

    def test_a_function_that_says_both_passes(self):
        self.passes("/** Returns a. Any thread. Does not wait. */\nint tr_a(void);\n")
        self.passes("/**\n * Waits.\n * In a turn. May wait: for b.\n *\n * More.\n */\nTR_MUST_CHECK int tr_a(\n    int b);\n")

    def test_a_function_without_a_comment_is_refused(self):
        self.refused("int tr_a(void);\n", "include/troupe/a.h:1: tr_a has no comment")
        self.refused("/** Any thread. Does not wait. */\n\nint tr_a(void);\n", "include/troupe/a.h:3: tr_a has no comment")

    def test_both_must_be_said_together_and_early(self):
        self.refused("/** Returns a. Any thread. */\nint tr_a(void);\n", "a.h:2: tr_a")
        self.refused("/**\n * Returns a.\n *\n * Any thread. Does not wait.\n */\nint tr_a(void);\n", "a.h:6: tr_a")

    def test_a_group_may_share_a_comment_that_says_so(self):
        self.passes("/** These are for bindings. Any thread. Does not wait. */\nint tr_a(void);\nint tr_b(void);\n")
        self.refused("/** Returns a. Any thread. Does not wait. */\nint tr_a(void);\nint tr_b(void);\n", "a.h:3: tr_b")

    def test_a_struct_is_named_by_a_test_of_sizes(self):
        for text in ("typedef struct tr_a {\n    int b;\n} tr_a;\n", "struct tr_a {\n    int b;\n};\n",
                     "typedef union tr_a {\n    int b;\n} tr_a;\n", "TR_MESSAGE(tr_a, (u64, b));\n", "TR_MESSAGE(tr_a);\n"):
            self.refused(text, "a.h:1: no test of tests/api/sized*_test.c names tr_a:")
            with tempfile.TemporaryDirectory() as directory:
                for name, content in (("include/troupe/detail/a.h", text), ("tests/api/sized_x_test.c", "PINNED(tr_a, 4)\n")):
                    os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
                    with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
                        stream.write(content)
                tool = os.path.join(ROOT, "tools/check-headers")
                self.assertEqual(subprocess.run([tool, directory], check=False).returncode, 0)
        self.passes("typedef struct tr_a tr_a;\nstruct tr_a_ {\n    int b;\n};\n")

    def test_a_macro_is_a_function_and_a_declaration_has_a_place(self):
        self.refused("/** Tells. */\n#define tr_tell(a, ...) \\\n    TR_TELL_(a, __VA_ARGS__)\n", "a.h:2: tr_tell")
        self.passes("/** Declares. At file scope. */\n#define TR_ACTOR(...) TR_ACTOR_(__VA_ARGS__, )\n#define TR_MAX 3\n")
        self.refused("/** Declares. At file scope. */\nint tr_a(void);\n", "a.h:2: tr_a")


def load_blocks():
    """tests/compile/blocks as a module."""
    loader = importlib.machinery.SourceFileLoader("blocks", os.path.join(ROOT, "tests/compile/blocks"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Blocks(unittest.TestCase):
    tool = load_blocks()
    head = "/* SPDX */\n/**\n * A header.\n *\n * ```c\n"
    program = head + " * #include <stdio.h>\n *\n" + " * int main(void)\n * {\n" + " *     puts(\"a\");\n" * 6 + \
        " *     return %s;\n * }\n * ```\n */\n"

    def said(self, path, text):
        """What is wrong with each case of a text, by the name of the case."""
        return {name: check() for name, check in self.tool.cases_of(path, text, None)}

    def test_a_program_that_compiles_passes(self):
        said = self.said("include/troupe/a.h", self.program % "0")
        self.assertEqual(set(said.values()), {""}, said)
        self.assertEqual(len(said), 3)  # its form, as C, as C++

    def test_a_block_that_does_not_compile_names_header_and_line(self):
        said = self.said("include/troupe/a.h", self.program % "nothing")
        self.assertIn("include/troupe/a.h:16:", said["block include/troupe/a.h:6, c"])

    def test_a_header_without_a_program_is_refused(self):
        said = self.said("include/troupe/a.h", "/* SPDX */\n/**\n * A header.\n */\n")
        self.assertIn("include/troupe/a.h:1:", said["program of include/troupe/a.h"])

    def test_statements_of_a_page_follow_its_declarations(self):
        page = "```c\nTR_MESSAGE(tick, (u32, n));\n```\n\n```c\nstruct tick one = {.n = %s};\n```\n"
        self.assertEqual(set(self.said("docs/guide/a.md", page % "1").values()), {""})
        said = self.said("docs/guide/a.md", page % "one more")
        self.assertIn("docs/guide/a.md:6:", said["block docs/guide/a.md:6, c"])
