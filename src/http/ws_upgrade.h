/* SPDX-License-Identifier: Apache-2.0 */
/** The upgrade of a request to a WebSocket. Owner only. */
#ifndef HTTP_WS_UPGRADE_H
#define HTTP_WS_UPGRADE_H

#include "http/request.h"
#include "http/ws_session.h"

/** Whether a request asks for the upgrade to a WebSocket. */
bool tr__ws_is_upgrade(struct http_request *request);
/**
 * Checks the handshake of a request for a WebSocket. If the handshake is invalid, answers with 400,
 * 403 or 426 and returns false. Waits.
 */
bool tr__ws_check(struct http_request *request);
/**
 * Accepts the WebSocket of a request for a layer above. `row` of that layer gets the messages, and
 * above->on_end is called when the WebSocket ends. TR_CLOSED: the client is gone. TR_NO_MEMORY:
 * nothing was sent, and the channel was reset. Waits.
 */
TR_MUST_CHECK tr_status tr__ws_accept_above(struct http_request *request, const tr_handler *row,
                                            struct ws_above *above);
/**
 * Answers a GET with 426 if its path has only rows of TR_WEBSOCKET. Returns false for another
 * method or another path. Waits.
 */
bool tr__ws_answer_upgrade(struct http_request *request);

#endif
