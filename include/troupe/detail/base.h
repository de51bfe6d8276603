/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Macros for what C and C++ spell differently, and for attributes of declarations.
 *
 * For the other headers only; nothing here is for applications.
 */
#ifndef TROUPE_DETAIL_BASE_H
#define TROUPE_DETAIL_BASE_H

/*
 * The #include of a file that does not exist ends the compilation. With the #error alone, hundreds
 * of further errors would follow.
 */
#if defined(__cplusplus) && __cplusplus < 201703L
#error "troupe needs C++17 or later: compile with -std=c++17"
#include <troupe/needs_cxx17_or_later>
#elif !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "troupe needs C11 or later: compile with -std=c17"
#include <troupe/needs_c11_or_later>
#elif !defined(__GNUC__)
#error "troupe needs gcc or clang"
#include <troupe/needs_gcc_or_clang>
#elif !defined(__linux__)
#error "troupe needs Linux"
#include <troupe/needs_linux>
#elif __SIZEOF_POINTER__ != 8
#error "troupe needs a machine of 64 bits"
#include <troupe/needs_64_bits>
#endif

#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Declarations between TR_BEGIN_C and TR_END_C are exported, even if the library is compiled with
 * hidden visibility.
 */
#ifdef __cplusplus
#define TR_EXTERN_C extern "C"
#ifdef __clang__
/*
 * In C++ the members of messages have initialisers, and clang warns of C functions that return such
 * a struct by value. The warning is switched off, because C and C++ return such a struct in the
 * same way.
 */
#define TR_BEGIN_C extern "C" { _Pragma("GCC visibility push(default)") \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wreturn-type-c-linkage\"")
#define TR_END_C _Pragma("clang diagnostic pop") _Pragma("GCC visibility pop") }
#else
#define TR_BEGIN_C extern "C" { _Pragma("GCC visibility push(default)")
#define TR_END_C _Pragma("GCC visibility pop") }
#endif
#define TR_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define TR_VALUE(type, ...) type{ __VA_ARGS__ }
/*
 * Stands after a member, so that the member starts as zero in C++ too. g++ -Wextra warns of a member that is missing in
 * an initialiser, but not if the member has an initialiser of its own.
 */
#define TR_ZERO {}
#else
#define TR_EXTERN_C extern
#define TR_BEGIN_C _Pragma("GCC visibility push(default)")
#define TR_END_C _Pragma("GCC visibility pop")
#define TR_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define TR_VALUE(type, ...) ((type){ __VA_ARGS__ })
#define TR_ZERO
#endif

/*
 * The names of the attributes have underscores, because an application may have macros named
 * `unused` or `printf`.
 */
#define TR_MUST_CHECK __attribute__((__warn_unused_result__))
/*
 * For a function whose result the handler must return. Compilers of C++20 and C23 print the text if
 * the result is ignored.
 */
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
/* A debugger steps over these functions. */
#define TR_INLINE \
    __attribute__((__unused__, __always_inline__, __artificial__)) static inline

/*
 * Checks a condition inside a constant expression: 0 if the condition holds, else an error of the
 * compiler with the text.
 */
#ifdef __cplusplus
template <bool Condition> struct tr_require_;
template <> struct tr_require_<true> {
    static constexpr int value = 0;
};
#define TR_REQUIRE_(condition, text) (tr_require_<(condition)>::value)
#else
#define TR_REQUIRE_(condition, text) \
    ((int)sizeof(struct { _Static_assert(condition, text); char tr_dummy; }) & 0)
/*
 * As TR_REQUIRE_, but for a condition with compound literals, and only inside a function. In the struct of TR_REQUIRE_,
 * clang would take compound literals for literals at file scope, and require that they are constant.
 */
#define TR_REQUIRE_HERE_(condition, text) (__extension__({ _Static_assert(condition, text); 0; }))
#endif

#include <troupe/detail/each.h>

#endif
