#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes include/troupe/detail/each.h: the preprocessor's loop over up to 64 items.

    tools/gen_each.py > include/troupe/detail/each.h

The loop is flat, F(c, a) F(c, b) ..., and not recursive, so that a compiler's error about one item
is two macro levels deep and not as deep as the list is long.
"""

MAX = 64
WIDTH = 97


def wrapped(head, words, tail):
    """The lines of a macro: head, the words with commas between, tail; continued by backslashes."""
    lines, line = [], head
    for i, word in enumerate(words):
        word += tail if i == len(words) - 1 else ", "
        if len(line) + len(word) > WIDTH:
            lines.append(line.rstrip() + " \\")
            line = "    "
        line += word
    lines.append(line)
    return lines


def each(count):
    """TR_PP_EACH_<count>."""
    items = [f"x{i}" for i in range(count)]
    lines = wrapped(f"#define TR_PP_EACH_{count}(F, c, ", items, ") \\")
    line = "   "
    for item in items:
        call = f" F(c, {item})"
        if len(line) + len(call) > WIDTH:
            lines.append(line + " \\")
            line = "   "
        line += call
    return lines + [line]


PREFACE = f"""\
/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the declaring macros need of the preprocessor: first and rest, tuples, a count, a loop.
 *
 * Written by tools/gen_each.py. For the other headers only; nothing here is for applications.
 */
#ifndef TROUPE_DETAIL_EACH_H
#define TROUPE_DETAIL_EACH_H
#pragma GCC system_header

/* clang-format off */

#define TR_PP_CAT(a, b) TR_PP_CAT_(a, b)
#define TR_PP_CAT_(a, b) a##b
#define TR_PP_STRING(...) TR_PP_STRING_(__VA_ARGS__)
#define TR_PP_STRING_(...) #__VA_ARGS__

/*
 * The first argument, and all others in braces. ISO C17 wants an argument for `...`, so an empty one is added. In the braces
 * it becomes the trailing comma that an initialiser may have.
 */
#define TR_PP_HEAD(...) TR_PP_HEAD_(__VA_ARGS__, )
#define TR_PP_HEAD_(first, ...) first
#define TR_PP_TAIL_BRACES(...) TR_PP_TAIL_BRACES_(__VA_ARGS__, )
#define TR_PP_TAIL_BRACES_(first, ...) {{ __VA_ARGS__ }}

/* TR_PP_IF_TUPLE(x)(a, b) is a when x begins with a parenthesis, else b. */
#define TR_PP_IF_TUPLE(x) TR_PP_CAT(TR_PP_IF_, TR_PP_IS_TUPLE(x))
#define TR_PP_IF_1(a, b) a
#define TR_PP_IF_0(a, b) b
#define TR_PP_IS_TUPLE(x) TR_PP_PROBED(TR_PP_TUPLE_PROBE x, 0, )
#define TR_PP_TUPLE_PROBE(...) ~, 1, ~
#define TR_PP_UNTUPLE(...) __VA_ARGS__
/* What stands behind the tuple with which x begins. */
#define TR_PP_BEHIND(x) TR_PP_EAT x
#define TR_PP_EAT(...)

/* Calls macro f with arguments that are expanded first: one of them may become several. */
#define TR_PP_CALL(f, ...) f(__VA_ARGS__)

/* TR_PP_IS_EMPTY(x) is 1 when x, a word or nothing, is nothing. */
#define TR_PP_IS_EMPTY(x) TR_PP_PROBED(TR_PP_EMPTY_PROBE_##x, 0, )
#define TR_PP_EMPTY_PROBE_ ~, 1
#define TR_PP_PROBED(...) TR_PP_SECOND(__VA_ARGS__, )
#define TR_PP_SECOND(a, b, ...) b

/* The number of arguments, 1 to {MAX}; TR_MANY above that, up to {2 * MAX}. */"""


def main():
    print(PREFACE)
    counts = ["TR_MANY"] * MAX + [str(i) for i in range(MAX, 0, -1)] + [""]
    print(*wrapped("#define TR_PP_COUNT(...) TR_PP_PICK(__VA_ARGS__, ", counts, ")"), sep="\n")
    print("\n/* 1 when there is one argument only, else 0. */")
    ones = ["0"] * (2 * MAX - 1) + ["1", ""]
    print(*wrapped("#define TR_PP_IS_ONE(...) TR_PP_PICK(__VA_ARGS__, ", ones, ")"), sep="\n")
    names = [f"a{i}" for i in range(2 * MAX)] + ["n", "..."]
    print(*wrapped("#define TR_PP_PICK(", names, ") n"), sep="\n")
    print("\n/* Expands to F(c, item) for each item. */")
    print("#define TR_PP_EACH(F, c, ...) \\")
    print("    TR_PP_CAT(TR_PP_EACH_, TR_PP_COUNT(__VA_ARGS__))(F, c, __VA_ARGS__)")
    print("#define TR_PP_EACH_TR_MANY(F, c, ...) \\")
    print("    TR_STATIC_ASSERT(0, \\")
    print(f'        "troupe: more than {MAX - 1} fields, clauses or messages in a list");')
    for count in range(1, MAX + 1):
        print(*each(count), sep="\n")
    print("\n#endif")


if __name__ == "__main__":
    main()
