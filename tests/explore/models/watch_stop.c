/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor watches one on another worker, which says a last word and stops; perhaps it has enough of
 * it, and perhaps it watches again. See src/actor/life/watchers.h.
 *
 * A WATCH that is taken in is kept until the end, and then goes back as the signal. One that finds
 * the door closed is the signal at once; one that reaches the next tenant is sent back. Each watch
 * that is open at the end of all has exactly one signal; one that is not has none, whatever waits
 * already. The signal comes after the last word, and after all that the dead one had is released.
 */
#include "models/office.h"

enum {
    RIGHT,
    CLOSES_EARLY,   /* trap: the door is closed before the last word, as for other mail */
    KEEPS_ANY,      /* trap: the next tenant takes the watch for its own */
    HEARS_ANY,      /* trap: a signal counts for whatever watch there is */
    KEEPS_TOO_LATE, /* trap: what is found behind the door when it closes is kept, for nobody */
    BELIEVES_CLOSED /* trap: a refused sender learns nothing of what was done before */
};

enum kind { WATCH, UNWATCH, SIGNAL, WORD };

struct mail {
    struct door_mail mail; /* must be first */
    enum kind kind;
    struct mail *watch; /* of an UNWATCH */
    struct mail *next;  /* kept with the target, or waiting with the watcher */
};

static struct door watcher_door;
static struct door target_door;
static struct worker watcher_worker;
static struct worker target_worker;
static struct mail watches[2];
static struct mail unwatches[2];
static struct mail word;
static int watcher_posts;
static int target_posts;
static int released; /* what the target had */
/* The target's worker's own. */
static int tenant; /* 1, 0 when there is none, 2 */
static bool has_stopped;
static bool is_post_awaited;
static struct mail *kept;
/* The watcher's own. */
static struct mail *open; /* the watch that counts */
static struct mail *waiting;
static int heard[2];
static bool has_word;

static void setup(void)
{
    door_init(&watcher_door);
    door_open(&watcher_door, 1, 0, false);
    door_init(&target_door);
    door_open(&target_door, 1, 1, false);
    door_name(&target_door);
    worker_init(&watcher_worker);
    worker_init(&target_worker);
    explore_name(&watcher_door.inbox, "watcher's inbox");
    explore_name(&released, "released");
    for (int i = 0; i < 2; i++) {
        watches[i] = (struct mail){.kind = WATCH};
        unwatches[i] = (struct mail){.kind = UNWATCH, .watch = &watches[i]};
        heard[i] = 0;
    }
    word = (struct mail){.kind = WORD};
    watcher_posts = target_posts = 0;
    tenant = 1;
    has_stopped = is_post_awaited = has_word = false;
    kept = open = waiting = NULL;
}

/* ---- The watcher. ---- */

static void wait_last(struct mail *mail)
{
    struct mail **last = &waiting;
    while (*last)
        last = &(*last)->next;
    mail->next = NULL;
    *last = mail;
}

