/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The slot of an ask: the answer from another worker against the timeout, the end of the asker, and
 * the end of the receiver.
 *
 * The asker, a client's thread or the worker of an actor, asks twice and uses its one slot again. Requests
 * and answers cross by the real doors and ready inboxes. What decides about an answer is as in
 * actor/ask/ask.c and actor/verbs/client_ask.c: its generation is that of the asker's present tenancy, its number
 * that of the slot, and the outcome of the slot is not fixed yet. Numbers start again with each tenancy.
 *
 * The receiver replies, replies twice, passes the request on to another worker, or stops: then the
 * request itself travels back as an exception, and so do those that were queued.
 */
#include "models/office.h"

enum {
    CLIENT,      /* waits for its answer, and frees itself by waiting for a post */
    ACTOR,       /* takes mail early, too, and makes a trace between timeout and end */
    SHUTS_DOWN,  /* a client; the system may end, also without an answer */
    NO_TENANT,   /* trap: generations are not compared */
    TAKES_FIXED, /* trap: an answer counts although the outcome is fixed */
    NO_LAST_LOOK /* trap: the client knows that the system is over and does not look again */
};

enum { ASKS = 2, ASKED = 0, OTHER = 1, DOORS = 2 };
enum kind { REQUEST, REPLY, EXCEPTION };

struct note {
    struct letter letter; /* must be first; its number is the ask that it is about */
    enum kind kind;
    uint32_t id;
    bool is_used;
};

static struct door doors[DOORS]; /* of those who are asked */
static struct worker workers[DOORS];
static int posts[DOORS];
static bool is_closed[DOORS]; /* their owners' own */

static struct door asker_door;
static struct worker asker;
static int asker_posts;
/* The asker's own. */
static uint32_t tenant; /* its generation; 0 when the door is closed */
static struct {
    int ask;
    uint32_t id; /* 0: nobody uses it */
    bool is_fixed;
} slot;

static atom32 is_over;
static struct note requests[ASKS];
static struct note replies[ASKS][2];
static int outcomes[ASKS];
static int answers_sent[ASKS];
static bool is_said_to_be_over[ASKS]; /* the outcome is the end of the system */

static void note_init(struct note *note, int sender, int ask)
{
    *note = (struct note){.is_used = false};
    letter_init(&note->letter, sender, ask, 0);
}

static void setup(void)
{
    for (int i = 0; i < DOORS; i++) {
        door_init(&doors[i]);
        door_open(&doors[i], 1, 0, false);
        worker_init(&workers[i]);
        posts[i] = 0;
        is_closed[i] = false;
    }
    worker_init(&asker);
    door_init(&asker_door);
    door_open(&asker_door, 1, 0, false);
    door_name(&asker_door);
    explore_name(&doors[ASKED].inbox, "asked");
    explore_name(&doors[OTHER].inbox, "other");
    asker_posts = 0;
    tenant = 1;
    memset(&slot, 0, sizeof slot);
    atom32_init(&is_over, 0);
    explore_name(&is_over, "over");
    for (int ask = 0; ask < ASKS; ask++) {
        note_init(&requests[ask], 0, ask);
        note_init(&replies[ask][0], 1, ask);
        note_init(&replies[ask][1], 2, ask);
        outcomes[ask] = 0;
        answers_sent[ask] = 0;
        is_said_to_be_over[ask] = false;
    }
}

/* ---- Those who are asked. ---- */

static void answer(struct note *note, enum kind kind)
{
    explore_plain_write(note);
    note->kind = kind;
    enum door_result result = DOOR_REFUSED;
    if (atom64_load(&asker_door.ref, ATOM_RELAXED) == note->letter.generation)
        result = door_push(&asker_door, &note->letter.mail);
    if (result == DOOR_REFUSED) {
        letter_end(&note->letter, "refused: the asker has ended");
        return;
    }
    answers_sent[note->letter.number]++;
    if (result == DOOR_TAKEN_POST)
        worker_post(&asker, &asker_door, &asker_posts);
}

static void reply(const struct note *request, int which)
{
    struct note *note = &replies[request->letter.number][which];
    note->is_used = true;
    note->id = request->id;
    note->letter.generation = request->letter.generation;
    answer(note, REPLY);
}

static enum door_result pass(struct note *request, int to)
{
    enum door_result result = door_push(&doors[to], &request->letter.mail);
    if (result == DOOR_TAKEN_POST)
        worker_post(&workers[to], &doors[to], &posts[to]);
    return result;
}

static void handle(struct note *request, int which);

