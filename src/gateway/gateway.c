/* SPDX-License-Identifier: Apache-2.0 */
/** Gateways: the functions behind the rows of TR_GATEWAY, and the sessions of tr_gateway. */
#include <stdio.h>
#include <string.h>
#include <troupe/gateway.h>

#include "actor/cell/verb.h"
#include "gateway/client_js.h"
#include "gateway/serve.h"
#include "gateway/socket.h"
#include "gateway/stream.h"
#include "gateway/visit.h"
#include "http/answer.h"

/*
 * Answers a request for troupe.js, the client library for browsers. Returns false if the request is
 * for something else.
 */
static bool serve_client(struct visit *visit)
{
    struct http_request *request = visit->request;
    const tr_http_response response = {.cache = "max-age=3600"};
    bool is_get = request->head.method_id == METHOD_GET || request->head.method_id == METHOD_HEAD;
    if (!is_get || strcmp(request->path->text, "/actors/troupe.js") != 0)
        return false;
    tr__http_answer(request,
                    200,
                    "text/javascript; charset=utf-8",
                    (tr_bytes){tr__client_js, tr__client_js_size},
                    &response);
    return true;
}

/*
 * Answers a request that names the path of a WebSocket but does not ask for the upgrade to one. The
 * answer says whether the client may connect.
 */
static void refuse_plain(struct visit *visit)
{
    if (!visit->request->stream) /* HTTP/2 has no header Upgrade, so add none there */
        tr_http_set(visit->self, "Upgrade", "websocket");
    tr__visit_fail_with(visit, PROBLEM_NO_WEBSOCKET);
}

tr_next tr_self_gateway_serve(tr_self *self, const tr_exposed *const *kinds, tr_ref guard)
{
    TURN_VERB(self);
    struct visit visit = {.self = self, .request = tr__http_request_need(self, "TR_GATEWAY")};
    if (!tr__visit_check_origin(&visit) || serve_client(&visit) || !tr__visit_find(&visit, kinds) ||
        !tr__visit_admit(&visit, guard))
        return TR_SAME;
    if (visit.request->route->method == METHOD_WEBSOCKET)
        tr__socket_open(&visit);
    else if (visit.request->head.method_id == METHOD_GET && strcmp(visit.message, "events") == 0)
        tr__stream_open(&visit);
    else if (!visit.message[0])
        refuse_plain(&visit);
    else
        tr__serve_message(&visit);
    return TR_SAME;
}

/* ---- Sessions of tr_gateway. ---- */

TR_MESSAGE(tr_gateway_opens, (u64, kinds), (ref, guard));

struct tr_gateway_state {
    const tr_exposed *const *kinds;
    tr_ref guard;
};

static tr_next set_up(struct tr_gateway_state *state, const struct tr_gateway_opens *message)
{
    state->kinds = (const tr_exposed *const *)(uintptr_t)message->kinds;
    state->guard = message->guard;
    return TR_SAME;
}

static tr_next get_message(tr_self *self, const struct tr_gateway_state *state)
{
    return tr_self_gateway_serve(self, state->kinds, state->guard);
}

#define PATH "/actors/{kind}/{key}/{message}"
#define SOCKET "/actors/{kind}/{key}"
#define OTHERS "/actors/{rest...}"
#define ROW(method_, path_)                                                                        \
    {                                                                                              \
        .type = &tr_type_tr_http_request, .call = call_get, .name = "tr_gateway",                  \
        .method = (method_), .path = (path_), .face = &tr_gateway_face_                            \
    }

static tr_next call_get(tr_self *self, void *state, const void *message)
{
    (void)message;
    return get_message(self, state);
}

static tr_next call_set_up(tr_self *self, void *state, const void *message)
{
    (void)self;
    return set_up(state, message);
}

static const tr_handler rows[] = {
    ROW("GET", PATH),
    ROW("POST", PATH),
    ROW("OPTIONS", PATH),
    ROW("WEBSOCKET", SOCKET),
    ROW("GET", SOCKET),
    ROW("GET", OTHERS),
    ROW("POST", OTHERS),
    ROW("OPTIONS", OTHERS),
    {.type = &tr_type_tr_gateway_event_, .call = tr_self_gateway_event, .name = "tr_gateway"},
    {.type = &tr_type_tr_gateway_close_, .call = tr_self_gateway_close, .name = "tr_gateway"},
};

static const tr_behavior sessions = {.abi = TR_ABI,
                                     .handler_size = sizeof(tr_handler),
                                     .size = sizeof(tr_behavior),
                                     .name = "tr_gateway",
                                     .file = __FILE__,
                                     .line = __LINE__,
                                     .state_name = "struct tr_gateway_state",
                                     .state_size = sizeof(struct tr_gateway_state),
                                     .handlers = rows,
                                     .handler_count = sizeof rows / sizeof rows[0],
                                     /*
                                      * a temporary actor is never restarted, so its set-up message
                                      * need not be kept
                                      */
                                     .options = {.restart = TR_TEMPORARY},
                                     .setup = {&tr_type_tr_gateway_opens, call_set_up}};

tr_status tr_self_try_gateway(tr_self *self, const tr_endpoint *at, tr_ref guard,
                              const tr_exposed *const *kinds, uint64_t *ref_bits)
{
    TURN_VERB(self);
    const struct tr_gateway_opens opens = {.kinds = (uint64_t)(uintptr_t)kinds, .guard = guard};
    const tr_listen_args args = {.size = sizeof args,
                                 .behavior = &sessions,
                                 .at = at,
                                 .setup_type = &tr_type_tr_gateway_opens,
                                 .setup = &opens};
    for (size_t i = 0; kinds && kinds[i]; i++) {
        if (kinds[i]->size != sizeof(tr_exposed))
            /* the kind comes from code that was compiled for another version of the library */
            return TR_INVALID_ARGUMENT;
    }
    return kinds ? tr_self_try_listen(self, &args, ref_bits) : TR_INVALID_ARGUMENT;
}

tr_ref tr_self_gateway(tr_self *self, const tr_endpoint *at, tr_ref guard,
                       const tr_exposed *const *kinds)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    tr_status status = tr_self_try_gateway(self, at, guard, kinds, &bits);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot open a gateway at %s: %s",
                 at && at->address ? at->address : "no address",
                 tr_status_text(status));
    return tr_ref_from_bits(bits);
}
