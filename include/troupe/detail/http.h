/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the endpoints, clauses and answers of HTTP work. For http.h only.
 */
#ifndef TROUPE_DETAIL_HTTP_H
#define TROUPE_DETAIL_HTTP_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

TR_BEGIN_C
/**
 * Makes an endpoint speak HTTP. `http_size` is sizeof(tr_http_options) in the header that the program was compiled
 * with. Any thread. Does not wait.
 */
const tr_endpoint *tr_http_endpoint_sized(tr_endpoint *endpoint, size_t http_size);
/** What tr_http_reply calls. In a turn. May wait. */
tr_next tr_self_http_reply(tr_self *self, const tr_http_response *response);
/** What tr_http_reply_json calls. In a turn. May wait. */
tr_next tr_self_http_reply_json(tr_self *self, int status, const tr_type *type, const void *message);
/** What tr_http_begin calls. In a turn. May wait. */
void tr_self_http_begin(tr_self *self, const tr_http_response *response);
/** What TR_HTTP_JSON calls. In a turn. May wait. */
TR_NON_NULL const void *tr_self_http_json(tr_self *self, const tr_type *type);
/** The handler of TR_FILES. In a turn. May wait. */
tr_next tr_self_http_files(tr_self *self, void *state, const void *message);
TR_END_C

#define TR_HTTP_ENDPOINT_(...) TR_HTTP_ENDPOINT__(__VA_ARGS__)
#ifdef __cplusplus
/*
 * tr_http_endpoint in C++. The argument is a temporary, which lives until the end of the full
 * expression.
 */
inline const tr_endpoint *tr_http_endpoint_cxx_(tr_endpoint &&endpoint)
{
    return tr_http_endpoint_sized(&endpoint, sizeof(tr_http_options));
}
#define TR_HTTP_ENDPOINT__(kind_, address_, ...) \
    tr_http_endpoint_cxx_(__extension__ tr_endpoint{ .size = sizeof(tr_endpoint), .kind = kind_, \
        .address = address_, __VA_ARGS__ })
#define TR_HTTP_RESPONSE_(...) tr_address_(__extension__ tr_http_response{ .size = sizeof(tr_http_response), \
    .status = __VA_ARGS__ })
#else
#define TR_HTTP_ENDPOINT__(kind_, address_, ...) \
    tr_http_endpoint_sized(&(tr_endpoint){ .size = sizeof(tr_endpoint), .kind = kind_, .address = address_, __VA_ARGS__ }, \
        sizeof(tr_http_options))
#define TR_HTTP_RESPONSE_(...) (&(const tr_http_response){ .size = sizeof(tr_http_response), .status = __VA_ARGS__ })
#endif

#define TR_HTTP_REPLY_JSON_(...) TR_HTTP_REPLY_JSON__(__VA_ARGS__)
#define TR_HTTP_REPLY_JSON__(self, code, m, ...) \
    tr_self_http_reply_json(self, code, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

/* The clauses TR_GET, TR_PUT and so on; see detail/behavior.h. */
#define TR_IN_CODE_TR_CLAUSE_HTTP(b, S, id_, method_, path_, m, h, ...) \
    TR_CHECK_HANDLER_(S, struct m, "TR_" method_ "(" path_ ", " #m ", " #h ")", h); \
    static tr_next tr_call_##b##_##id_##_##h(tr_self *self, void *state, const void *message) \
    { \
        return TR_INVOKE_(h, S, struct m, self, state, message); \
    }
#define TR_IN_ROW_TR_CLAUSE_HTTP(b, S, id_, method_, path_, m, h, ...) TR_TABLE_(tr_handler) \
    { .type = &tr_type_##m, .call = tr_call_##b##_##id_##_##h, .name = #h, __VA_ARGS__ \
      .method = method_, .path = path_ },
#define TR_IN_CODE_TR_CLAUSE_FILES(b, S, path_, place_)
#define TR_IN_ROW_TR_CLAUSE_FILES(b, S, path_, place_) TR_TABLE_(tr_handler) \
    { .type = &tr_type_tr_http_request, .call = tr_self_http_files, .name = "TR_FILES", \
      .method = "GET", .path = path_, .place = place_ },
#define TR_IN_INIT_TR_CLAUSE_HTTP(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_HTTP(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_HTTP(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_HTTP(b, S, ...)
#define TR_IN_INIT_TR_CLAUSE_FILES(b, S, ...)
#define TR_IN_OPTS_TR_CLAUSE_FILES(b, S, ...)
#define TR_IN_WARD_TR_CLAUSE_FILES(b, S, ...)
#define TR_IN_KID_TR_CLAUSE_FILES(b, S, ...)

#endif