static void stop(int which)
{
    bool is_posted;
    is_closed[which] = true;
    struct door_mail *mail = door_reverse(door_close(&doors[which], &is_posted));
    while (mail) {
        struct note *request = (struct note *)(void *)mail;
        explore_plain_read(request);
        mail = mail->next;
        handle(request, which);
    }
}

static bool may_shut_down(void)
{
    return explore_variant() == SHUTS_DOWN || explore_variant() == NO_LAST_LOOK;
}

enum { REPLIES, STOPS, KEEPS_SILENT, REPLIES_TWICE, PASSES };

static unsigned choose_deed(int which)
{
    static const unsigned deeds[] = {REPLIES, STOPS, REPLIES_TWICE, PASSES};
    if (is_closed[which])
        return STOPS;
    if (may_shut_down())
        return explore_choose(3); /* one worker: when it ends nobody is left who could answer */
    return deeds[explore_choose(which == ASKED ? 4 : 2)];
}

static void handle(struct note *request, int which)
{
    unsigned deed = choose_deed(which);
    explore_note("request %d: deed %u", request->letter.number, deed);
    switch (deed) {
    case REPLIES_TWICE:
        reply(request, 1);
        reply(request, 0);
        letter_end(&request->letter, "answered twice");
        break;
    case REPLIES:
        reply(request, 0);
        letter_end(&request->letter, "answered");
        break;
    case PASSES:
        explore_plain_write(request);
        if (pass(request, OTHER) == DOOR_REFUSED)
            answer(request, EXCEPTION);
        break;
    case STOPS:
        answer(request, EXCEPTION);
        if (!is_closed[which])
            stop(which);
        break;
    case KEEPS_SILENT:
        letter_end(&request->letter, "never answered");
        stop(which);
        break;
    }
}

static void take_requests(int which)
{
    struct door_mail *mail = door_reverse(door_take_posted(&doors[which]));
    while (mail) {
        struct note *request = (struct note *)(void *)mail;
        explore_plain_read(request);
        mail = mail->next;
        handle(request, which);
    }
}

static void on_post(struct stack_node *node)
{
    for (int i = 0; i < DOORS; i++) {
        if (node != &doors[i].ready)
            continue;
        posts[i]--;
        if (!is_closed[i])
            take_requests(i);
    }
}

/* The end of the system, after which nobody sends. */
static void end_of_system(void)
{
    if (!may_shut_down() || !is_closed[ASKED])
        return;
    if (atom32_exchange(&is_over, 1, ATOM_SEQ_CST))
        return;
    if (ready_nudge(&asker.ready))
        explore_unpark(&asker.parker);
}

static void asked_turn(void)
{
    if (!is_closed[ASKED] && explore_choose(2))
        stop(ASKED);
    end_of_system();
}

static void asked_thread(int index)
{
    (void)index;
    worker_run(&workers[ASKED], asked_turn, on_post);
}

static void other_thread(int index)
{
    (void)index;
    worker_run(&workers[OTHER], NULL, on_post);
}

/* ---- The asker. ---- */

static void outcome(int ask, const char *how)
{
    explore_note("ask %d: %s", ask, how);
    EXPLORE_CHECK(!outcomes[ask]++, "ask %d has two outcomes, the second: %s", ask, how);
}

static void fix(const char *how)
{
    slot.is_fixed = true;
    outcome(slot.ask, how);
}

static void take_answer(struct note *note)
{
    bool is_mine = note->letter.generation == tenant || explore_variant() == NO_TENANT;
#if CANARY == 5
    bool is_known = slot.id;
#else
    bool is_known = slot.id && note->id == slot.id;
#endif
    bool is_open = !slot.is_fixed || explore_variant() == TAKES_FIXED;
    if (!is_mine || !is_known || !is_open) {
        letter_end(&note->letter, "late: a dead letter");
        return;
    }
    EXPLORE_CHECK(note->letter.number == slot.ask, "a late reply ends the next ask");
    letter_end(&note->letter, "taken");
    fix(note->kind == REPLY ? "a reply" : "an exception");
}

static void take_answers(struct door_mail *chain)
{
    struct door_mail *mail = door_reverse(chain);
    while (mail) {
        struct note *note = (struct note *)(void *)mail;
        explore_plain_read(note);
        mail = mail->next;
        take_answer(note);
    }
}

static void on_answer(struct stack_node *node)
{
    (void)node;
    asker_posts--;
    if (tenant)
        take_answers(door_take_posted(&asker_door));
}

static void look(void)
{
    if (explore_variant() == ACTOR && explore_choose(2))
        take_answers(door_take_early(&asker_door));
    worker_take(&asker, on_answer);
}

static void sleep_a_while(void)
{
    if (!ready_doze(&asker.ready))
        return;
    explore_park(&asker.parker);
    ready_rise(&asker.ready);
}

