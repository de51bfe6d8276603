/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_BEHAVIOR and its clauses become constant tables. For behavior.h only.
 */
#ifndef TROUPE_DETAIL_BEHAVIOR_H
#define TROUPE_DETAIL_BEHAVIOR_H

/* Macros are laid out by hand. */
/* clang-format off */

TR_BEGIN_C
/**
 * Makes a batch of the message of this turn and the messages that wait behind it. Returns the messages, and writes
 * their number to *count. `one` points to the message of this turn; if no other message joins the batch, returns `one`.
 * In a turn. Does not wait.
 */
const void *const *tr_self_batch(tr_self *self, const void *const *one, size_t *count);
TR_END_C

#ifdef __cplusplus
#include <troupe/detail/handler_cxx.h>
#else
#include <troupe/detail/handler_c.h>
#endif

#pragma GCC system_header

/* clang-format off */

/*
 * Puts a pointer to each behavior of a program into one section. tr_app_run makes the schema of the
 * program from this list.
 */
#define TR_LISTED_ __attribute__((__used__, __section__("tr_behaviors")))

#define TR_BEHAVIOR_(b, S, ...) TR_PP_IF_TUPLE(S)(TR_BEHAVIOR_STATELESS_, TR_BEHAVIOR_OF_)(b, S, __VA_ARGS__)
#define TR_BEHAVIOR_STATELESS_(b, S, ...) \
    TR_STATIC_ASSERT(TR_ABI < 0, "troupe: TR_BEHAVIOR(" #b ", state, clauses...): the state is missing; " \
        "without one write void")
