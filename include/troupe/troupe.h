/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Troupe: actors in C. This header includes all others except kit.h and kit_net.h, which are for
 * tests.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(greet, tr_done, (str, name));
 * TR_ACTOR(greeter, greet);
 *
 * static tr_next on_greet(tr_self *self, const struct greet *message)
 * {
 *     printf("Hello, %s!\n", message->name);
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(greeter, void, TR_ON(greet, on_greet));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     greeter_ref greeter = tr_spawn(self, greeter, "greeter");
 *     tr_await(self, tr_ask(self, greeter, greet, .name = "world"));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(hello, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, hello);
 * }
 * ```
 *
 * Words
 *     turn          the handling of one message, from the call of the handler to its return; the
 *                   time in which the handler waits is part of it
 *     incarnation   an actor between two starts: from a spawn or restart to the end or next restart
 *     worker        a thread that runs actors
 *     barrier       a handler that keeps the other messages of its actor waiting while it waits
 *     dead letter   a message that no handler gets; see tr_system_dead_letters
 *
 * Threads. Each function says which thread may call it:
 *     Any thread.        Any thread, several at once, and handlers.
 *     One thread.        Any thread, but one at a time for each object that is an argument.
 *     In a turn.         A handler, set-up or signal handler, and the functions that it calls, with
 *                        its `self`, on the thread that runs it.
 *     Client's thread.   The thread that uses the client: any thread, one at a time for each client.
 *     In a turn, or client's thread.
 *                        With a `tr_self *`: in a turn. With a `tr_client *`: client's thread.
 *     At file scope.     A declaration. It runs nothing.
 *
 * Waiting. Each function says whether it may wait for another actor, a thread, the disk or time:
 *     Does not wait.     It returns at once. It may allocate memory and take short locks.
 *     May wait.          In a turn: the turn is parked, and its worker runs other actors. The actor
 *                        itself handles other messages, unless the handler is a barrier. On a
 *                        client's thread, and any other: the thread blocks. Where a function
 *                        blocks the worker's thread instead of parking the turn, it says so.
 */
#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

/*
 * Each header comes after the headers that it includes. Otherwise an error of gcc in a macro begins
 * with a list of the files that include its header.
 */
#include <troupe/status.h>
#include <troupe/limits.h>
#include <troupe/ref.h>
#include <troupe/message.h>
#include <troupe/supervision.h>
#include <troupe/behavior.h>
#include <troupe/self.h>
#include <troupe/ask.h>
#include <troupe/address.h>
#include <troupe/platform.h>
#include <troupe/system.h>
#include <troupe/event.h>
#include <troupe/queue.h>
#include <troupe/alarm.h>
#include <troupe/sql.h>
#include <troupe/durable.h>
#include <troupe/batch.h>
#include <troupe/blocking.h>
#include <troupe/callback.h>
#include <troupe/filter.h>
#include <troupe/group.h>
#include <troupe/keys.h>
#include <troupe/name.h>
#include <troupe/net.h>
#include <troupe/node.h>
#include <troupe/wire.h>
#include <troupe/http.h>
#include <troupe/http_client.h>
#include <troupe/gateway.h>
#include <troupe/observe.h>
#include <troupe/places.h>
#include <troupe/pool.h>
#include <troupe/process.h>
#include <troupe/schedule.h>
#include <troupe/shutdown.h>
#include <troupe/app.h>
#include <troupe/topic.h>
#include <troupe/why.h>

#endif
