/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of group.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_GROUP_CXX_H
#define TROUPE_DETAIL_GROUP_CXX_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_GROUP_ARGS_(members, routes) \
    tr_address_(tr_group_args{ sizeof(tr_group_args), members, routes })

inline tr_status tr_speak_try_spawn_group_(tr_self *from, const tr_spawn_args *spawn,
                                           const tr_group_args *group, uint64_t *ref_bits)
{
    return tr_self_try_spawn_group(from, spawn, group, ref_bits);
}
inline tr_status tr_speak_try_spawn_group_(tr_client *from, const tr_spawn_args *spawn,
                                           const tr_group_args *group, uint64_t *ref_bits)
{
    return tr_client_try_spawn_group(from, spawn, group, ref_bits);
}
inline size_t tr_speak_group_members_(tr_self *from, tr_ref group, tr_ref *members, size_t max)
{
    return tr_self_group_members(from, group, members, max);
}
inline size_t tr_speak_group_members_(tr_client *from, tr_ref group, tr_ref *members, size_t max)
{
    return tr_client_group_members(from, group, members, max);
}

#ifdef __cpp_exceptions
#define TR_SPAWN_GROUP_CALL_(self, args, group) tr_spawn_group_cxx_(self, args, group)
inline tr_ref tr_spawn_group_cxx_(tr_self *self, const tr_spawn_args *args,
                                  const tr_group_args *group)
{
    tr_error error;
    tr_spawn_args with_error = *args;
    with_error.error = &error;
    uint64_t bits = 0;
    if (tr_self_try_spawn_group(self, &with_error, group, &bits) != TR_OK)
        throw tr_turn_over_{ tr_fail(self, error.status, "%s", error.text) };
    return tr_ref_from_bits(bits);
}
#else
#define TR_SPAWN_GROUP_CALL_(self, args, group) tr_self_spawn_group(self, args, group)
#endif

#endif
