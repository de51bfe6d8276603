/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of ask.h call its functions.
 */
#ifndef TROUPE_DETAIL_ASK_H
#define TROUPE_DETAIL_ASK_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#include <troupe/detail/ask_cxx.h>
#else
#define TR_REPLY_OF_(ask) __typeof__((ask).reply)
#define TR_REPLY_AS_(ask, pointer) (pointer)
#define TR_THEN_CALL_(verb) tr_self_##verb
#define TR_IS_THEN_(n, m) _Generic((tr_then_of_##n *)0, struct m *: 1, default: 0)
#define TR_REPLY_OUT_(ask, out) \
    ((void)TR_REQUIRE_HERE_(_Generic((out), TR_REPLY_OF_(ask) *: 1, void *: 1, default: 0), \
        "troupe: tr_try_await writes the reply into a pointer to what the request declares"), \
    (const void **)_Generic((out), TR_REPLY_OF_(ask) *: (out), default: (void *)0))
#define TR_AWAIT_(self, ask) \
    (TR_REQUIRE_SELF_(self, "await"), tr_self_at(self, TR_HERE_), \
        (TR_REPLY_OF_(ask))tr_self_await(self, (ask).any))
#define TR_AWAIT_MANY_(verb, self, ...) (tr_self_at(self, TR_HERE_), \
    tr_self_await_##verb(self, (const tr_pending[]){ TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }, \
        sizeof((const tr_pending[]){ TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }) / sizeof(tr_pending)))
#define TR_AWAIT_ANY_(self, index, ...) (tr_self_at(self, TR_HERE_), \
    tr_self_await_any(self, index, \
        (const tr_pending[]){ TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }, \
        sizeof((const tr_pending[]){ TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }) / sizeof(tr_pending)))
#endif
#define TR_ASKS_OF_(asks) \
    ((void)TR_REQUIRE_(sizeof(*(asks)) == sizeof(tr_pending), "troupe: these are no asks"), &(asks)->any)
#define TR_AWAIT_ALL_OF_(self, asks, count) \
    (tr_self_at(self, TR_HERE_), tr_self_await_all(self, TR_ASKS_OF_(asks), count))
#define TR_AWAIT_ANY_OF_(self, index, asks, count) \
    (tr_self_at(self, TR_HERE_), tr_self_await_any(self, index, TR_ASKS_OF_(asks), count))
#define TR_ANY_OF_(c, ask) (ask).any,
#define TR_LINE_(line) TR_LINE__(line)
#define TR_LINE__(line) #line
#define TR_HERE_ __FILE__ ":" TR_LINE_(__LINE__)
#define TR_AT_(from) TR_SPEAKER_(from, at)(from, TR_HERE_)

#define TR_ASK_(from, timeout, to, m, ...) \
    TR_VALUE(m##_ask, TR_SPEAKER_(from, ask)(from, TR_TO_(to, m), &tr_type_##m, \
        TR_MAKE_(m, { __VA_ARGS__ }), timeout))
#define TR_ASK_THEN_(verb, self, n, context, timeout, to, m, ...) \
    ((void)TR_REQUIRE_(TR_IS_THEN_(n, m), \
        "troupe: tr_ask_then: " #n " was declared with TR_THEN for another request than " #m), \
    TR_THEN_CALL_(verb)(self, &tr_then_##n, context, TR_TO_(to, m), TR_MAKE_(m, { __VA_ARGS__ }), \
        timeout))
#define TR_THEN_(n, m, S, h) \
    TR_CHECK_HANDLER_(S, m##_answer, "TR_THEN(" #n ", " #m ")", h); \
    static tr_next tr_then_call_##n(tr_self *self, void *state, const void *message) \
    { \
        tr_answer any = tr_self_answer(self); \
        m##_answer answer; \
        (void)message; \
        answer.status = any.status; \
        answer.reply = TR_REPLY_AS_(answer, any.reply); \
        answer.why = any.why; \
        answer.context = any.context; \
        return TR_INVOKE_(h, S, m##_answer, self, state, &answer); \
    } \
    typedef struct m tr_then_of_##n; \
    TR_MAY_BE_UNUSED static const tr_then tr_then_##n = { \
        #S, TR_STATE_SIZE_(S), { &tr_type_##m, tr_then_call_##n, #h, NULL, false, false, 0, NULL, false, NULL, NULL, NULL, NULL } \
    }
#define TR_REPLY_TO_(self, later, m, ...) \
    tr_self_reply_to(self, later, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }))

#endif
