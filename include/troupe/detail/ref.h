/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_ACTOR makes a ref type, and how a verb checks that a ref accepts a message. For ref.h only.
 */
#ifndef TROUPE_DETAIL_REF_H
#define TROUPE_DETAIL_REF_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_ACTOR_(a, ...) \
    union a##_accepts { \
        char tr_none; \
        TR_PP_EACH(TR_ACCEPTS_, a, __VA_ARGS__) \
    }; \
    typedef union a##_ref { \
        uint64_t bits; \
        union a##_accepts *accepts; \
    } a##_ref; \
    TR_INLINE a##_ref a##_ref_of(tr_ref any) \
    { \
        a##_ref ref; \
        ref.bits = any.bits; \
        return ref; \
    } \
    TR_MAY_BE_UNUSED static const char tr_protocol_##a[] = TR_PP_STRING_(__VA_ARGS__); \
    TR_EXTERN_C const struct tr_behavior tr_behavior_##a; \
    /* this is a function, not a constant, so that only a file that spawns the actor needs its behavior */ \
    struct tr_spawnable_##a { const struct tr_behavior *behavior; const char *protocol; a##_ref ref; }; \
    TR_INLINE struct tr_spawnable_##a tr_spawnable_##a(void) \
    { \
        struct tr_spawnable_##a all = { &tr_behavior_##a, tr_protocol_##a, { 0 } }; \
        return all; \
    } \
    struct tr_spawnable_##a
#define TR_ACCEPTS_(a, m) TR_PP_CAT(TR_ACCEPTS_, TR_PP_IS_EMPTY(m))(m)
#define TR_ACCEPTS_0(m) char m;
#define TR_ACCEPTS_1(m)

/*
 * TR_TO_ gives the tr_ref of `to`. The compiler checks that the actor accepts message m: the union to which `accepts`
 * points must have a member m. For a plain tr_ref every message is accepted.
 */
#ifdef __cplusplus
template <class Probe> Probe *tr_accepts_of_(union tr_accepts_anything *);
template <class Probe, class Accepts> Accepts *tr_accepts_of_(Accepts *);
#define TR_TO_(to, m) tr_ref_checked_((to).bits, \
    sizeof(tr_accepts_of_<struct tr_message_##m>((to).accepts)->m))
#else
#define TR_TO_(to, m) tr_ref_checked_((to).bits, \
    sizeof(_Generic((to).accepts, \
        union tr_accepts_anything *: (struct { char m; } *)0, \
        default: (to).accepts)->m))
#endif
TR_INLINE tr_ref tr_ref_checked_(uint64_t bits, size_t proof)
{
    (void)proof;
    return tr_ref_from_bits(bits);
}

#endif
