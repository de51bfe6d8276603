/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Typed handlers behind one function type, in C.
 *
 * Rule 1: no function is ever called through a pointer of another type. For each clause a small
 * function of the common type is generated, which calls the handler by its own type; the optimiser
 * merges the two.
 * Rule 2: _Generic looks at the handler's type and picks the call with the right arguments. The
 * calls that are not picked must compile too. So their callee is a null pointer of the type that
 * the call needs (TR_PICK_). It is never a cast of the handler, because gcc warns of such a cast
 * even where it is not run.
 */
#ifndef TROUPE_DETAIL_HANDLER_C_H
#define TROUPE_DETAIL_HANDLER_C_H

/* Macros are laid out by hand. */
/* clang-format off */

/*
 * A pointer to a message that the macro makes. The message lives as long as the block in which the macro is used. The
 * macro stands before the pragma system_header, so that gcc warns of braces that are missing in the message.
 */
#define TR_MAKE_(m, ...) (&(__extension__ (const struct m) __VA_ARGS__))

#define TR_MADE_(m) (&(__extension__ (const __typeof__(*TR_SAID_(m)->message))
#define TR_MADE_END_ ))

#pragma GCC system_header

/*
 * These macros stand around a call of a function, `call`, and give its value:
 *     TR_SAY_ &tr_says_##m TR_SAY_DO_ call TR_SAY_END_
 * Within `call`, TR_SAID_(m) stands for &tr_says_##m. So if the message m is not declared, there is
 * only one error: gcc reports an unknown name once, and clang reports only the variable tr_said, not
 * its uses.
 */
#ifdef __clang__
#define TR_SAY_ (__extension__({ __auto_type tr_said =
#define TR_SAY_DO_ ;
#define TR_SAY_END_ ; }))
#define TR_SAID_(m) tr_said
#else
#define TR_SAY_ ((void)
#define TR_SAY_DO_ ,
#define TR_SAY_END_ )
#define TR_SAID_(m) (&tr_says_##m)
#endif

/* The types that a handler of state S and message M may have. */
#define TR_FN_SELF_STATE_MESSAGE_(S, M) tr_next (*)(tr_self *, S *, const M *)
#define TR_FN_SELF_STATE_(S, M) tr_next (*)(tr_self *, S *)
#define TR_FN_SELF_MESSAGE_(S, M) tr_next (*)(tr_self *, const M *)
#define TR_FN_STATE_MESSAGE_(S, M) tr_next (*)(S *, const M *)
#define TR_FN_SELF_(S, M) tr_next (*)(tr_self *)
#define TR_FN_STATE_(S, M) tr_next (*)(S *)
#define TR_FN_MESSAGE_(S, M) tr_next (*)(const M *)
#define TR_FN_NOTHING_(S, M) tr_next (*)(void)

#define TR_IS_HANDLER_(h, S, M) _Generic(&h, \
    TR_FN_SELF_STATE_MESSAGE_(S, M): 1, \
    TR_FN_SELF_STATE_(S, M): 1, \
    TR_FN_SELF_MESSAGE_(S, M): 1, \
    TR_FN_STATE_MESSAGE_(S, M): 1, \
    TR_FN_SELF_(S, M): 1, \
    TR_FN_STATE_(S, M): 1, \
    TR_FN_MESSAGE_(S, M): 1, \
    TR_FN_NOTHING_(S, M): 1, \
    default: 0)
#define TR_CHECK_HANDLER_(S, M, clause, h) TR_CHECK_HANDLER_IF_(TR_IS_HANDLER_(h, S, M), S, M, clause, h)
#define TR_CHECK_HANDLER_IF_(condition, S, M, clause, h) \
    _Static_assert(condition, \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #S \
        " *state, const " #M " *message); any of the three parameters may be left out")

#define TR_PICK_(h, T) _Generic(&h, T: &h, default: (T)0)
#define TR_INVOKE_(h, S, M, self, state, message) \
    ((void)(self), (void)(state), (void)(message), _Generic(&h, \
        TR_FN_SELF_STATE_MESSAGE_(S, M): \
            TR_PICK_(h, TR_FN_SELF_STATE_MESSAGE_(S, M))(self, state, message), \
        TR_FN_SELF_STATE_(S, M): TR_PICK_(h, TR_FN_SELF_STATE_(S, M))(self, state), \
        TR_FN_SELF_MESSAGE_(S, M): TR_PICK_(h, TR_FN_SELF_MESSAGE_(S, M))(self, message), \
        TR_FN_STATE_MESSAGE_(S, M): TR_PICK_(h, TR_FN_STATE_MESSAGE_(S, M))(state, message), \
        TR_FN_SELF_(S, M): TR_PICK_(h, TR_FN_SELF_(S, M))(self), \
        TR_FN_STATE_(S, M): TR_PICK_(h, TR_FN_STATE_(S, M))(state), \
        TR_FN_MESSAGE_(S, M): TR_PICK_(h, TR_FN_MESSAGE_(S, M))(message), \
        TR_FN_NOTHING_(S, M): TR_PICK_(h, TR_FN_NOTHING_(S, M))(), \
        default: TR_SAME))

/*
 * The types that a handler of batches may have. The messages and their number are always
 * parameters.
 */
#define TR_FN_BATCH_SELF_STATE_(S, M) tr_next (*)(tr_self *, S *, const M *const *, size_t)
#define TR_FN_BATCH_SELF_(S, M) tr_next (*)(tr_self *, const M *const *, size_t)
#define TR_FN_BATCH_STATE_(S, M) tr_next (*)(S *, const M *const *, size_t)
#define TR_FN_BATCH_(S, M) tr_next (*)(const M *const *, size_t)

#define TR_IS_BATCH_(h, S, M) _Generic(&h, \
    TR_FN_BATCH_SELF_STATE_(S, M): 1, \
    TR_FN_BATCH_SELF_(S, M): 1, \
    TR_FN_BATCH_STATE_(S, M): 1, \
    TR_FN_BATCH_(S, M): 1, \
    default: 0)