/* The asker ends, and so does its ask; another one gets its door. */
static void end_asker(uint32_t next)
{
    bool is_posted;
    if (slot.id && !slot.is_fixed)
        fix("cancelled");
    slot.id = 0;
    tenant = 0;
    atom64_store(&asker_door.ref, 0, ATOM_RELAXED);
    take_answers(door_close(&asker_door, &is_posted));
    while (is_posted && !worker_take(&asker, on_answer)) {
        if (explore_variant() == ACTOR)
            sleep_a_while();
        else
            atom_pause();
    }
    if (!next)
        return;
    tenant = next;
    door_open(&asker_door, next, 0, false);
}

static void ask(int number, uint32_t id)
{
    struct note *request = &requests[number];
    slot.ask = number;
    slot.id = id;
    slot.is_fixed = false;
    request->is_used = true;
    request->kind = REQUEST;
    request->id = id;
    request->letter.generation = tenant;
    explore_note("ask %d: number %u of tenant %u", number, id, tenant);
    explore_plain_write(request);
    if (pass(request, ASKED) == DOOR_REFUSED) {
        letter_end(&request->letter, "refused: it has stopped");
        fix("stopped");
    }
}

/* Waits for the outcome; false when the asker ends meanwhile. */
static bool await_answer(bool may_end)
{
    bool is_last = false;
    for (;;) {
        look();
        if (slot.is_fixed)
            return true;
        if (is_last) {
            is_said_to_be_over[slot.ask] = true;
            fix("the system is over");
            return true;
        }
        is_last = atom32_load(&is_over, ATOM_SEQ_CST);
        if (is_last && explore_variant() == NO_LAST_LOOK) {
            is_said_to_be_over[slot.ask] = true;
            fix("the system is over");
            return true;
        }
        if (is_last)
            continue;
        switch (may_end ? explore_choose(3) : 0) {
        case 1:
            fix("timeout");
            if (explore_variant() == ACTOR || explore_variant() == TAKES_FIXED)
                look(); /* the trace takes its time */
            return true;
        case 2:
            return false;
        }
        sleep_a_while();
    }
}

static void asker_thread(int index)
{
    (void)index;
    ask(0, 1);
    bool is_ended = !await_answer(true) || explore_choose(2);
    slot.id = is_ended ? slot.id : 0;
    if (is_ended)
        end_asker(2);
    ask(1, is_ended ? 1 : 2);
    await_answer(false);
    end_asker(0);
}

static void check(void)
{
    for (int i = 0; i < ASKS; i++) {
        EXPLORE_CHECK(outcomes[i] == 1, "ask %d has no outcome", i);
        EXPLORE_CHECK(!is_said_to_be_over[i] || !answers_sent[i],
                      "ask %d was answered before the system ended",
                      i);
        letter_check_end(&requests[i].letter);
        for (int j = 0; j < 2; j++) {
            if (replies[i][j].is_used)
                letter_check_end(&replies[i][j].letter);
        }
    }
    EXPLORE_CHECK(!asker_posts, "a post has not arrived");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"asked", asked_thread}, {"other", other_thread}, {"asker", asker_thread}}

#if CANARY == 0
EXPLORE_MODEL(ask, .about = "an ask of a client: one outcome, and never by another's answer",
              .ids = "A-01 AK-01 AK-05 AK-07 AK-08", .variant = CLIENT, THREADS);
EXPLORE_MODEL(ask_actor, .about = "an ask between workers: one outcome, never by another's answer",
              .ids = "A-01 P-05 AK-01 AK-04 AK-07 AK-08", .variant = ACTOR, THREADS);
EXPLORE_MODEL(ask_over, .about = "an ask of a client while the system ends: one outcome",
              .ids = "A-01", .variant = SHUTS_DOWN, THREADS);
EXPLORE_MODEL(ask_no_tenant, .about = "trap: an answer for the door's last tenant is taken",
              .ids = "AK-07", .is_wrong = true, .variant = NO_TENANT, THREADS);
EXPLORE_MODEL(ask_takes_fixed, .about = "trap: an answer counts after the timeout", .ids = "A-01",
              .is_wrong = true, .variant = TAKES_FIXED, THREADS);
EXPLORE_MODEL(ask_no_last_look, .about = "trap: the end of the system hides an answer",
              .ids = "A-01", .is_wrong = true, .variant = NO_LAST_LOOK, THREADS);
#elif CANARY == 5
EXPLORE_MODEL(canary5_ask_generation, .about = "canary 5: an ask slot without generation",
              .ids = "AK-07", .is_wrong = true, .variant = CLIENT, THREADS);
#endif