static void watcher_take_in(struct door_mail *chain)
{
    for (struct door_mail *mail = door_reverse(chain); mail;) {
        struct mail *letter = (struct mail *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        wait_last(letter);
    }
}

static void watcher_turns(void)
{
    while (waiting) {
        struct mail *mail = waiting;
        waiting = mail->next;
        if (mail->kind == WORD) {
            has_word = true;
            continue;
        }
        EXPLORE_CHECK(mail->kind == SIGNAL, "no signal");
        if (mail != open && explore_variant() != HEARS_ANY)
            continue;
        EXPLORE_CHECK(mail == open, "the signal of a watch that is over");
        open = NULL;
        heard[mail - watches]++;
        explore_plain_read(&released);
        EXPLORE_CHECK(has_stopped, "the signal of one that lives");
        EXPLORE_CHECK(has_word, "the signal overtakes a message");
    }
}

static bool knock(struct mail *mail)
{
    explore_plain_write(mail);
    switch (door_push(&target_door, &mail->mail)) {
    case DOOR_TAKEN:
        return true;
    case DOOR_TAKEN_POST:
        worker_post(&target_worker, &target_door, &target_posts);
        return true;
    case DOOR_REFUSED:
        break;
    }
    if (explore_variant() != BELIEVES_CLOSED)
        (void)atomptr_load(&target_door.inbox, ATOM_ACQUIRE);
    return false;
}

static void watch(int i)
{
    open = &watches[i];
    if (knock(&watches[i]))
        return;
    /* What came through the door came first. */
    if (door_has_mail(&watcher_door))
        watcher_take_in(door_take_early(&watcher_door));
    watches[i].kind = SIGNAL;
    wait_last(&watches[i]);
}

static void on_watcher_node(struct stack_node *node)
{
    (void)node;
    watcher_posts--;
    watcher_take_in(door_take_posted(&watcher_door));
    watcher_turns();
}

static void watcher_thread(int index)
{
    (void)index;
    watch(0);
    unsigned more = explore_choose(3);
    if (more) {
        open = NULL;
        (void)knock(&unwatches[0]);
    }
    if (more == 2)
        watch(1);
    watcher_turns();
    worker_run(&watcher_worker, NULL, on_watcher_node);
}

/* ---- The target. ---- */

static void tell(struct mail *mail, enum kind kind)
{
    mail->kind = kind;
    explore_plain_write(mail);
    switch (door_push(&watcher_door, &mail->mail)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        worker_post(&watcher_worker, &watcher_door, &watcher_posts);
        break;
    case DOOR_REFUSED:
        explore_fail("the watcher lives");
    }
}

static void keep(struct mail *mail)
{
    mail->next = kept;
    kept = mail;
}

static void unkeep(struct mail *watch)
{
    struct mail **link = &kept;
    while (*link && *link != watch)
        link = &(*link)->next;
    EXPLORE_CHECK(*link, "an unwatch of what is not kept");
    *link = watch->next;
}

static void target_take_in(struct door_mail *chain)
{
    bool keeps = tenant == 1 || (tenant == 2 && explore_variant() == KEEPS_ANY);
    for (struct door_mail *mail = door_reverse(chain); mail;) {
        struct mail *letter = (struct mail *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        if (letter->kind == WATCH && keeps)
            keep(letter);
        else if (letter->kind == WATCH)
            tell(letter, SIGNAL);
        else if (tenant == 1)
            unkeep(letter->watch);
    }
}

static void next_tenant(void)
{
    if (!explore_choose(2))
        return;
    tenant = 2;
    door_open(&target_door, 2, 1, false);
}

static void last_things(void)
{
    tell(&word, WORD);
    explore_plain_write(&released);
}

static void stop(void)
{
    struct door_mail *chain;
    has_stopped = true;
    if (explore_variant() == CLOSES_EARLY) {
        chain = door_close(&target_door, &is_post_awaited);
        last_things();
        tenant = 0;
        target_take_in(chain);
    } else {
        last_things();
        if (explore_variant() != KEEPS_TOO_LATE)
            tenant = 0;
        chain = door_close(&target_door, &is_post_awaited);
        if (explore_variant() != KEEPS_TOO_LATE)
            target_take_in(chain);
    }
    while (kept) {
        struct mail *mail = kept;
        kept = mail->next;
        tell(mail, SIGNAL);
    }
    if (explore_variant() == KEEPS_TOO_LATE)
        target_take_in(chain);
    tenant = 0;
    if (!is_post_awaited)
        next_tenant();
}

static void on_target_turn(void)
{
    if (!has_stopped && explore_choose(2))
        stop();
}

static void on_target_node(struct stack_node *node)
{
    (void)node;
    target_posts--;
    if (is_post_awaited) {
        is_post_awaited = false;
        next_tenant();
        return;
    }
    target_take_in(door_take_posted(&target_door));
    on_target_turn();
}

static void target_thread(int index)
{
    (void)index;
    worker_run(&target_worker, on_target_turn, on_target_node);
}

static void check(void)
{
    EXPLORE_CHECK(!watcher_posts && !target_posts, "a post has not arrived");
    EXPLORE_CHECK(!waiting, "a signal waits, and the worker sleeps");
    EXPLORE_CHECK(heard[0] <= 1 && heard[1] <= 1, "a watch has two signals");
    EXPLORE_CHECK(!open || !has_stopped, "a watch has no signal");
    EXPLORE_CHECK(!has_stopped || !kept, "a watch is kept forever");
    EXPLORE_CHECK(has_word == has_stopped, "the last word is lost");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"watcher", watcher_thread}, {"target", target_thread}}

EXPLORE_MODEL(watch_stop, .about = "watch and unwatch against the end: one signal or none",
              .ids = "WA-04 WA-05 SG-03 SG-04", .variant = RIGHT, THREADS);
EXPLORE_MODEL(watch_stop_early, .about = "trap: the door is closed before the last word", .ids = "",
              .is_wrong = true, .variant = CLOSES_EARLY, THREADS);
EXPLORE_MODEL(watch_stop_tenant, .about = "trap: the next tenant keeps the watch", .ids = "",
              .is_wrong = true, .variant = KEEPS_ANY, THREADS);
EXPLORE_MODEL(watch_stop_hears_any, .about = "trap: a signal counts for any watch", .ids = "",
              .is_wrong = true, .variant = HEARS_ANY, THREADS);
EXPLORE_MODEL(watch_stop_late, .about = "trap: a watch behind the closing door is kept", .ids = "",
              .is_wrong = true, .variant = KEEPS_TOO_LATE, THREADS);
EXPLORE_MODEL(watch_stop_believes, .about = "trap: a closed door is read without acquire",
              .ids = "", .is_wrong = true, .memory = EXPLORE_WEAK, .variant = BELIEVES_CLOSED,
              THREADS);
