/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of http_client.h work. For http_client.h only.
 */
#ifndef TROUPE_DETAIL_HTTP_CLIENT_H
#define TROUPE_DETAIL_HTTP_CLIENT_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

TR_BEGIN_C
/** What tr_http_ask calls. In a turn. Does not wait. */
tr_http_call_ask tr_self_http_ask(tr_self *self, const char *url, const tr_http_call *call);
/** What tr_http_open calls. In a turn. May wait. */
TR_MUST_CHECK tr_status tr_self_http_open(tr_self *self, struct tr_http_stream *stream, const char *url,
                                          const tr_http_call *call);
/** What tr_http_try_json calls. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_http_answer_json(tr_self *self, const struct tr_http_answer *answer,
                                                 const tr_type *type, const void **message);
/** What tr_ws_connect calls. In a turn. May wait. */
tr_channel tr_self_ws_connect(tr_self *self, const char *url, const tr_ws_call *call);
/** What tr_ws_try_connect calls. In a turn. May wait. */
TR_MUST_CHECK tr_status tr_self_ws_try_connect(tr_self *self, tr_channel *channel, const char *url,
                                               const tr_ws_call *call);
TR_END_C

#ifdef __cplusplus
#define TR_HTTP_CALL_(...) tr_address_(__extension__ tr_http_call{ .size = sizeof(tr_http_call), __VA_ARGS__ })
#define TR_WS_CALL_(...) tr_address_(__extension__ tr_ws_call{ .size = sizeof(tr_ws_call), __VA_ARGS__ })
/* Converts the address of a typed pointer to the type of the library's parameter. */
template <class TR_T> inline const void **tr_http_message_out_(const TR_T **message)
{
    return reinterpret_cast<const void **>(message);
}
#define TR_HTTP_MESSAGE_OUT_(m, message) tr_http_message_out_<m>(message)
#else
#define TR_HTTP_CALL_(...) (&(const tr_http_call){ .size = sizeof(tr_http_call), __VA_ARGS__ })
#define TR_WS_CALL_(...) (&(const tr_ws_call){ .size = sizeof(tr_ws_call), __VA_ARGS__ })
#define TR_HTTP_MESSAGE_OUT_(m, message) ((const void **)(1 ? (message) : (const m **)0))
#endif
#define TR_HTTP_ASK_(self, url, ...) tr_self_http_ask(self, url, TR_HTTP_CALL_(__VA_ARGS__))
#define TR_HTTP_OPEN_(self, stream, url, ...) \
    tr_self_http_open(self, stream, url, TR_HTTP_CALL_(__VA_ARGS__))
#define TR_WS_CONNECT_(self, url, ...) tr_self_ws_connect(self, url, TR_WS_CALL_(__VA_ARGS__))
#define TR_WS_TRY_CONNECT_(self, channel, url, ...) \
    tr_self_ws_try_connect(self, channel, url, TR_WS_CALL_(__VA_ARGS__))
#define TR_AS_JSON_(...) TR_AS_JSON__(__VA_ARGS__)
#define TR_AS_JSON__(m, ...) TR_VALUE(tr_message, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

#endif
