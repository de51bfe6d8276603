/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of durable.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_DURABLE_CXX_H
#define TROUPE_DETAIL_DURABLE_CXX_H
#pragma GCC system_header

/* clang-format off */

inline tr_status tr_speak_try_durable_(tr_self *from, const tr_durable_kind *kind, tr_bytes key,
                                       uint64_t *bits)
{
    return tr_self_try_durable(from, kind, key, bits);
}
inline tr_status tr_speak_try_durable_(tr_client *from, const tr_durable_kind *kind, tr_bytes key,
                                       uint64_t *bits)
{
    return tr_client_try_durable(from, kind, key, bits);
}

#define TR_DURABLE_REF_(self, a, key) a##_ref_of(tr_durable_cxx_(self, &tr_durable_##a, key))
inline tr_ref tr_durable_cxx_(tr_self *self, const tr_durable_kind *kind, tr_bytes key)
{
#ifdef __cpp_exceptions
    uint64_t bits = 0;
    tr_status status = tr_self_try_durable(self, kind, key, &bits);
    if (status != TR_OK)
        throw tr_turn_over_{ tr_fail(self, status, "tr_durable: %s", tr_status_text(status)) };
    return tr_ref_from_bits(bits);
#else
    return tr_self_durable(self, kind, key);
#endif
}

#define TR_DURABLES_(...) \
    ([]() -> const tr_durables * { \
        static const tr_durable_kind *const kinds[] = { \
            TR_PP_EACH(TR_DURABLES_KIND_, ~, __VA_ARGS__) nullptr }; \
        static const tr_durables all = { sizeof(tr_durables), tr_durable_start, kinds }; \
        return &all; \
    }())
#define TR_MIGRATIONS_(...) \
    ([]() -> const tr_migration *const * { \
        static const tr_migration *const all[] = { \
            TR_PP_EACH(TR_MIGRATIONS_KIND_, ~, __VA_ARGS__) nullptr }; \
        return all; \
    }())

#endif
