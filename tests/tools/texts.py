# SPDX-License-Identifier: Apache-2.0
"""Cases of tests/tools/run for the tools that look at comments and texts."""
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
