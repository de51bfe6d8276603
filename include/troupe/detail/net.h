/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How tr_listen and the endpoints work.
 *
 * For net.h only.
 */
#ifndef TROUPE_DETAIL_NET_H
#define TROUPE_DETAIL_NET_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

typedef struct tr_listen_args {
    size_t size;
    const tr_behavior *behavior;
    const tr_endpoint *at;
    const tr_type *setup_type;
    const void *setup;
} tr_listen_args;

TR_BEGIN_C
tr_ref tr_self_listen(tr_self *self, const tr_listen_args *args);
TR_MUST_CHECK tr_status tr_self_try_listen(tr_self *self, const tr_listen_args *args, uint64_t *ref_bits);
TR_END_C

#ifdef __cplusplus
#define TR_ENDPOINT_(kind_, ...) TR_ENDPOINT__(kind_, __VA_ARGS__)
#define TR_ENDPOINT__(kind_, address_, ...) \
    tr_address_(__extension__ tr_endpoint{ .size = sizeof(tr_endpoint), .kind = kind_, .address = address_, __VA_ARGS__ })
#define TR_LISTEN_ARGS_(...) tr_address_(tr_listen_args{ sizeof(tr_listen_args), __VA_ARGS__ })
#else
#define TR_ENDPOINT_(kind_, address_, ...) \
    (&(const tr_endpoint){ .size = sizeof(tr_endpoint), .kind = kind_, .address = address_, __VA_ARGS__ })
#define TR_LISTEN_ARGS_(...) (&(const tr_listen_args){ sizeof(tr_listen_args), __VA_ARGS__ })
#endif

#define TR_LISTEN_1(self, a, at) \
    tr_listener_ref_of(tr_self_listen(self, TR_LISTEN_ARGS_(&tr_behavior_##a, at, NULL, NULL)))
#define TR_LISTEN_0(self, a, at, ...) \
    TR_LISTEN_WITH_(self, a, at, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_LISTEN_WITH_(...) TR_LISTEN_WITH__(__VA_ARGS__)
#define TR_LISTEN_WITH__(self, a, at, m, ...) \
    tr_listener_ref_of(tr_self_listen(self, \
        TR_LISTEN_ARGS_(&tr_behavior_##a, at, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))))
#define TR_TRY_LISTEN_1(self, ref, a, at) \
    tr_self_try_listen(self, TR_LISTEN_ARGS_(&tr_behavior_##a, at, NULL, NULL), TR_REF_OUT_(ref, tr_listener))
#define TR_TRY_LISTEN_0(self, ref, a, at, ...) \
    TR_TRY_LISTEN_WITH_(self, ref, a, at, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TRY_LISTEN_WITH_(...) TR_TRY_LISTEN_WITH__(__VA_ARGS__)
#define TR_TRY_LISTEN_WITH__(self, ref, a, at, m, ...) \
    tr_self_try_listen(self, \
        TR_LISTEN_ARGS_(&tr_behavior_##a, at, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__)), \
        TR_REF_OUT_(ref, tr_listener))

#endif
