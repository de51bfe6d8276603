/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_EXPOSE, the clause TR_GATEWAY and tr_gateway work. For gateway.h only.
 */
#ifndef TROUPE_DETAIL_GATEWAY_H
#define TROUPE_DETAIL_GATEWAY_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

/**
 * Messages to a session: an event that an actor sends to a connection, and the order to close a
 * connection.
 */
TR_MESSAGE(tr_gateway_event_, (u64, channel), (u64, number), (buffer, text));
TR_MESSAGE(tr_gateway_close_, (u64, channel), (i32, code), (str, words), (bool, is_settled));

TR_BEGIN_C
/**
 * Answers an HTTP request for a path below /actors, for the durable actors of these kinds. A NULL
 * ends the array. In a turn. May wait.
 */
tr_next tr_self_gateway_serve(tr_self *self, const tr_exposed *const *kinds, tr_ref guard);
/** Handle tr_gateway_event_ and tr_gateway_close_ in sessions. In a turn. Does not wait. */
tr_next tr_self_gateway_event(tr_self *self, void *state, const void *message);
tr_next tr_self_gateway_close(tr_self *self, void *state, const void *message);
/** The form of the errors that sessions send for paths below /actors. */
extern const struct tr_http_face_ tr_gateway_face_;
/** What tr_broadcast and tr_send call. In a turn. Does not wait. */
tr_status tr_self_send_event(tr_self *self, uint64_t connection, const tr_type *type, const void *message);
/** What tr_connection_keep calls. In a turn. Does not wait. */
void tr_self_connection_keep(tr_self *self, tr_connection_id connection, const tr_type *type, const void *message);
/** What tr_connection_kept calls. In a turn. Does not wait. */
const void *tr_self_connection_kept(tr_self *self, tr_connection_id connection, const tr_type *type);
/** What tr_gateway calls. `kinds` is borrowed as long as the system runs. In a turn. Does not wait. */
tr_ref tr_self_gateway(tr_self *self, const tr_endpoint *at, tr_ref guard, const tr_exposed *const *kinds);
/** What tr_try_gateway calls. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_try_gateway(tr_self *self, const tr_endpoint *at, tr_ref guard,
                                            const tr_exposed *const *kinds, uint64_t *ref_bits);
TR_END_C

/* An item of TR_EXPOSE is the name of a request, or, with TR_BY_GET, that name in parentheses. */
#define TR_EXPOSE_(a, ...) \
    enum { tr_exposes_##a = 0 TR_PP_EACH(TR_EXPOSE_CHECK_, a, __VA_ARGS__) }; \
    static const tr_exposed_message tr_exposed_messages_##a[] = { \
        TR_PP_EACH(TR_EXPOSE_ROW_, a, __VA_ARGS__) { NULL, false } \
    }; \
    TR_MAY_BE_UNUSED static const tr_exposed tr_exposed_##a = { \
        sizeof(tr_exposed), &tr_durable_##a, tr_exposed_messages_##a \
    }
