/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of group.h call its functions, and what TR_ROUTES makes.
 */
#ifndef TROUPE_DETAIL_GROUP_H
#define TROUPE_DETAIL_GROUP_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#include <troupe/detail/group_cxx.h>
#define TR_GATHER_INTO_(asks, m) (&static_cast<m##_ask *>(asks)->any)
#else
#define TR_GROUP_ARGS_(members, routes) \
    (&(const tr_group_args){ sizeof(tr_group_args), members, routes })
#define TR_GATHER_INTO_(asks, m) (&_Generic((asks), m##_ask *: (asks))->any)
#define TR_SPAWN_GROUP_CALL_(self, args, group) \
    (TR_REQUIRE_SELF_(self, "spawn_group"), tr_self_spawn_group(TR_IF_SELF_(self), args, group))
#endif

/* Calls TR_SPAWN_GROUP_1 if there is no set-up message, else TR_SPAWN_GROUP_0. */
#define TR_SPAWN_GROUP_(self, routes, a, name, ...) \
    TR_PP_CAT(TR_SPAWN_GROUP_, TR_PP_IS_ONE(__VA_ARGS__))(self, routes, a, name, __VA_ARGS__)
#define TR_SPAWN_GROUP_1(self, routes, a, name, members) \
    a##_ref_of(TR_SPAWN_GROUP_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, NULL, NULL, NULL), \
        TR_GROUP_ARGS_(members, routes)))
#define TR_SPAWN_GROUP_0(self, routes, a, name, members, ...) \
    TR_SPAWN_GROUP_WITH_(self, routes, a, name, members, \
        TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_SPAWN_GROUP_WITH_(...) TR_SPAWN_GROUP_WITH__(__VA_ARGS__)
#define TR_SPAWN_GROUP_WITH__(self, routes, a, name, members, m, ...) \
    a##_ref_of(TR_SPAWN_GROUP_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), NULL), \
        TR_GROUP_ARGS_(members, routes)))

#define TR_TRY_SPAWN_GROUP_(from, ref, routes, a, name, ...) \
    TR_PP_CAT(TR_TRY_SPAWN_GROUP_, TR_PP_IS_ONE(__VA_ARGS__))(from, ref, routes, a, name, __VA_ARGS__)
#define TR_TRY_SPAWN_GROUP_1(from, ref, routes, a, name, members) \
    TR_SPEAKER_(from, try_spawn_group)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, NULL, NULL, NULL), \
        TR_GROUP_ARGS_(members, routes), TR_REF_OUT_(ref, a))
#define TR_TRY_SPAWN_GROUP_0(from, ref, routes, a, name, members, ...) \
    TR_TRY_SPAWN_GROUP_WITH_(from, ref, routes, a, name, members, \
        TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TRY_SPAWN_GROUP_WITH_(...) TR_TRY_SPAWN_GROUP_WITH__(__VA_ARGS__)
#define TR_TRY_SPAWN_GROUP_WITH__(from, ref, routes, a, name, members, m, ...) \
    TR_SPEAKER_(from, try_spawn_group)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, -1, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), NULL), \
        TR_GROUP_ARGS_(members, routes), TR_REF_OUT_(ref, a))

#define TR_GATHER_(self, timeout, group, asks, max, m, ...) \
    (tr_self_at(self, TR_HERE_), \
        tr_self_gather(self, TR_TO_(group, m), &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }), timeout, \
            TR_GATHER_INTO_(asks, m), max))

/* A route is a tuple (TR_ROUTED_BY, message, what). The empty item after the last comma is skipped. */
#define TR_ROUTES_(a, ...) \
    TR_PP_EACH(TR_ROUTE_CODE_, a, __VA_ARGS__) \
    TR_MAY_BE_UNUSED static const tr_route tr_routes_##a[] = { \
        TR_PP_EACH(TR_ROUTE_ROW_, a, __VA_ARGS__) \
        { NULL, NULL, 0 } \
    }
#define TR_ROUTE_SKIP_(a, x)
#define TR_ROUTE_CODE_(a, x) TR_PP_IF_TUPLE(x)(TR_ROUTE_CODE_TUPLE_, TR_ROUTE_SKIP_)(a, x)
#define TR_ROUTE_ROW_(a, x) TR_PP_IF_TUPLE(x)(TR_ROUTE_ROW_TUPLE_, TR_ROUTE_SKIP_)(a, x)
#define TR_ROUTE_CODE_TUPLE_(a, x) TR_ROUTE_SPREAD_(TR_IN_CODE, a, TR_PP_UNTUPLE x)
#define TR_ROUTE_ROW_TUPLE_(a, x) TR_ROUTE_SPREAD_(TR_IN_ROW, a, TR_PP_UNTUPLE x)
#define TR_ROUTE_SPREAD_(...) TR_ROUTE_EMIT_(__VA_ARGS__)
#define TR_ROUTE_EMIT_(pass, a, kind, m, what) pass##_##kind(a, m, what)
/* The actor must accept the message: its union has a member with that name. */
#define TR_IN_CODE_TR_ROUTED_BY(a, m, field) \
    TR_STATIC_ASSERT(sizeof(((union a##_accepts *)0)->m) == 1, "");
#define TR_IN_CODE_TR_ROUTED_WITH(a, m, function) \
    TR_STATIC_ASSERT(sizeof(((union a##_accepts *)0)->m) == 1, ""); \
    static uint64_t tr_route_##a##_##m(const void *message) \
    { \
        const struct m *typed = (const struct m *)message; \
        return function(typed); \
    }
#define TR_IN_ROW_TR_ROUTED_BY(a, m, field) { &tr_type_##m, NULL, offsetof(struct m, field) },
#define TR_IN_ROW_TR_ROUTED_WITH(a, m, function) { &tr_type_##m, tr_route_##a##_##m, 0 },

#endif
