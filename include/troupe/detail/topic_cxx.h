/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of topic.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_TOPIC_CXX_H
#define TROUPE_DETAIL_TOPIC_CXX_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_TOPIC_OUT_(out, t) (&static_cast<t##_topic *>(out)->bits)

#define TR_SPEAKERS_(verb) \
    template <class... TR_A> inline auto tr_speak_##verb##_(tr_self *from, TR_A... a) \
    { \
        return tr_self_##verb(from, a...); \
    } \
    template <class... TR_A> inline auto tr_speak_##verb##_(tr_client *from, TR_A... a) \
    { \
        return tr_client_##verb(from, a...); \
    }
TR_SPEAKERS_(try_topic_open)
TR_SPEAKERS_(topic_close)
TR_SPEAKERS_(topic_count)
TR_SPEAKERS_(try_subscribe)
TR_SPEAKERS_(unsubscribe)
TR_SPEAKERS_(publish)
#undef TR_SPEAKERS_

inline tr_status tr_speak_subscribe_(tr_client *client, tr_topic topic)
{
    return tr_client_subscribe(client, topic);
}

#ifdef __cpp_exceptions
inline tr_status tr_speak_subscribe_(tr_self *self, tr_topic topic)
{
    tr_status status = tr_self_try_subscribe(self, topic);
    if (status != TR_OK)
        throw tr_turn_over_{ tr_fail(self, status, "tr_subscribe: %s", tr_status_text(status)) };
    return TR_OK;
}
#define TR_TOPIC_OPEN_(self, name) tr_topic_open_cxx_(self, name)
inline uint64_t tr_topic_open_cxx_(tr_self *self, const char *name)
{
    uint64_t bits = 0;
    tr_status status = tr_self_try_topic_open(self, name, &bits);
    if (status != TR_OK)
        throw tr_turn_over_{ tr_fail(self, status, "tr_topic_open: %s", tr_status_text(status)) };
    return bits;
}
#else
inline tr_status tr_speak_subscribe_(tr_self *self, tr_topic topic)
{
    return tr_self_subscribe(self, topic);
}
#define TR_TOPIC_OPEN_(self, name) tr_self_topic_open(self, name)
#endif

#endif