#define TR_CHECK_BATCH_(S, M, clause, h) \
    _Static_assert(TR_IS_BATCH_(h, S, M), \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #S \
        " *state, const " #M " *const *messages, size_t count); the first two parameters may be " \
        "left out")
#define TR_INVOKE_BATCH_(h, S, M, self, state, messages, count) \
    ((void)(self), (void)(state), _Generic(&h, \
        TR_FN_BATCH_SELF_STATE_(S, M): TR_PICK_(h, TR_FN_BATCH_SELF_STATE_(S, M))( \
            self, state, (const M *const *)(messages), count), \
        TR_FN_BATCH_SELF_(S, M): \
            TR_PICK_(h, TR_FN_BATCH_SELF_(S, M))(self, (const M *const *)(messages), count), \
        TR_FN_BATCH_STATE_(S, M): \
            TR_PICK_(h, TR_FN_BATCH_STATE_(S, M))(state, (const M *const *)(messages), count), \
        TR_FN_BATCH_(S, M): TR_PICK_(h, TR_FN_BATCH_(S, M))((const M *const *)(messages), count), \
        default: TR_SAME))

/* Requires that `f` is a predicate of a message. */
#define TR_CHECK_FILTER_(M, clause, what, f) \
    _Static_assert(_Generic(&f, bool (*)(const M *): 1, default: 0), \
        "troupe: " clause ": the " what " must be bool " #f "(const " #M " *message)")
#define TR_INVOKE_FILTER_(f, M, message) TR_PICK_(f, bool (*)(const M *))(message)

/* The size of a state; 0 for void, without writing sizeof(void). */
#define TR_STATE_VALUE_(S) (*_Generic((S *)0, void *: (char *)0, default: (S *)0))
#define TR_STATE_SIZE_(S) \
    (sizeof(TR_STATE_VALUE_(S)) * _Generic((S *)0, void *: (size_t)0, default: (size_t)1))
#define TR_CHECK_STATE_(b, S) \
    _Static_assert(_Alignof(__typeof__(TR_STATE_VALUE_(S))) <= _Alignof(max_align_t), \
        "troupe: " #b ": the state " #S " needs more than the usual alignment")

/* A pointer to a message at file scope, in static memory. */
#define TR_MAKE_STATIC_(m, ...) (&(const struct m) __VA_ARGS__)

/* Requires that `self` is no client. */
#define TR_REQUIRE_SELF_(self, verb) \
    (void)TR_REQUIRE_(_Generic((self), tr_client *: 0, default: 1), \
        "troupe: tr_" verb " needs the self of a handler; with a client use tr_try_" verb)

/*
 * NULL in place of a client, which TR_REQUIRE_SELF_ has refused already, so that the compiler
 * reports no second error.
 */
#define TR_IF_SELF_(self) _Generic((self), tr_client *: (tr_self *)0, default: (self))

/*
 * TR_NAME_ names the struct of a message before its first use, so that the compiler reports only one error for a
 * message that is not declared. In that case clang proposes another message with a similar name, and continues with the
 * type of that message, which need not fit the handler.
 */
#ifdef __clang__
#define TR_NAME_(m) struct m; extern __typeof__(tr_says_##m) tr_says_##m; extern const tr_type tr_type_##m;
#define TR_CHECK_ON_(S, m, clause, h) TR_CHECK_HANDLER_IF_( \
    _Generic(tr_says_##m.message, const struct m *: TR_IS_HANDLER_(h, S, struct m), default: 1), S, struct m, clause, h)
#else
#define TR_NAME_(m) struct m; extern __typeof__(tr_type_##m) tr_type_##m;
#define TR_CHECK_ON_(S, m, clause, h) TR_CHECK_HANDLER_(S, struct m, clause, h)
#endif

/*
 * These macros are empty in C, where a table needs no type before its braces. In C++ they name the
 * type of the table.
 */
#define TR_TABLE_(type)
#define TR_TABLE_ZERO_(type) 0
#define TR_QUIET_
#define TR_QUIET_END_

#endif
