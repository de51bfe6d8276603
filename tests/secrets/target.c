/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program whose secrets are everywhere that a secret can be: in messages, nested ones, lists, states, replies, alarms, queues,
 * events, dead letters and what fails. tests/secrets/run sends them and looks for them in all that comes out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(card, (str, holder), (str, number), (u64, code), (bytes, chip));
TR_SECRET(card, number, code, chip);
TR_MESSAGE(receipt, (message(card), card), (str, token));
TR_SECRET(receipt, token);
TR_MESSAGE(pay, (u32, sum), (message(card), card), (list(message(card)), others), (str, pin));
TR_SECRET(pay, pin);
TR_REQUEST(charge, receipt, (str, pin), (message(card), card));
TR_SECRET(charge, pin);
TR_REQUEST(never_charge, receipt, (str, pin));
TR_SECRET(never_charge, pin);
TR_MESSAGE(lose, (str, pin), (str, how));
TR_SECRET(lose, pin);
TR_MESSAGE(unknown_pay, (str, pin));
TR_SECRET(unknown_pay, pin);
TR_MESSAGE(vault, (u64, count), (message(card), card), (list(message(card)), cards), (str, master));
TR_SECRET(vault, master);
TR_ACTOR(vault, pay, charge, never_charge, lose);

/* Writes a line of the log with the message, as programs do. */
static void note(tr_self *self, const tr_type *type, const void *message)
{
    char text[512];
    (void)tr_type_print(type, message, text, sizeof text);
    tr_log_warn(self, "has got %s", text);
}

static tr_next on_pay(tr_self *self, struct vault *state, const struct pay *message)
{
    note(self, &tr_type_pay, message);
    state->count++;
    state->card = (struct card){.holder = "Ada",
                                .number = tr_strdup(self, message->card.number),
                                .code = message->card.code};
    state->master = tr_strdup(self, message->pin);
    return TR_SAME;
}

static tr_next on_charge(tr_self *self, struct vault *state, const struct charge *message)
{
    note(self, &tr_type_charge, message);
    return tr_reply(self, receipt, .card = state->card, .token = message->pin);
}

