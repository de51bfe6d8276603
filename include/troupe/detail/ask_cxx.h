/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of ask.h in C++17. If a verb ends the turn, it unwinds the stack; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_ASK_CXX_H
#define TROUPE_DETAIL_ASK_CXX_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#include <initializer_list>

inline tr_pending tr_speak_ask_(tr_self *from, tr_ref to, const tr_type *type, const void *message,
                                tr_time timeout_ns)
{
    return tr_self_ask(from, to, type, message, timeout_ns);
}
inline tr_pending tr_speak_ask_(tr_client *from, tr_ref to, const tr_type *type,
                                const void *message, tr_time timeout_ns)
{
    return tr_client_ask(from, to, type, message, timeout_ns);
}
inline tr_status tr_speak_try_await_(tr_self *from, tr_pending ask, const void **reply)
{
    return tr_self_try_await(from, ask, reply);
}
inline tr_status tr_speak_try_await_(tr_client *from, tr_pending ask, const void **reply)
{
    return tr_client_try_await(from, ask, reply);
}

inline void tr_speak_at_(tr_self *from, const char *where)
{
    tr_self_at(from, where);
}
inline void tr_speak_at_(tr_client *from, const char *where)
{
    tr_client_at(from, where);
}

template <class Reply> inline Reply tr_await_cxx_(tr_self *self, tr_pending ask)
{
#ifdef __cpp_exceptions
    const void *reply = nullptr;
    if (tr_self_try_await(self, ask, &reply) != TR_OK)
        throw tr_turn_over_{ tr_self_give_up(self, ask) };
    return static_cast<Reply>(reply);
#else
    return static_cast<Reply>(tr_self_await(self, ask));
#endif
}
template <class Reply> inline const void **tr_reply_out_(Reply *out)
{
    return reinterpret_cast<const void **>(out);
}
inline tr_status tr_await_all_cxx_(tr_self *self, std::initializer_list<tr_pending> asks)
{
    return tr_self_await_all(self, asks.begin(), asks.size());
}
inline tr_status tr_await_any_cxx_(tr_self *self, size_t *index,
                                   std::initializer_list<tr_pending> asks)
{
    return tr_self_await_any(self, index, asks.begin(), asks.size());
}

inline bool tr_speak_is_answered_(tr_self *from, tr_pending ask)
{
    return tr_self_is_answered(from, ask);
}
inline bool tr_speak_is_answered_(tr_client *from, tr_pending ask)
{
    return tr_client_is_answered(from, ask);
}
inline const tr_error *tr_speak_ask_error_(tr_self *from, tr_pending ask)
{
    return tr_self_ask_error(from, ask);
}
inline const tr_error *tr_speak_ask_error_(tr_client *from, tr_pending ask)
{
    return tr_client_ask_error(from, ask);
}
inline tr_status tr_speak_ask_cancel_(tr_self *from, tr_pending ask)
{
    return tr_self_ask_cancel(from, ask);
}
inline tr_status tr_speak_ask_cancel_(tr_client *from, tr_pending ask)
{
    return tr_client_ask_cancel(from, ask);
}
inline tr_status tr_cxx_try_ask_then_(tr_self *self, const tr_then *then, void *context, tr_ref to,
                                      const void *message, tr_time timeout_ns)
{
    return tr_self_try_ask_then(self, then, context, to, message, timeout_ns);
}
inline void tr_cxx_ask_then_(tr_self *self, const tr_then *then, void *context, tr_ref to,
                             const void *message, tr_time timeout_ns)
{
#ifdef __cpp_exceptions
    tr_status status = tr_self_try_ask_then(self, then, context, to, message, timeout_ns);
    if (status != TR_OK)
        throw tr_turn_over_{ tr_fail(self, status, "tr_ask_then: %s", tr_status_text(status)) };
#else
    tr_self_ask_then(self, then, context, to, message, timeout_ns);
#endif
}

#define TR_THEN_CALL_(verb) tr_cxx_##verb##_
#define TR_IS_THEN_(n, m) (std::is_same<tr_then_of_##n, tr_struct_##m>::value)
#define TR_REPLY_AS_(ask, pointer) static_cast<decltype((ask).reply)>(pointer)
#define TR_REPLY_OF_(ask) decltype((ask).reply)
#define TR_REPLY_OUT_(ask, out) tr_reply_out_<TR_REPLY_OF_(ask)>(out)
#define TR_AWAIT_(self, ask) \
    (tr_self_at(self, TR_HERE_), tr_await_cxx_<TR_REPLY_OF_(ask)>(self, (ask).any))
#define TR_AWAIT_MANY_(verb, self, ...) \
    (tr_self_at(self, TR_HERE_), tr_await_##verb##_cxx_(self, { TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }))
#define TR_AWAIT_ANY_(self, index, ...) \
    (tr_self_at(self, TR_HERE_), \
        tr_await_any_cxx_(self, index, { TR_PP_EACH(TR_ANY_OF_, ~, __VA_ARGS__) }))

#endif
