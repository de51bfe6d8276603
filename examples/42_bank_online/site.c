/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What browsers see: the page, the WebSocket with the board, the accounts behind the gateway, and a row that kills the
 * process. Each connection is an actor of this behavior.
 */
#include <signal.h>
#include <string.h>
#include "bank.h"

/* page.html, as the build has made bytes of it. */
static const unsigned char page[] = {
#include "page.html.inc"
};

TR_REQUEST(watch_board, tr_done);
/* What strangers may ask an account, and nothing else: credit is for accounts. */
TR_EXPOSE(account, TR_BY_GET(look), pay, fail, block);

static tr_next get_page(tr_self *self)
{
    return tr_http_reply(
        self, 200, .type = "text/html; charset=utf-8", .body = {page, sizeof page});
}

static tr_next on_watch(tr_self *self)
{
    tr_subscribe(self, tr_topic_open(self, live, "live"));
    return tr_ws_accept(self);
}

static tr_next on_board(tr_self *self, const struct board_text *message)
{
    tr_ws_text(self, tr_peer(self), message->json);
    return TR_SAME;
}

/* A page of another site may not press the button. Nothing is stored, flushed or closed: this is kill -9. */
static tr_next on_kill(tr_self *self, const struct tr_http_request *request)
{
    const char *origin = tr_http_header(self, "origin");
    const char *host = origin ? strstr(origin, "://") : NULL;
    if (origin && (!host || strcmp(host + 3, request->host) != 0))
        return tr_http_reply(self, 403, .text = "this is for the page of the bank\n");
    raise(SIGKILL);
    return TR_SAME;
}

static tr_next on_closed(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(site, void, TR_GET("/", tr_http_request, get_page),
            TR_WEBSOCKET("/live", watch_board, on_watch), TR_ON(board_text, on_board),
            TR_POST("/kill", tr_http_request, on_kill), TR_ON(tr_closed, on_closed),
            TR_GATEWAY(account));
