/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What C and C++ spell differently, and the attributes of declarations.
 *
 * For the other headers only; nothing here is for applications.
 */
#ifndef TROUPE_DETAIL_BASE_H
#define TROUPE_DETAIL_BASE_H

/* Macros are laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands between TR_BEGIN_C and TR_END_C is exported, however the library is compiled. */
#ifdef __cplusplus
#define TR_EXTERN_C extern "C"
#define TR_BEGIN_C extern "C" { _Pragma("GCC visibility push(default)")
#define TR_END_C _Pragma("GCC visibility pop") }
#define TR_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define TR_VALUE(type, ...) type{ __VA_ARGS__ }
/* Behind a member: it starts as zero in C++ too, where g++ -Wextra warns of members left out of */
/* an initialiser unless they have one of their own. */
#define TR_ZERO {}
#else
#define TR_EXTERN_C extern
#define TR_BEGIN_C _Pragma("GCC visibility push(default)")
#define TR_END_C _Pragma("GCC visibility pop")
#define TR_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define TR_VALUE(type, ...) ((type){ __VA_ARGS__ })
#define TR_ZERO
#endif

/* Spelled with underscores: an application may have macros named `unused` or `printf`. */
#define TR_MUST_CHECK __attribute__((__warn_unused_result__))
/* Of what does nothing by itself: the handler returns it, and then it happens. From C++20 and C23 on compilers say so. */
#if defined(__cplusplus) && __cplusplus > 201703L
#define TR_MUST_RETURN [[nodiscard("it does nothing unless the handler returns it")]]
#elif !defined(__cplusplus) && __STDC_VERSION__ > 201710L
#define TR_MUST_RETURN [[nodiscard("it does nothing unless the handler returns it")]]
#else
#define TR_MUST_RETURN TR_MUST_CHECK
#endif
#define TR_MAY_BE_UNUSED __attribute__((__unused__))
#define TR_NO_RETURN __attribute__((__noreturn__))
#define TR_NON_NULL __attribute__((__returns_nonnull__))
#define TR_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
/* A debugger steps over these as if they were not there. */
#define TR_INLINE \
    __attribute__((__unused__, __always_inline__, __artificial__)) static inline

/* An error with a text inside a constant expression; its value is 0. */
#ifdef __cplusplus
template <bool Condition> struct tr_require_;
template <> struct tr_require_<true> {
    static constexpr int value = 0;
};
#define TR_REQUIRE_(condition, text) (tr_require_<(condition)>::value)
#else
#define TR_REQUIRE_(condition, text) \
    ((int)sizeof(struct { _Static_assert(condition, text); char tr_dummy; }) & 0)
/* The same inside a function. Its condition may have compound literals, which clang takes for those */
/* of a file when they stand in a struct, and then wants them constant. */
#define TR_REQUIRE_HERE_(condition, text) (__extension__({ _Static_assert(condition, text); 0; }))
#endif

#include <troupe/detail/each.h>

#endif