static tr_next on_never_charge(tr_self *self)
{
    (void)tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_lose(tr_self *self, struct vault *state, const struct lose *message)
{
    state->count++;
    if (strcmp(message->how, "crash") == 0)
        tr_crash(self, TR_BAD_DATA, "lost");
    return strcmp(message->how, "fail") == 0 ? tr_fail(self, TR_BAD_DATA, "lost") : TR_DECLINE;
}

TR_BEHAVIOR(vault, struct vault, TR_ON(pay, on_pay), TR_ON(charge, on_charge),
            TR_ON(never_charge, on_never_charge), TR_ON(lose, on_lose),
            TR_OPTIONS(.shows = &tr_type_vault));

/* The same, stored: with an alarm, a queue, and a turn that asks the vault and fails. */
TR_MESSAGE(safe, (u64, count), (message(card), card), (str, master));
TR_SECRET(safe, master);
TR_MESSAGE(keep, (str, pin), (message(card), card));
TR_SECRET(keep, pin);
TR_MESSAGE(ring, (str, pin));
TR_SECRET(ring, pin);
TR_MESSAGE(spoil, (str, pin));
TR_SECRET(spoil, pin);
TR_ACTOR(safe, keep, spoil);

static tr_next on_keep(tr_self *self, struct safe *state, const struct keep *message)
{
    note(self, &tr_type_keep, message);
    state->count++;
    state->card = (struct card){.holder = "Ada",
                                .number = tr_strdup(self, message->card.number),
                                .code = message->card.code};
    state->master = tr_strdup(self, message->pin);
    tr_alarm_after(self, "late", TR_HOUR, ring, .pin = message->pin);
    tr_alarm_after(self, "soon", TR_MILLISECOND, ring, .pin = message->pin);
    tr_queue_push(self, "box", keep, .pin = message->pin, .card = message->card);
    return TR_SAME;
}

static tr_next on_ring(tr_self *self, const struct ring *message)
{
    note(self, &tr_type_ring, message);
    return tr_fail(self, TR_BAD_DATA, "rung");
}

static tr_next on_spoil(tr_self *self, struct safe *state, const struct spoil *message)
{
    vault_ref vault = tr_find(self, vault, "/user/target/vault");
    const struct receipt *receipt =
        tr_await(self, tr_ask(self, vault, charge, .pin = message->pin, .card = state->card));
    note(self, &tr_type_receipt, receipt);
    state->count++;
    return tr_fail(self, TR_BAD_DATA, "spoiled");
}
TR_BEHAVIOR(safe, struct safe, TR_ON(keep, on_keep), TR_ON(ring, on_ring), TR_ON(spoil, on_spoil));
TR_DURABLE(safe, safe, .idle_ns = TR_HOUR);

/* The same, as events. */
TR_MESSAGE(book, (u64, count), (message(card), card), (str, master));
TR_SECRET(book, master);
TR_MESSAGE(kept, (str, pin), (message(card), card));
TR_SECRET(kept, pin);
TR_MESSAGE(enter, (str, pin), (message(card), card));
TR_SECRET(enter, pin);
TR_ACTOR(book, enter);

static void apply_kept(struct book *state, const struct kept *event, tr_memory *memory)
{
    state->count++;
    state->master = tr_memory_strdup(memory, event->pin);
    state->card = (struct card){.number = tr_memory_strdup(memory, event->card.number),
                                .code = event->card.code};
}

static tr_next on_enter(tr_self *self, const struct book *state, const struct enter *message)
{
    (void)state;
    tr_persist(self, kept, .pin = message->pin, .card = message->card);
    return TR_SAME;
}
TR_BEHAVIOR(book, const struct book, TR_ON(enter, on_enter));
TR_EVENTS(book_events, book, TR_APPLY(kept, apply_kept));
TR_DURABLE(book, book, .idle_ns = TR_HOUR, .events = &book_events);

/* Makes dead letters, and an ask that waits. */
TR_MESSAGE(stir, (str, pin));
TR_SECRET(stir, pin);
TR_MESSAGE(hope, (str, pin));
TR_SECRET(hope, pin);
TR_MESSAGE(gone);
TR_ACTOR(target, stir, hope);
TR_ACTOR(ghost, unknown_pay);
static tr_next on_gone(void)
{
    return TR_STOP;
}
TR_BEHAVIOR(ghost, void, TR_ON(gone, on_gone));

struct target {
    vault_ref vault;
};

static tr_next on_stir(tr_self *self, struct target *state, const struct stir *message)
{
    struct card card = {"Ada", message->pin, 7305729461u, {message->pin, strlen(message->pin)}};
    struct card others[] = {card, card};
    ghost_ref ghost = tr_spawn(self, ghost, NULL);
    tr_tell(self, ghost, unknown_pay, .pin = message->pin);
    tr_tell(self,
            state->vault,
            pay,
            .sum = 5,
            .card = card,
            .others = {others, 2},
            .pin = message->pin);
    tr_tell(self, tr_durable(self, safe, "a"), keep, .pin = message->pin, .card = card);
    tr_tell(self, tr_durable(self, book, "b"), enter, .pin = message->pin, .card = card);
    tr_timer_once(self, NULL, TR_HOUR, stir, .pin = message->pin);
    return TR_SAME;
}

static tr_next on_hope(tr_self *self, struct target *state, const struct hope *message)
{
    (void)tr_await(self,
                   tr_ask_within(self, TR_HOUR, state->vault, never_charge, .pin = message->pin));
    return TR_SAME;
}

static tr_next on_args(tr_self *self, struct target *state)
{
    state->vault = tr_spawn(self, vault, "vault");
    tr_watch(self, state->vault);
    printf("ready\n");
    (void)fflush(stdout);
    return TR_SAME;
}

static tr_next on_terminated(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(target, struct target, TR_ON(tr_args, on_args), TR_ON(stir, on_stir),
            TR_ON(hope, on_hope), TR_ON(tr_terminated, on_terminated));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, target, .workers = 2, .durable = TR_DURABLES(safe, book));
}