#define TR_EXPOSE_CHECK_(a, m) TR_PP_IF_TUPLE(m)(TR_EXPOSE_CHECK_TUPLE_, TR_EXPOSE_CHECK_NAME_)(a, m)
#define TR_EXPOSE_CHECK_TUPLE_(a, m) TR_PP_CALL(TR_EXPOSE_CHECK_NAME_, a, TR_PP_UNTUPLE m)
/* Checks that m is a request, and that the actor accepts it. */
#define TR_EXPOSE_CHECK_NAME_(a, m) \
    + (int)(0 * sizeof(((union a##_accepts *)0)->m)) \
    + TR_REQUIRE_(tr_is_request_##m, "troupe: TR_EXPOSE(" #a "): " #m " is no TR_REQUEST")
#define TR_EXPOSE_ROW_(a, m) TR_PP_IF_TUPLE(m)(TR_EXPOSE_ROW_TUPLE_, TR_EXPOSE_ROW_NAME_)(a, m)
#define TR_EXPOSE_ROW_TUPLE_(a, m) { &TR_PP_CALL(TR_PP_CAT, tr_type_, TR_PP_UNTUPLE m), true },
#define TR_EXPOSE_ROW_NAME_(a, m) { &tr_type_##m, false },

/* Defines the array of exposed kinds, which is static so that sessions can point to it. */
#define TR_GATEWAY_KINDS_(...) \
    static const tr_exposed *const tr_gateway_kinds[] = { TR_PP_EACH(TR_GATEWAY_KIND_, ~, __VA_ARGS__) NULL }
#define TR_GATEWAY_KIND_(c, a) &tr_exposed_##a,
#define TR_GATEWAY_OPEN_(self, at, guard, ...) (__extension__ ({ \
        TR_GATEWAY_KINDS_(__VA_ARGS__); \
        tr_listener_ref_of(tr_self_gateway(self, at, guard, tr_gateway_kinds)); \
    }))
#define TR_GATEWAY_TRY_(self, ref, at, guard, ...) (__extension__ ({ \
        TR_GATEWAY_KINDS_(__VA_ARGS__); \
        tr_self_try_gateway(self, at, guard, tr_gateway_kinds, TR_REF_OUT_(ref, tr_listener)); \
    }))

#define TR_SEND_EVENT_(...) TR_SEND_EVENT__(__VA_ARGS__)
#define TR_SEND_EVENT__(self, connection, m, ...) \
    tr_self_send_event(self, connection, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))
#define TR_CONNECTION_KEEP_(...) TR_CONNECTION_KEEP__(__VA_ARGS__)
#define TR_CONNECTION_KEEP__(self, connection, m, ...) \
    tr_self_connection_keep(self, connection, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

/*
 * The clause TR_GATEWAY; see detail/behavior.h. `g` is empty, or the function that finds the guard.
 */
#define TR_IN_CODE_TR_CLAUSE_GATEWAY(b, S, a, g, ...) \
    static tr_next tr_gateway_##b##_##a(tr_self *self, void *state, const void *message) \
    { \
        static const tr_exposed *const kinds[] = { (const tr_exposed *)&tr_exposed_##a, NULL }; \
        (void)state; \
        (void)message; \
        return tr_self_gateway_serve(self, kinds, TR_PP_CAT(TR_GATEWAY_GUARD_, TR_PP_IS_EMPTY(g))(S, g)); \
    }
#define TR_GATEWAY_GUARD_1(S, g) TR_NOBODY
#define TR_GATEWAY_GUARD_0(S, g) tr_any(g(self, (S *)state))
#define TR_GATEWAY_ROW_(b, a, method_, path_) TR_TABLE_(tr_handler) \
    { .type = &tr_type_tr_http_request, .call = tr_gateway_##b##_##a, .name = "TR_GATEWAY", \
      .method = method_, .path = path_, .face = &tr_gateway_face_ },
#define TR_GATEWAY_PATH_(b, a, path_) \
    TR_GATEWAY_ROW_(b, a, "GET", path_) \
    TR_GATEWAY_ROW_(b, a, "POST", path_) \
    TR_GATEWAY_ROW_(b, a, "OPTIONS", path_)
#define TR_IN_ROW_TR_CLAUSE_GATEWAY(b, S, a, ...) \
    TR_GATEWAY_PATH_(b, a, "/actors/" #a "/{key}/{message}") \
    TR_GATEWAY_ROW_(b, a, "WEBSOCKET", "/actors/" #a "/{key}") \
    TR_GATEWAY_ROW_(b, a, "GET", "/actors/" #a "/{key}") \
    TR_GATEWAY_PATH_(b, a, "/actors/{rest...}") \
    TR_TABLE_(tr_handler) { .type = &tr_type_tr_gateway_event_, .call = tr_self_gateway_event, .name = "TR_GATEWAY" }, \
    TR_TABLE_(tr_handler) { .type = &tr_type_tr_gateway_close_, .call = tr_self_gateway_close, .name = "TR_GATEWAY" },
#define TR_IN_INIT_TR_CLAUSE_GATEWAY(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_GATEWAY(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_GATEWAY(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_GATEWAY(b, S, ...)

#endif
