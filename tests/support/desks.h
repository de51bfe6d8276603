/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of gateways: a durable desk that counts, events, a guard with tokens, and a gateway for it at SERVER. On kits.
 */
#ifndef TROUPE_TESTS_SUPPORT_DESKS_H
#define TROUPE_TESTS_SUPPORT_DESKS_H

#include "support/http.h"

#include <troupe/gateway.h>

TR_MESSAGE(told, (u64, value), (str, who));
TR_MESSAGE(rang, (u64, value));
TR_MESSAGE(shouted, (str, text));
TR_REQUEST(add, told, (u32, by), (str, note));
TR_REQUEST(look, told, (u32, by));
TR_REQUEST(misbehave, told, (i32, how));
TR_REQUEST(hidden, told);
TR_ACTOR(desk, add, look, misbehave, hidden);
TR_MESSAGE(desk_state, (u64, value), (u64, connected), (u64, gone));
TR_MESSAGE(guest, (str, name));

static tr_next desk_tell(tr_self *self, const struct desk_state *state)
{
    const char *caller = tr_caller(self);
    return tr_reply(self, told, .value = state->value, .who = caller ? caller : "nobody");
}

static tr_next on_add(tr_self *self, struct desk_state *state, const struct add *message)
{
    state->value += message->by;
    if (message->note)
        tr_connection_keep(self, tr_from(self), guest, .name = message->note);
    tr_next next = desk_tell(self, state);
    tr_broadcast(self, rang, .value = state->value);
    return next;
}

static tr_next on_look(tr_self *self, struct desk_state *state, const struct look *message)
{
    if (message->by)
        return tr_reply(self, told, .value = message->by, .who = "by");
    return desk_tell(self, state);
}

enum { REFUSE = 1, FAIL, HANG, BIG, CUT, GREET, COUNT, DESTROY };

static tr_next on_misbehave(tr_self *self, struct desk_state *state,
                            const struct misbehave *message)
{
    switch (message->how) {
    case REFUSE:
        return tr_refuse(self, 77, "not \"today\"");
    case FAIL:
        state->value = 1000;
        tr_broadcast(self, rang, .value = 1000);
        return tr_fail(self, TR_BAD_DATA, "a secret of the desk");
    case HANG:
        (void)tr_sleep(self, TR_MINUTE);
        break;
    case BIG: {
        static char text[32 * 1024];
        memset(text, 'x', sizeof text - 1);
        tr_broadcast(self, shouted, .text = text);
        break;
    }
    case COUNT: /* how many have connected, and how many are gone */
        return tr_reply(self, told, .value = 1000 * state->connected + state->gone);
    case DESTROY:
        ck_assert_int_eq(tr_destroy(self), TR_OK);
        break;
    case CUT:
        tr_disconnect(self, tr_from(self), 4001, "enough");
        break;
    case GREET:
        ck_assert_int_eq(tr_send(self, tr_from(self), rang, .value = 7), TR_OK);
        break;
    default:
        break;
    }
    return desk_tell(self, state);
}

static tr_next on_hidden(tr_self *self, struct desk_state *state)
{
    return desk_tell(self, state);
}

/* What a handler of connections can change of what is stored. */
static const char *const desk_changes[] = {
    "nothing", "state", "broadcast", "keep", "key", "alarm", "queue", "table", "destroy"};

static void desk_change(tr_self *self, struct desk_state *state, tr_connection_id connection,
                        const char *what)
{
    if (strcmp(what, "state") == 0)
        state->value++;
    if (strcmp(what, "broadcast") == 0)
        tr_broadcast(self, rang, .value = 5);
    if (strcmp(what, "keep") == 0)
        tr_connection_keep(self, connection, guest, .name = "kept");
    if (strcmp(what, "key") == 0)
        tr_kv_put(self, TR_BYTES("key"), TR_BYTES("value"));
    if (strcmp(what, "alarm") == 0)
        tr_alarm_after(self, "late", TR_HOUR, add, .by = 1);
    if (strcmp(what, "queue") == 0)
        tr_queue_push(self, "jobs", rang, .value = 5);
    if (strcmp(what, "table") == 0)
        tr_sql(self, "create table if not exists things (name text)");
    if (strcmp(what, "destroy") == 0)
        ck_assert_int_eq(tr_destroy(self), TR_OK);
}

/** Whether such a handler saves before it sleeps. */
static bool desk_saves_first;