#define TR_BEHAVIOR_OF_(b, S, ...) \
    TR_QUIET_ \
    TR_BEHAVIOR_DECLARE(b); \
    TR_CHECK_STATE_(b, S); \
    TR_PP_EACH(TR_CLAUSE_CODE_, (TR_IN_CODE, b, S), __VA_ARGS__) \
    static const tr_handler tr_handlers_##b[] = { \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_ROW, b, S), __VA_ARGS__) \
        { NULL, NULL, NULL, NULL, false, false, 0, NULL, false, NULL, NULL, NULL, NULL } \
    }; \
    TR_MAY_BE_UNUSED static const tr_child_spec tr_children_##b[] = { \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_KID, b, S), __VA_ARGS__) \
        { NULL, NULL, { NULL, NULL }, TR_TABLE_ZERO_(tr_restart), false, NULL } \
    }; \
    const tr_behavior tr_behavior_##b = TR_TABLE_(tr_behavior) { \
        .abi = TR_ABI, .handler_size = sizeof(tr_handler), .size = sizeof(tr_behavior), \
        .name = #b, .file = __FILE__, .line = __LINE__, \
        .state_name = #S, .state_size = TR_STATE_SIZE_(S), \
        .handlers = tr_handlers_##b, \
        .handler_count = sizeof(tr_handlers_##b) / sizeof(tr_handler) - 1, \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_INIT, b, S), __VA_ARGS__) \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_OPTS, b, S), __VA_ARGS__) \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_WARD, b, S), __VA_ARGS__) \
        .children = tr_children_##b, \
        .child_count = sizeof(tr_children_##b) / sizeof(tr_child_spec) - 1, \
    }; \
    TR_LISTED_ static const tr_behavior *const tr_listed_##b = &tr_behavior_##b; \
    TR_QUIET_END_ \
    TR_STATIC_ASSERT(TR_ABI > 0, "")

/*
 * A clause is a tuple (TR_CLAUSE_ON, ...). In each pass, such as TR_IN_CODE, it expands to TR_IN_CODE_TR_CLAUSE_ON(b,
 * S, ...). Each of these words begins with TR_, because a macro of the application with the same name would replace the
 * word during the expansion.
 */
#define TR_CLAUSE_(c, x) TR_PP_IF_TUPLE(x)(TR_CLAUSE_WHOLE_, TR_CLAUSE_SKIP_)(c, x)
#define TR_CLAUSE_WHOLE_(c, x) \
    TR_PP_IF_TUPLE(TR_PP_BEHIND(x))(TR_CLAUSE_SKIP_, TR_CLAUSE_TUPLE_)(c, x)
#define TR_CLAUSE_SKIP_(c, x)
#define TR_CLAUSE_TUPLE_(c, x) TR_CLAUSE_SPREAD_(TR_PP_UNTUPLE c, TR_PP_UNTUPLE x)
#define TR_CLAUSE_SPREAD_(...) TR_CLAUSE_EMIT_(__VA_ARGS__)
#define TR_CLAUSE_EMIT_(pass, b, S, kind, ...) pass##_##kind(b, S, __VA_ARGS__)
#define TR_CLAUSE_CODE_(c, x) TR_PP_IF_TUPLE(x)(TR_CLAUSE_CODE_WHOLE_, TR_CLAUSE_BAD_)(c, x)
#define TR_CLAUSE_CODE_WHOLE_(c, x) \
    TR_PP_IF_TUPLE(TR_PP_BEHIND(x))(TR_CLAUSE_TWO_, TR_CLAUSE_TUPLE_)(c, x)
#define TR_CLAUSE_TWO_(c, x) \
    TR_STATIC_ASSERT(TR_ABI < 0, "troupe: a comma is missing between two clauses of TR_BEHAVIOR");
#define TR_CLAUSE_BAD_(c, x) \
    TR_STATIC_ASSERT(sizeof(#x) == 1, \
        "troupe: each clause of TR_BEHAVIOR is TR_ON(...), TR_SETUP(...), ...; not: " #x);

/*
 * The first pass defines a function for each clause. All these functions have the type of
 * tr_handler.call; each calls the handler of its clause.
 */
#define TR_IN_CODE_TR_CLAUSE_ON(b, S, m, h, ...) \
    TR_NAME_(m) \
    TR_CHECK_ON_(S, m, "TR_ON(" #m ", " #h ")", h); \
    static tr_next tr_call_##b##_##m(tr_self *self, void *state, const void *message) \
    { \
        return TR_INVOKE_(h, S, struct m, self, state, message); \
    }
#define TR_IN_CODE_TR_CLAUSE_BARRIER(b, S, m, f, h, ...) \
    TR_CHECK_FILTER_(struct m, "TR_ON_BARRIER_IF(" #m ", " #f ", " #h ")", "predicate", f); \
    TR_FILTER_CODE_(b, m, f) \
    TR_IN_CODE_TR_CLAUSE_ON(b, S, m, h, )
#define TR_IN_CODE_TR_CLAUSE_BATCH(b, S, m, h, ...) \
    TR_BATCH_CODE_(b, S, m, h, "TR_ON_BATCH(" #m ", " #h ")")
#define TR_IN_CODE_TR_CLAUSE_BATCH_IF(b, S, m, f, h, ...) \
    TR_CHECK_FILTER_(struct m, "TR_ON_BATCH_IF(" #m ", " #f ", " #h ")", "filter", f); \
    TR_FILTER_CODE_(b, m, f) \
    TR_BATCH_CODE_(b, S, m, h, "TR_ON_BATCH_IF(" #m ", " #f ", " #h ")")
#define TR_FILTER_CODE_(b, m, f) \
    static bool tr_filter_##b##_##m(const void *message) \
    { \
        return TR_INVOKE_FILTER_(f, struct m, message); \
    }
#define TR_BATCH_CODE_(b, S, m, h, clause) \
    TR_NAME_(m) \
    TR_CHECK_BATCH_(S, struct m, clause, h); \
    static tr_next tr_call_##b##_##m(tr_self *self, void *state, const void *message) \
    { \
        size_t count; \
        const void *const *messages = tr_self_batch(self, &message, &count); \
        return TR_INVOKE_BATCH_(h, S, struct m, self, state, messages, count); \
    }
#define TR_IN_CODE_TR_CLAUSE_ANY(b, S, h, ...) \
    TR_CHECK_HANDLER_(S, tr_message, "TR_ON_ANY(" #h ")", h); \
    static tr_next tr_call_any_##b(tr_self *self, void *state, const void *message) \
    { \
        return TR_INVOKE_(h, S, tr_message, self, state, message); \
    }
#define TR_IN_CODE_TR_CLAUSE_SETUP(b, S, m, h, ...) \
    TR_CHECK_HANDLER_(S, struct m, "TR_SETUP(" #h ")", h); \
    static tr_next tr_setup_##b(tr_self *self, void *state, const void *message) \
    { \
        return TR_INVOKE_(h, S, struct m, self, state, message); \
    }
#define TR_IN_CODE_TR_CLAUSE_OPTIONS(b, S, ...)
#define TR_IN_CODE_TR_CLAUSE_SUPERVISE(b, S, ...)
#define TR_IN_CODE_TR_CLAUSE_CHILD(b, S, a, ...) TR_BEHAVIOR_DECLARE(a);

/*
 * __VA_ARGS__ has the members of tr_handler that the program wrote after the handler of TR_ON, and
 * the comma that TR_ON has added.
 */
#define TR_IN_ROW_TR_CLAUSE_ON(b, S, m, h, ...) TR_TABLE_(tr_handler) \
    { .type = &tr_type_##m, .call = tr_call_##b##_##m, .name = #h, __VA_ARGS__ },
#define TR_IN_ROW_TR_CLAUSE_BARRIER(b, S, m, f, h, ...) TR_TABLE_(tr_handler) \
    { .type = &tr_type_##m, .call = tr_call_##b##_##m, .name = #h, \
      __VA_ARGS__ .barrier_if = tr_filter_##b##_##m },
#define TR_IN_ROW_TR_CLAUSE_BATCH(b, S, m, h, ...) TR_TABLE_(tr_handler) \
    { .type = &tr_type_##m, .call = tr_call_##b##_##m, .name = #h, .is_batch = true, __VA_ARGS__ },
#define TR_IN_ROW_TR_CLAUSE_BATCH_IF(b, S, m, f, h, ...) TR_TABLE_(tr_handler) \
    { .type = &tr_type_##m, .call = tr_call_##b##_##m, .name = #h, \
      .filter = tr_filter_##b##_##m, .is_batch = true, __VA_ARGS__ },
#define TR_IN_ROW_TR_CLAUSE_ANY(b, S, h, extra) \
    { NULL, tr_call_any_##b, #h, NULL, false, false, 0, NULL, false, NULL, NULL, NULL, NULL },
#define TR_IN_ROW_TR_CLAUSE_SETUP(b, S, ...)
#define TR_IN_ROW_TR_CLAUSE_OPTIONS(b, S, ...)
#define TR_IN_ROW_TR_CLAUSE_SUPERVISE(b, S, ...)
#define TR_IN_ROW_TR_CLAUSE_CHILD(b, S, ...)

#define TR_IN_INIT_TR_CLAUSE_SETUP(b, S, m, h, extra) .setup = { &tr_type_##m, tr_setup_##b },
#define TR_IN_INIT_TR_CLAUSE_ON(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_BARRIER(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_BATCH(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_BATCH_IF(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_ANY(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_OPTIONS(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_SUPERVISE(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_CHILD(b, S, ...)

#define TR_IN_OPTS_TR_CLAUSE_OPTIONS(b, S, ...) .options = { __VA_ARGS__ },
#define TR_IN_OPTS_TR_CLAUSE_ON(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_BARRIER(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_BATCH(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_BATCH_IF(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_ANY(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_SETUP(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_SUPERVISE(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_CHILD(b, S, ...)

/* __VA_ARGS__ of TR_SUPERVISE has members of tr_supervision; that of TR_CHILD has members of tr_child_spec. */
#define TR_IN_WARD_TR_CLAUSE_SUPERVISE(b, S, s, ...) .supervision = { .strategy = s, __VA_ARGS__ },
#define TR_IN_WARD_TR_CLAUSE_OPTIONS(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_ON(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_BARRIER(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_BATCH(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_BATCH_IF(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_ANY(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_SETUP(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_CHILD(b, S, ...)

#define TR_IN_KID_TR_CLAUSE_CHILD(b, S, a, n, ...) TR_TABLE_(tr_child_spec) \
    { .behavior = &tr_behavior_##a, .name = n, __VA_ARGS__ },
#define TR_IN_KID_TR_CLAUSE_SUPERVISE(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_OPTIONS(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_ON(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_BARRIER(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_BATCH(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_BATCH_IF(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_ANY(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_SETUP(b, S, ...)

#define TR_WITH_(m, ...) { &tr_type_##m, TR_MAKE_STATIC_(m, { __VA_ARGS__ }) }

#endif
