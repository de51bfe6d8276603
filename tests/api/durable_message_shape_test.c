/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages that one program has stored and another one reads: items of queues, alarms and kept answers whose fields were moved,
 * or which have more of them. Nothing is misread, and nothing is lost: the first program reads it again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/alarm.h>
#include <troupe/keys.h>
#include <troupe/kit.h>
#include <troupe/queue.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(job_ab, (u64, a), (u64, b), (u64, c));
TR_MESSAGE(job_ba, (u64, b), (u64, a), (u64, c));
TR_MESSAGE(job_more, (u64, a), (u64, b), (u64, c), (str, note));
TR_MESSAGE(done, (i64, value));
TR_REQUEST(act, done, (i64, what));
TR_REQUEST(pay, done);
TR_MESSAGE(thing_state, (u64, count));
TR_ACTOR(thing, act, pay, job_ab);

/* The messages of the program that runs. All programs call them "job" and "pay". */
static tr_type job;
static tr_type payment;
static struct {
    uint64_t a;
    uint64_t b;
    uint64_t c;
    const char *note;
} message;
static uint64_t handled;
static uint64_t fired_a;

enum { PUSH, TAKE, PEEK, SET_ALARM, COUNT };

static tr_next on_act(tr_self *self, const struct act *act)
{
    const void *got = NULL;
    tr_queued item = {0};
    tr_status status = TR_OK;
    switch (act->what) {
    case PUSH:
        status = tr_self_try_queue_push(self, "q", 0, &job, &message, &item);
        break;
    case TAKE:
        status = tr_self_queue_take(self, "q", &job, 0, &got, &item);
        if (status == TR_OK)
            handled = ((const struct job_ab *)got)->a;
        break;
    case PEEK:
        status = tr_self_queue_peek(self, "q", &job, &got, &item);
        ck_assert_uint_ne(item.id, 0);
        break;
    case SET_ALARM:
        status =
            tr_self_try_alarm(self,
                              &(tr_alarm){.name = "alarm", .kind = TR_ALARM_AFTER, .ns = TR_MINUTE},
                              &job,
                              &message);
        break;
    case COUNT:
        return tr_reply(self, done, .value = (int64_t)tr_queue_count(self, "q"));
    }
    return tr_reply(self, done, .value = status);
}

static tr_next on_job(tr_self *self, const struct job_ab *fired)
{
    (void)self;
    fired_a = fired->a;
    return TR_SAME;
}

static tr_next on_pay(tr_self *self)
{
    return tr_self_reply(self, &job, &message);
}

TR_BEHAVIOR(thing, struct thing_state, TR_ON(act, on_act), TR_ON(pay, on_pay),
            TR_ON(job_ab, on_job));
TR_DURABLE(thing, thing_state);

/* ---- Programs. ---- */

static char directory[64];
static tr_kit *kit;
static tr_durable_kind kind;

/* Starts a program whose message has these fields. */
static void begin(const tr_type *fields)
{
    static tr_behavior behavior;
    static tr_handler handlers[8];
    static const tr_durable_kind *kinds[2];
    static tr_durables durables;
    job = *fields;
    job.name = "job";
    payment = tr_type_pay;
    payment.reply = &job;
    behavior = tr_behavior_thing;
    ck_assert_uint_lt(behavior.handler_count, 8);
    memset(handlers, 0, sizeof handlers);
    memcpy(handlers, behavior.handlers, behavior.handler_count * sizeof handlers[0]);
    for (size_t i = 0; i < behavior.handler_count; i++) {
        if (handlers[i].type == &tr_type_job_ab)
            handlers[i].type = &job;
        else if (handlers[i].type == &tr_type_pay)
            handlers[i].type = &payment;
    }
    behavior.handlers = handlers;
    kind = tr_durable_thing;
    kind.behavior = &behavior;
    kinds[0] = &kind;
    durables = (tr_durables){sizeof durables, tr_durable_start, kinds};
    kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .durable = &durables, .store = directory, .seed = 1});
    ck_assert_ptr_nonnull(kit);
    handled = fired_a = 0;
}

static void end(void)
{
    tr_kit_free(kit);
}

static int64_t ask(int64_t what)
{
    const void *reply;
    uint64_t bits;
    const struct act asked = {.what = what};
    tr_client *client = tr_kit_client(kit);
    ck_assert_int_eq(tr_client_try_durable(client, &kind, (tr_bytes){"k", 1}, &bits), TR_OK);
    ck_assert_int_eq(
        tr_client_try_await(
            client, tr_client_ask(client, tr_ref_from_bits(bits), &tr_type_act, &asked, 0), &reply),
        TR_OK);
    return ((const struct done *)reply)->value;
}

static tr_status pay_once(uint64_t *a)
{
    const void *reply;
    static const struct pay nothing;
    tr_client *client = tr_kit_client(kit);
    tr_status status = tr_client_try_await(
        client,
        tr_client_ask_key(
            client, &kind, (tr_bytes){"k", 1}, (tr_bytes){"id", 2}, &payment, &nothing, 0),
        &reply);
    if (status == TR_OK)
        *a = ((const struct job_ab *)reply)->a;
    return status;
}

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-shape-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    message.a = 1;
    message.b = 2;
    message.c = 3;
    message.note = "";
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

TEST(an_item_whose_fields_were_moved_is_not_misread, "K-07", "K-05")
{
    directory_make();
    begin(&tr_type_job_ab);
    ck_assert_int_eq(ask(PUSH), TR_OK);
    end();
    begin(&tr_type_job_ba);
    ck_assert_int_eq(ask(TAKE), TR_WRONG_SHAPE);
    ck_assert_int_eq(ask(PEEK), TR_WRONG_SHAPE);
    ck_assert_int_eq(ask(COUNT), 1);
    end();
    begin(&tr_type_job_more); /* a field at the end */
    ck_assert_int_eq(ask(PEEK), TR_OK);
    end();
    begin(&tr_type_job_ab);
    ck_assert_int_eq(ask(TAKE), TR_OK);
    ck_assert_uint_eq(handled, 1);
    end();
    directory_drop();
}

TEST(an_alarm_whose_fields_were_moved_waits_for_the_program_that_knows_it, "K-07", "K-04")
{
    directory_make();
    begin(&tr_type_job_ab);
    ck_assert_int_eq(ask(SET_ALARM), TR_OK);
    end();
    begin(&tr_type_job_ba);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(fired_a, 0);
    end();
    begin(&tr_type_job_ab);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(fired_a, 1);
    end();
    directory_drop();
}

TEST(an_answer_whose_fields_were_moved_is_not_misread, "K-07", "K-14")
{
    uint64_t a = 0;
    directory_make();
    begin(&tr_type_job_ab);
    ck_assert_int_eq(pay_once(&a), TR_OK);
    ck_assert_uint_eq(a, 1);
    end();
    message.a = 7; /* the stored answer is given, not this one */
    begin(&tr_type_job_ba);
    ck_assert_int_eq(pay_once(&a), TR_WRONG_SHAPE);
    end();
    begin(&tr_type_job_ab);
    ck_assert_int_eq(pay_once(&a), TR_OK);
    ck_assert_uint_eq(a, 1);
    end();
    directory_drop();
}

SUITE("durable message shapes", an_item_whose_fields_were_moved_is_not_misread,
      an_alarm_whose_fields_were_moved_waits_for_the_program_that_knows_it,
      an_answer_whose_fields_were_moved_is_not_misread)
