/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_PROCESS, TR_ARGUMENTS and tr_signals work.
 *
 * For process.h only.
 */
#ifndef TROUPE_DETAIL_PROCESS_H
#define TROUPE_DETAIL_PROCESS_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
template <size_t count> struct tr_strings_ {
    const char *strings[count];
};
template <size_t count> struct tr_ints_ {
    int numbers[count];
    static constexpr size_t size = count;
};
template <class... TR_T> inline tr_strings_<sizeof...(TR_T) + 1> tr_strings_of_(TR_T... strings)
{
    return {{strings..., nullptr}};
}
template <class... TR_T> inline tr_ints_<sizeof...(TR_T)> tr_ints_of_(TR_T... numbers)
{
    return {{numbers...}};
}
#define TR_PROCESS_(...) TR_PROCESS__(__VA_ARGS__)
#define TR_PROCESS__(program_, ...) \
    tr_address_(__extension__ tr_process{ .size = sizeof(tr_process), .program = program_, __VA_ARGS__ })
#define TR_STRINGS_(...) (tr_address_(tr_strings_of_(__VA_ARGS__))->strings)
#define TR_SIGNALS_(...) (tr_address_(tr_ints_of_(__VA_ARGS__))->numbers)
#define TR_COUNT_INTS_(...) (decltype(tr_ints_of_(__VA_ARGS__))::size)
#else
#define TR_PROCESS_(program_, ...) \
    (&(const tr_process){ .size = sizeof(tr_process), .program = program_, __VA_ARGS__ })
#define TR_STRINGS_(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define TR_SIGNALS_(...) ((const int[]){ __VA_ARGS__ })
#define TR_COUNT_INTS_(...) (sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))
#endif

#endif
