/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb stalls: turns that take long now ("running"), and the last ones, also those that have ended ("past").
 *
 * {"total":3,"running":[...],"past":[{"number":3,"age_ms":5210,"unix_ms":1795000000123,"took_ms":1200,"over":true,
 * "handed_off":false,"path":"/user/bank","ref":"0x100000002","behavior":"bank","handler":"on_work","message":"work",
 * "file":"bank.c","line":40,"worker":1}]}
 *
 * The newest comes first. age_ms and unix_ms say when the turn began. took_ms is so far, if it is
 * not over. "limit" says how many; "after" leaves out those up to this number.
 */
#ifndef OBSERVE_STALLS_H
#define OBSERVE_STALLS_H

#include "observe/visitor.h"

/** Writes the turns whose workers other threads have taken, as the member "handed_off". */
void tr__handed_off_write(struct visitor *visitor);
/** Writes such a turn of this actor as an object, if there is one. */
void tr__handed_off_of_write(struct visitor *visitor, tr_ref actor);
void tr__verb_stalls(struct visitor *visitor, const struct control_request *request);

#endif
