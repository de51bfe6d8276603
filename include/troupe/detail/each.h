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
#define TR_PP_TAIL_BRACES_(first, ...) { __VA_ARGS__ }

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

/* The number of arguments, 1 to 64; TR_MANY above that, up to 128. */
#define TR_PP_COUNT(...) TR_PP_PICK(__VA_ARGS__, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, \
    TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, TR_MANY, 64, 63, 62, \
    61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, \
    38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
    15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )

/* 1 when there is one argument only, else 0. */
#define TR_PP_IS_ONE(...) TR_PP_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, )
#define TR_PP_PICK(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
    a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, \
    a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, \
    a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, \
    a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, \
    a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, a103, a104, a105, \
    a106, a107, a108, a109, a110, a111, a112, a113, a114, a115, a116, a117, a118, a119, a120, \
    a121, a122, a123, a124, a125, a126, a127, n, ...) n

/* Expands to F(c, item) for each item. */
#define TR_PP_EACH(F, c, ...) \
    TR_PP_CAT(TR_PP_EACH_, TR_PP_COUNT(__VA_ARGS__))(F, c, __VA_ARGS__)
#define TR_PP_EACH_TR_MANY(F, c, ...) \
    TR_STATIC_ASSERT(0, \
        "troupe: more than 63 fields, clauses or messages in a list");
#define TR_PP_EACH_1(F, c, x0) \
    F(c, x0)
#define TR_PP_EACH_2(F, c, x0, x1) \
    F(c, x0) F(c, x1)
#define TR_PP_EACH_3(F, c, x0, x1, x2) \
    F(c, x0) F(c, x1) F(c, x2)
#define TR_PP_EACH_4(F, c, x0, x1, x2, x3) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3)
#define TR_PP_EACH_5(F, c, x0, x1, x2, x3, x4) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4)
#define TR_PP_EACH_6(F, c, x0, x1, x2, x3, x4, x5) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5)
#define TR_PP_EACH_7(F, c, x0, x1, x2, x3, x4, x5, x6) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6)
#define TR_PP_EACH_8(F, c, x0, x1, x2, x3, x4, x5, x6, x7) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7)
#define TR_PP_EACH_9(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8)
#define TR_PP_EACH_10(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9)
#define TR_PP_EACH_11(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10)
#define TR_PP_EACH_12(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11)
#define TR_PP_EACH_13(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12)
#define TR_PP_EACH_14(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13)
#define TR_PP_EACH_15(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14)
#define TR_PP_EACH_16(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15)
#define TR_PP_EACH_17(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16)
#define TR_PP_EACH_18(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17)
#define TR_PP_EACH_19(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18)
#define TR_PP_EACH_20(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19)
#define TR_PP_EACH_21(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20)
#define TR_PP_EACH_22(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21)
#define TR_PP_EACH_23(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22)
#define TR_PP_EACH_24(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23)
#define TR_PP_EACH_25(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24)
#define TR_PP_EACH_26(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25)
#define TR_PP_EACH_27(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26)
#define TR_PP_EACH_28(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27)
#define TR_PP_EACH_29(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28)
#define TR_PP_EACH_30(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29)
#define TR_PP_EACH_31(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30)
#define TR_PP_EACH_32(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31)
#define TR_PP_EACH_33(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32)
#define TR_PP_EACH_34(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33)
#define TR_PP_EACH_35(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34)
#define TR_PP_EACH_36(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35)
#define TR_PP_EACH_37(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36)
#define TR_PP_EACH_38(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37)
#define TR_PP_EACH_39(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38)
#define TR_PP_EACH_40(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39)
#define TR_PP_EACH_41(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40)
#define TR_PP_EACH_42(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41)
#define TR_PP_EACH_43(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42)
#define TR_PP_EACH_44(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43)
#define TR_PP_EACH_45(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44)
#define TR_PP_EACH_46(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45)
#define TR_PP_EACH_47(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46)
#define TR_PP_EACH_48(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47)
#define TR_PP_EACH_49(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48)
#define TR_PP_EACH_50(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49)
#define TR_PP_EACH_51(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50)
#define TR_PP_EACH_52(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51)
#define TR_PP_EACH_53(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52)
#define TR_PP_EACH_54(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53)
#define TR_PP_EACH_55(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54)
#define TR_PP_EACH_56(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55)
#define TR_PP_EACH_57(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56)
#define TR_PP_EACH_58(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57)
#define TR_PP_EACH_59(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58)
#define TR_PP_EACH_60(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58, x59) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58) F(c, x59)
#define TR_PP_EACH_61(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58, x59, x60) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58) F(c, x59) F(c, x60)
#define TR_PP_EACH_62(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58, x59, x60, x61) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58) F(c, x59) F(c, x60) F(c, x61)
#define TR_PP_EACH_63(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58, x59, x60, x61, x62) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58) F(c, x59) F(c, x60) F(c, x61) F(c, x62)
#define TR_PP_EACH_64(F, c, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
    x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, \
    x33, x34, x35, x36, x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, \
    x51, x52, x53, x54, x55, x56, x57, x58, x59, x60, x61, x62, x63) \
    F(c, x0) F(c, x1) F(c, x2) F(c, x3) F(c, x4) F(c, x5) F(c, x6) F(c, x7) F(c, x8) F(c, x9) \
    F(c, x10) F(c, x11) F(c, x12) F(c, x13) F(c, x14) F(c, x15) F(c, x16) F(c, x17) F(c, x18) \
    F(c, x19) F(c, x20) F(c, x21) F(c, x22) F(c, x23) F(c, x24) F(c, x25) F(c, x26) F(c, x27) \
    F(c, x28) F(c, x29) F(c, x30) F(c, x31) F(c, x32) F(c, x33) F(c, x34) F(c, x35) F(c, x36) \
    F(c, x37) F(c, x38) F(c, x39) F(c, x40) F(c, x41) F(c, x42) F(c, x43) F(c, x44) F(c, x45) \
    F(c, x46) F(c, x47) F(c, x48) F(c, x49) F(c, x50) F(c, x51) F(c, x52) F(c, x53) F(c, x54) \
    F(c, x55) F(c, x56) F(c, x57) F(c, x58) F(c, x59) F(c, x60) F(c, x61) F(c, x62) F(c, x63)

#endif
