/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of durable.h work.
 */
#ifndef TROUPE_DETAIL_DURABLE_H
#define TROUPE_DETAIL_DURABLE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#include <troupe/detail/durable_cxx.h>
#else
#define TR_DURABLE_REF_(self, a, key) \
    a##_ref_of((TR_REQUIRE_SELF_(self, "durable"), tr_self_durable(TR_IF_SELF_(self), &tr_durable_##a, key)))
#define TR_DURABLES_(...) \
    (&(const tr_durables){ sizeof(tr_durables), tr_durable_start, \
        (const tr_durable_kind *const[]){ TR_PP_EACH(TR_DURABLES_KIND_, ~, __VA_ARGS__) NULL } })
#define TR_MIGRATIONS_(...) \
    ((const tr_migration *const[]){ TR_PP_EACH(TR_MIGRATIONS_KIND_, ~, __VA_ARGS__) NULL })
#endif
#define TR_DURABLE_KEY_(key) tr_durable_key_(key)
TR_INLINE tr_bytes tr_durable_key_(const char *key)
{
    return TR_VALUE(tr_bytes, key, key ? __builtin_strlen(key) : 0);
}

#define TR_DURABLE_(a, s, ...) \
    TR_DURABLE_DECLARE(a); \
    TR_QUIET_ \
    const tr_durable_kind tr_durable_##a = TR_TABLE_(tr_durable_kind) { \
        .size = sizeof(tr_durable_kind), .name = #a, .behavior = &tr_behavior_##a, \
        .state = &tr_type_##s, .options = { __VA_ARGS__ }, \
    }; \
    TR_QUIET_END_ \
    TR_STATIC_ASSERT(TR_ABI > 0, "")

#define TR_DURABLES_KIND_(c, a) &tr_durable_##a,

#define TR_MIGRATION_(n, v, f, t, function) \
    static tr_status tr_migrate_##n(tr_self *self, const void *from, void *to) \
    { \
        return function(self, (const struct f *)from, (struct t *)to); \
    } \
    static const tr_migration tr_migration_##n = { v, &tr_type_##f, &tr_type_##t, tr_migrate_##n }
#define TR_MIGRATIONS_KIND_(c, n) &tr_migration_##n,

/* The name of the variable contains the line number, because blocks of TR_HOLD_ can be nested. */
#define TR_HOLD_(self, awake, what) TR_HOLD__(self, awake, what, TR_PP_CAT(tr_hold_, __LINE__))
#define TR_HOLD__(self, awake, what, hold) \
    for (tr_hold hold __attribute__((__cleanup__(tr_hold_release))) = \
             tr_self_hold(self, awake, what, __FILE__, __LINE__); \
         hold.number; tr_hold_release(&hold))

#endif
