/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of keys.h call its functions.
 */
#ifndef TROUPE_DETAIL_KEYS_H
#define TROUPE_DETAIL_KEYS_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#define TR_DURABLE_RANGE_(...) tr_address_(__extension__ tr_durable_range{ .size = sizeof(tr_durable_range), __VA_ARGS__ })
inline tr_pending tr_speak_ask_key_(tr_self *from, const tr_durable_kind *kind, tr_bytes key,
                                    tr_bytes id, const tr_type *type, const void *message,
                                    tr_time timeout_ns)
{
    return tr_self_ask_key(from, kind, key, id, type, message, timeout_ns);
}
inline tr_pending tr_speak_ask_key_(tr_client *from, const tr_durable_kind *kind, tr_bytes key,
                                    tr_bytes id, const tr_type *type, const void *message,
                                    tr_time timeout_ns)
{
    return tr_client_ask_key(from, kind, key, id, type, message, timeout_ns);
}
inline tr_status tr_speak_durable_list_(tr_self *from, const tr_durable_kind *kind,
                                        const tr_durable_range *range, tr_durable_page *page,
                                        size_t size)
{
    return tr_self_durable_list(from, kind, range, page, size);
}
inline tr_status tr_speak_durable_list_(tr_client *from, const tr_durable_kind *kind,
                                        const tr_durable_range *range, tr_durable_page *page,
                                        size_t size)
{
    return tr_client_durable_list(from, kind, range, page, size);
}
inline tr_status tr_speak_durable_exists_(tr_self *from, const tr_durable_kind *kind, tr_bytes key)
{
    return tr_self_durable_exists(from, kind, key);
}
inline tr_status tr_speak_durable_exists_(tr_client *from, const tr_durable_kind *kind,
                                          tr_bytes key)
{
    return tr_client_durable_exists(from, kind, key);
}
inline tr_status tr_speak_durable_destroy_(tr_self *from, const tr_durable_kind *kind, tr_bytes key)
{
    return tr_self_durable_destroy(from, kind, key);
}
inline tr_status tr_speak_durable_destroy_(tr_client *from, const tr_durable_kind *kind,
                                           tr_bytes key)
{
    return tr_client_durable_destroy(from, kind, key);
}
#else
#define TR_DURABLE_RANGE_(...) (&(const tr_durable_range){ .size = sizeof(tr_durable_range), __VA_ARGS__ })
#endif

TR_INLINE tr_bytes tr_no_bytes_(void)
{
    return TR_VALUE(tr_bytes, NULL, 0);
}

/* The message must be one that the actor accepts, as if it were sent to a ref of the actor. */
#define TR_ASK_KEY_(from, timeout, a, key, id, m, ...) \
    TR_VALUE(m##_ask, ((void)TR_TO_(a##_ref_of(tr_ref_from_bits(0)), m), TR_SPEAKER_(from, ask_key)( \
        from, &tr_durable_##a, key, id, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }), timeout)))

#define TR_DURABLE_LIST_(from, a, page, ...) \
    TR_SPEAKER_(from, durable_list)(from, &tr_durable_##a, TR_DURABLE_RANGE_(__VA_ARGS__), page, \
        sizeof(tr_durable_page))

#endif
