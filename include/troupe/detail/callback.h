/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_CALLBACK and tr_ask_callback work. For callback.h only.
 */
#ifndef TROUPE_DETAIL_CALLBACK_H
#define TROUPE_DETAIL_CALLBACK_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#define TR_IS_CALLBACK_(h, S, A) (std::is_same<decltype(&h), void (*)(S *, const A *)>::value)
#define TR_IS_CALLBACK_OF_(n, m) (std::is_same<tr_callback_of_##n, tr_struct_##m>::value)
#define TR_CALLBACK_CONTEXT_(n, c) static_cast<tr_callback_context_##n *>(c)
#else
#define TR_IS_CALLBACK_(h, S, A) _Generic(&(h), void (*)(S *, const A *): 1, default: 0)
#define TR_IS_CALLBACK_OF_(n, m) _Generic((tr_callback_of_##n *)0, struct m *: 1, default: 0)
#define TR_IS_CALLBACK_CONTEXT_(n, c) _Generic((c), void *: 1, \
    default: _Generic((tr_callback_context_##n *)0, void *: 1, default: \
        _Generic((tr_callback_context_##n *)0, __typeof__(1 ? (c) : (c)): 1, default: 0)))
#define TR_CALLBACK_CONTEXT_(n, c) \
    ((void)TR_REQUIRE_(TR_IS_CALLBACK_CONTEXT_(n, c), \
        "troupe: tr_ask_callback: the context is not of the type that TR_CALLBACK(" #n ") names"), (c))
#endif
#define TR_CALLBACK_(n, m, S, h) \
    TR_STATIC_ASSERT(TR_IS_CALLBACK_(h, S, m##_answer), \
        "troupe: TR_CALLBACK(" #n ", " #m "): " #h " must be void " #h "(" #S " *, const " #m \
        "_answer *)"); \
    static void tr_callback_call_##n(void *context, const tr_answer *any) \
    { \
        m##_answer answer; \
        answer.status = any->status; \
        answer.reply = TR_REPLY_AS_(answer, any->reply); \
        answer.why = any->why; \
        answer.context = context; \
        h((S *)context, &answer); \
    } \
    typedef struct m tr_callback_of_##n; \
    typedef S tr_callback_context_##n; \
    TR_MAY_BE_UNUSED static const tr_callback tr_callback_##n = { \
        &tr_type_##m, tr_callback_call_##n \
    }
#define TR_ASK_CALLBACK_(client, n, context, timeout, to, m, ...) \
    ((void)TR_REQUIRE_(TR_IS_CALLBACK_OF_(n, m), \
        "troupe: tr_ask_callback: " #n " was declared with TR_CALLBACK for another request than " #m), \
    tr_client_ask_callback(client, &tr_callback_##n, TR_CALLBACK_CONTEXT_(n, context), \
        TR_TO_(to, m), TR_MAKE_(m, { __VA_ARGS__ }), timeout))

#endif
