/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb stalls. It lists turns that are taking long now ("running"), and the last turns that took long, whether they
 * have ended or not ("past").
 *
 * {"total":3,"running":[...],"past":[{"number":3,"age_ms":5210,"unix_ms":1795000000123,"took_ms":1200,"over":true,
 * "handed_off":false,"path":"/user/bank","ref":"0x100000002","behavior":"bank","handler":"on_work","message":"work",
 * "file":"bank.c","line":40,"worker":1,"stack":["look_up (bank.c:31)","on_work (bank.c:44)"],"stack_age_ms":4200}]}
 *
 * The newest turn comes first. age_ms and unix_ms say when the turn began. took_ms is the time until the end of the
 * turn, or until now. "stack" is missing if the stack is not known. In a request, "limit" says how many turns to list.
 * With "after", only turns with higher numbers are listed.
 */
#ifndef OBSERVE_STALLS_H
#define OBSERVE_STALLS_H

#include "observe/visitor.h"

/** Writes the member "handed_off": the stuck turns whose workers run on other threads now. */
void tr__handed_off_write(struct visitor *visitor);
/** If a turn of this actor is stuck and its worker runs on another thread, writes that turn as an object. */
void tr__handed_off_of_write(struct visitor *visitor, tr_ref actor);
void tr__verb_stalls(struct visitor *visitor, const struct control_request *request);

#endif
