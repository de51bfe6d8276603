/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of pool.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_POOL_CXX_H
#define TROUPE_DETAIL_POOL_CXX_H
#pragma GCC system_header

/* clang-format off */

inline tr_status tr_speak_try_pool_spawn_(tr_self *from, const tr_spawn_args *args, uint64_t *bits)
{
    return tr_self_try_pool_spawn(from, args, bits);
}
inline tr_status tr_speak_try_pool_spawn_(tr_client *from, const tr_spawn_args *args, uint64_t *bits)
{
    return tr_client_try_pool_spawn(from, args, bits);
}
inline tr_ref tr_speak_pool_find_(tr_self *from, const tr_behavior *behavior, const char *name)
{
    return tr_self_pool_find(from, behavior, name);
}
inline tr_ref tr_speak_pool_find_(tr_client *from, const tr_behavior *behavior, const char *name)
{
    return tr_client_pool_find(from, behavior, name);
}

#ifdef __cpp_exceptions
#define TR_POOL_SPAWN_CALL_(self, args) tr_pool_spawn_cxx_(self, args)
inline tr_ref tr_pool_spawn_cxx_(tr_self *self, const tr_spawn_args *args)
{
    tr_error error;
    tr_spawn_args with_error = *args;
    with_error.error = &error;
    uint64_t bits = 0;
    if (tr_self_try_pool_spawn(self, &with_error, &bits) != TR_OK)
        throw tr_turn_over_{ tr_fail(self, error.status, "%s", error.text) };
    return tr_ref_from_bits(bits);
}
#else
#define TR_POOL_SPAWN_CALL_(self, args) tr_self_pool_spawn(self, args)
#endif

#endif
