/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_TOPIC makes a topic type, and how the macros of topic.h call its functions.
 */
#ifndef TROUPE_DETAIL_TOPIC_H
#define TROUPE_DETAIL_TOPIC_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#include <troupe/detail/topic_cxx.h>
#else
#define TR_TOPIC_OPEN_(self, name) \
    (TR_REQUIRE_SELF_(self, "topic_open"), tr_self_topic_open(TR_IF_SELF_(self), name))
#define TR_TOPIC_OUT_(out, t) \
    (&_Generic((out), t##_topic *: (out), default: (t##_topic *)0)->bits + \
        TR_REQUIRE_(_Generic((out), t##_topic *: 1, default: 0), \
            "troupe: tr_try_topic_open of " #t " writes into a " #t "_topic *"))
#endif

#define TR_TOPIC_(t, ...) \
    union t##_topic_accepts { \
        char tr_none; \
        TR_PP_EACH(TR_ACCEPTS_, t, __VA_ARGS__) \
    }; \
    typedef union t##_topic { \
        uint64_t bits; \
        union t##_topic_accepts *accepts; \
    } t##_topic; \
    TR_INLINE t##_topic t##_topic_of(uint64_t bits) \
    { \
        t##_topic topic; \
        topic.bits = bits; \
        return topic; \
    } \
    TR_STATIC_ASSERT(sizeof(t##_topic) == 8, "")

#define TR_PUBLISH_(from, topic, m, ...) \
    TR_SPEAKER_(from, publish)(from, tr_topic_from_bits(TR_TO_(topic, m).bits), &tr_type_##m, \
        TR_MAKE_(m, { __VA_ARGS__ }))
#define TR_PUBLISH_COPY_(from, topic, m, pointer) \
    TR_SPEAKER_(from, publish)(from, tr_topic_from_bits(TR_TO_(topic, m).bits), &tr_type_##m, \
        TR_TYPED_(m, pointer))

#endif
