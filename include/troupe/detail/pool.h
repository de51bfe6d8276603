/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of pool.h call its functions.
 */
#ifndef TROUPE_DETAIL_POOL_H
#define TROUPE_DETAIL_POOL_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#include <troupe/detail/pool_cxx.h>
#else
#define TR_POOL_SPAWN_CALL_(self, args) \
    (TR_REQUIRE_SELF_(self, "pool_spawn"), tr_self_pool_spawn(TR_IF_SELF_(self), args))
#endif

/* Calls TR_POOL_SPAWN_1 if there is no set-up message, else TR_POOL_SPAWN_0. */
#define TR_POOL_SPAWN_(self, a, ...) \
    TR_PP_CAT(TR_POOL_SPAWN_, TR_PP_IS_ONE(__VA_ARGS__))(self, a, __VA_ARGS__)
#define TR_POOL_SPAWN_1(self, a, name) \
    a##_ref_of(TR_POOL_SPAWN_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, NULL, NULL, NULL)))
#define TR_POOL_SPAWN_0(self, a, name, ...) TR_POOL_SPAWN_WITH_(self, a, name, \
    TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_POOL_SPAWN_WITH_(...) TR_POOL_SPAWN_WITH__(__VA_ARGS__)
#define TR_POOL_SPAWN_WITH__(self, a, name, m, ...) \
    a##_ref_of(TR_POOL_SPAWN_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), NULL)))

#define TR_TRY_POOL_SPAWN_(from, ref, error, a, ...) \
    TR_PP_CAT(TR_TRY_POOL_SPAWN_, TR_PP_IS_ONE(__VA_ARGS__))(from, ref, error, a, __VA_ARGS__)
#define TR_TRY_POOL_SPAWN_1(from, ref, error, a, name) \
    TR_SPEAKER_(from, try_pool_spawn)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, NULL, NULL, error), \
        TR_REF_OUT_(ref, a))
#define TR_TRY_POOL_SPAWN_0(from, ref, error, a, name, ...) \
    TR_TRY_POOL_SPAWN_WITH_(from, ref, error, a, name, \
        TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TRY_POOL_SPAWN_WITH_(...) TR_TRY_POOL_SPAWN_WITH__(__VA_ARGS__)
#define TR_TRY_POOL_SPAWN_WITH__(from, ref, error, a, name, m, ...) \
    TR_SPEAKER_(from, try_pool_spawn)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), error), \
        TR_REF_OUT_(ref, a))

/*
 * __VA_ARGS__ has the members of tr_child_spec that the program wrote behind the name, and the
 * comma that TR_POOLED added.
 */
#define TR_POOLED_(a, n, ...) TR_TABLE_(tr_child_spec) \
    { .behavior = &tr_behavior_##a, .name = n, __VA_ARGS__ }

#endif