/* Waits before each change, after it, and after another one; says what came of the waits. */
static void desk_change_and_wait(tr_self *self, struct desk_state *state,
                                 tr_connection_id connection, const char *what)
{
    tr_status saved = desk_saves_first ? tr_try_save(self) : TR_OK;
    tr_status before = tr_sleep(self, TR_MILLISECOND);
    if (!desk_saves_first)
        saved = tr_try_save(self);
    desk_change(self, state, connection, what);
    tr_status after = tr_sleep(self, TR_MILLISECOND);
    say("%s: %s %s %s %s",
        what,
        tr_status_name(before),
        tr_status_name(saved),
        tr_status_name(after),
        tr_status_name(tr_try_save(self)));
}

/* Would wait at queues after a change, when the actor is about to sleep. */
static void desk_leave(tr_self *self, struct desk_state *state)
{
    const struct rang *taken;
    tr_queued item;
    state->value++;
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    tr_status status = tr_queue_take(self, "jobs", rang, TR_SECOND, &taken, &item);
    say("leaves: %s %s", tr_status_name(status), tr_status_name(tr_abort_wait(self, TR_SECOND)));
}

static tr_next on_connected(tr_self *self, struct desk_state *state,
                            const struct tr_connected *message)
{
    say("connected %llu %s %s",
        (unsigned long long)message->connection.number,
        message->caller ? message->caller : "-",
        message->query ? message->query : "-");
    if (message->query && strcmp(message->query, "no") == 0)
        return tr_refuse(self, 9, "full");
    if (message->query && strcmp(message->query, "greet") == 0) {
        tr_broadcast(self, rang, .value = 1);
        ck_assert_int_eq(tr_send(self, message->connection, rang, .value = 2), TR_OK);
    }
    if (message->query && strcmp(message->query, "leave") == 0)
        desk_leave(self, state);
    bool is_early = message->query && strcmp(message->query, "early") == 0;
    state->connected += is_early;
    if (is_early || (message->query && strncmp(message->query, "wait", 4) == 0))
        (void)tr_sleep(self, 20 * TR_SECOND);
    if (message->query && strcmp(message->query, "wait-slow") == 0)
        tr_connection_keep(self, message->connection, guest, .name = "slow");
    if (message->query && strcmp(message->query, "early-gone") == 0)
        tr_connection_keep(self, message->connection, guest, .name = "early");
    if (message->query && strncmp(message->query, "gone-", 5) == 0)
        tr_connection_keep(self, message->connection, guest, .name = message->query);
    if (message->query && strncmp(message->query, "change-", 7) == 0)
        desk_change_and_wait(self, state, message->connection, message->query + 7);
    if (message->query && strcmp(message->query, "wait-no") == 0)
        return tr_refuse(self, 9, "full");
    if (message->query && strcmp(message->query, "wait-fail") == 0)
        return tr_fail(self, TR_BAD_DATA, "not connected");
    state->connected += !is_early;
    return TR_SAME;
}

static tr_next on_disconnected(tr_self *self, struct desk_state *state,
                               const struct tr_disconnected *message)
{
    const struct guest *guest = tr_connection_kept(self, message->connection, guest);
    say("gone %llu %d %s",
        (unsigned long long)message->connection.number,
        message->code,
        guest ? guest->name : "-");
    bool is_early = guest && strcmp(guest->name, "early") == 0;
    state->gone += is_early;
    if (is_early || (guest && strcmp(guest->name, "slow") == 0))
        (void)tr_sleep(self, 20 * TR_SECOND);
    if (guest && strncmp(guest->name, "gone-", 5) == 0)
        desk_change_and_wait(self, state, message->connection, guest->name + 5);
    state->gone += !is_early;
    tr_broadcast(self, rang, .value = 900 + state->gone);
    return TR_SAME;
}

static tr_next on_awake(void)
{
    say("awake");
    return TR_SAME;
}

TR_BEHAVIOR(desk, struct desk_state, TR_ON(add, on_add), TR_ON(look, on_look),
            TR_ON(misbehave, on_misbehave), TR_ON(hidden, on_hidden),
            TR_ON(tr_connected, on_connected), TR_ON(tr_disconnected, on_disconnected),
            TR_ON(tr_awake, on_awake));
TR_DURABLE(desk, desk_state, .idle_ns = 10 * TR_SECOND);
TR_EXPOSE(desk, add, TR_BY_GET(look), misbehave);

/* ---- The guard: "Bearer anna" is anna; "viewer" may look only, "guest" is asked about once for each connection,
 * and so is "regular", who is counted as "often" is. ---- */

