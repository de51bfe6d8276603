/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program for the tool to look into: a till with a state, a secret and a mailbox that can be held up; an actor that
 * blocks its worker; one that fails. It runs until it is stopped.
 */
#include <stdio.h>
#include <time.h>
#include <troupe/troupe.h>

TR_MESSAGE(card, (str, holder), (str, number));
TR_SECRET(card, number);
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(get_card, card);
TR_REQUEST(never, tr_done);
TR_MESSAGE(deposit, (u64, cents), (str, pin));
TR_SECRET(deposit, pin);
TR_MESSAGE(till, (u64, cents), (message(card), card));
TR_MESSAGE(work, (u32, ms));
TR_MESSAGE(fail_now, (str, text));
TR_MESSAGE(bear, (u32, count));
TR_ACTOR(till, deposit, get_balance, get_card, never, bear);
TR_ACTOR(worker, work);
TR_ACTOR(breaker, fail_now);

static tr_next on_deposit(struct till *state, const struct deposit *message)
{
    state->cents += message->cents;
    return TR_SAME;
}

static tr_next on_get_balance(tr_self *self, struct till *state)
{
    return tr_reply(self, balance, .cents = state->cents);
}

static tr_next on_get_card(tr_self *self, struct till *state)
{
    return tr_reply(self, card, .holder = state->card.holder, .number = state->card.number);
}

static tr_next on_never(tr_self *self)
{
    (void)tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_bear(tr_self *self, const struct bear *message);

static tr_next on_till_start(struct till *state)
{
    state->card = (struct card){"Ada", "4111-1111"};
    return TR_SAME;
}

TR_BEHAVIOR(till, struct till, TR_ON(tr_pre_start, on_till_start), TR_ON(deposit, on_deposit),
            TR_ON(get_balance, on_get_balance), TR_ON(get_card, on_get_card),
            TR_ON(never, on_never), TR_ON(bear, on_bear), TR_OPTIONS(.shows = &tr_type_till));

static tr_next on_bear(tr_self *self, const struct bear *message)
{
    for (uint32_t i = 0; i < message->count; i++)
        (void)tr_spawn(self, till, NULL);
    return TR_SAME;
}

/* Blocks its worker, against the rules. */
static tr_next on_work(const struct work *message)
{
    struct timespec time = {message->ms / 1000, message->ms % 1000 * 1000000L};
    (void)nanosleep(&time, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(worker, void, TR_ON(work, on_work));

static tr_next on_fail_now(tr_self *self, const struct fail_now *message)
{
    return tr_fail(self, TR_BAD_DATA, "%s", message->text);
}
TR_BEHAVIOR(breaker, void, TR_ON(fail_now, on_fail_now));

TR_MESSAGE(note, (str, text), (str, code));
TR_SECRET(note, code);
TR_MESSAGE(write_note, (str, text));
TR_ACTOR(note, write_note);

static tr_next on_write_note(tr_self *self, struct note *state, const struct write_note *message)
{
    state->text = tr_strdup(self, message->text);
    state->code = "0000";
    return TR_SAME;
}
TR_BEHAVIOR(note, struct note, TR_ON(write_note, on_write_note));
TR_DURABLE(note, note, .idle_ns = TR_HOUR);

static tr_next on_args(tr_self *self)
{
    tr_tell(self, tr_durable(self, note, "anna"), write_note, .text = "tea");
    (void)tr_spawn(self, till, "till");
    (void)tr_spawn(self, breaker, "breaker");
    for (int i = 0; i < 2; i++)
        (void)tr_spawn_at(self, i, worker, i ? "worker-1" : "worker-0");
    printf("ready\n");
    (void)fflush(stdout);
    return TR_SAME;
}
TR_BEHAVIOR(target, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, target, .workers = 2, .durable = TR_DURABLES(note));
}