static tr_next on_authorize(tr_self *self, const struct tr_authorize *message)
{
    say("guard %s/%s/%s", message->kind, message->key, message->message);
    const char *token = message->authorization;
    if (!token || strncmp(token, "Bearer ", 7) != 0)
        return tr_refuse(self, 401, "who are you?");
    if (strcmp(token + 7, "fails") == 0)
        return tr_fail(self, TR_BAD_DATA, "a guard that fails");
    if (strcmp(token + 7, "eve") == 0)
        return tr_refuse(self, 7, "not you");
    if (strcmp(token + 7, "viewer") == 0 && strcmp(message->message, "add") == 0)
        return tr_refuse(self, 403, "only to look");
    if (strcmp(token + 7, "slow") == 0 && message->message[0])
        (void)tr_sleep(self, TR_SECOND);
    if (message->cookie)
        say("cookie %s", message->cookie);
    bool is_regular = strcmp(token + 7, "regular") == 0;
    if (strcmp(token + 7, "nobody") == 0)
        return tr_reply(self, tr_principal, .per_minute = 3);
    return tr_reply(self,
                    tr_principal,
                    .caller = token + 7,
                    .per_minute = strcmp(token + 7, "often") == 0 || is_regular ? 3 : 0,
                    .is_for_connection = strcmp(token + 7, "guest") == 0 || is_regular);
}

TR_BEHAVIOR(tr_guard, void, TR_ON(tr_authorize, on_authorize));

/* ---- The stage. ---- */

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const char *const desk_origins[] = {"https://friend.example", NULL};
static const tr_http_options desk_options = {.origins = desk_origins, .body_max = 1000};

KITS_UNUSED static tr_next open_plain(tr_self *self)
{
    listener = tr_gateway(self, TR_HTTP(SERVER, .http = &desk_options), desk);
    return TR_SAME;
}

KITS_UNUSED static tr_next open_guarded(tr_self *self)
{
    tr_guard_ref guard = tr_spawn(self, tr_guard, "guard");
    listener = tr_gateway_guarded(self, TR_HTTP(SERVER, .http = &desk_options), guard, desk);
    return TR_SAME;
}

KITS_UNUSED static void desks_begin_in(const char *directory, turn *open, int workers,
                                       uint64_t seed)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = seed,
                                       .workers = workers,
                                       .durable = TR_DURABLES(desk),
                                       .store = directory});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    kits_seed = seed;
    said_length = 0;
    HOST(host, open);
}

KITS_UNUSED static void desks_begin(turn *open)
{
    desks_begin_in(NULL, open, 1, 1);
}

/** Removes the id of the cause from an answer, which must have one, and what http_plain removes. */
KITS_UNUSED static const char *desks_plain(const char *answer)
{
    static char text[1 << 16];
    static const char name[] = "X-Troupe-Causal: ";
    snprintf(text, sizeof text, "%s", http_plain(answer));
    char *at = strstr(text, name);
    ck_assert_ptr_nonnull(at);
    ck_assert_uint_ne(strtoull(at + sizeof name - 1, NULL, 16), 0);
    char *end = strstr(at, "\r\n") + 2;
    memmove(at, end, strlen(end) + 1);
    return text;
}

#define DESK_ASK(peer, request, answer)                                                            \
    do {                                                                                           \
        peer_send(peer, request);                                                                  \
        ck_assert_str_eq(desks_plain(tr_kit_receive_text(peer, 20 * TR_SECOND)), answer);          \
    } while (0)

#define H " HTTP/1.1\r\nHost: a\r\n"
/** A POST of a message to the desk "a", with further headers and a body. */
#define POST(message, headers, body)                                                               \
    desks_post("/actors/desk/a/" message, headers, body, sizeof(body) - 1)

KITS_UNUSED static const char *desks_post(const char *path, const char *headers, const char *body,
                                          size_t size)
{
    static char text[8192];
    int length = snprintf(text,
                          sizeof text,
                          "POST %s" H "%sContent-Length: %zu\r\n\r\n%s",
                          path,
                          headers,
                          size,
                          body);
    ck_assert(length > 0 && (size_t)length < sizeof text);
    return text;
}

/** The answer with an error. */
#define PROBLEM(status, reason, code, words)                                                       \
    "HTTP/1.1 " #status " " reason "\r\n\r\n{\"error\":{\"code\":\"" code                          \
    "\",\"message\":\"" words "\",\"status\":" #status "}}"

#endif
