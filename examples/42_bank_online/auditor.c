/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The auditor has books of its own. It adds up what the accounts have, as they say it, and the payments that have left one
 * account and have not arrived at another: the sum must be what was there at the beginning, at each moment. It shows all of
 * that to browsers, four times a second, and a line on the terminal each second.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/observe.h>
#include <unistd.h>
#include "bank.h"
#include "figures.h"
#include "program.h"

TR_MESSAGE(draw);  /* a timer: four times a second */
TR_MESSAGE(count); /* a timer: once a second */

enum { INCIDENTS_KEPT = 8, FAILURES_READ = 8 };

struct books {
    uint64_t cents[ACCOUNTS];
    int64_t under_way[ACCOUNTS]; /* debited and not credited, by payer */
    uint64_t arrived[ACCOUNTS];  /* the number of the last payment that was credited, by payer */
    bool is_open;                /* `opened` has come */
    uint64_t mistakes;           /* payments that were credited twice; there are none */
};

struct auditor {
    struct books books;
    live_topic live;
    tr_time start_ns;
    uint64_t transfers;
    uint32_t arrivals; /* of this second */
    uint64_t commits_seen;
    struct latencies latencies;
    struct figures figures; /* of the last second */
    uint64_t failures_seen;
    uint64_t news_seen;
    uint64_t stalls_seen;
    size_t incident_count; /* in all; the last INCIDENTS_KEPT are in `incidents` */
    struct {
        uint64_t at_ms;
        char text[160];
    } incidents[INCIDENTS_KEPT];
    char json[16 * 1024];
};

/* ---- The books. ---- */

static uint64_t books_sum(const struct books *books, int64_t *under_way)
{
    int64_t sum = 0;
    *under_way = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        sum += (int64_t)books->cents[i];
        *under_way += books->under_way[i];
    }
    return (uint64_t)(sum + *under_way);
}

static tr_next on_opened(struct auditor *auditor, const struct opened *message)
{
    for (size_t i = 0; i < ACCOUNTS && i < message->cents.count; i++)
        auditor->books.cents[i] = message->cents.items[i];
    auditor->books.is_open = true;
    return TR_SAME;
}

static tr_next on_debited(struct auditor *auditor, const struct debited *message)
{
    uint32_t payer = message->account % ACCOUNTS;
    auditor->books.cents[payer] = message->left;
    auditor->books.under_way[payer] += (int64_t)message->cents;
    return TR_SAME;
}

/*
 * The credit may be known here before its debit, because two accounts tell: then less than nothing is under way for a
 * moment. A payment that arrives a second time is not subtracted, and the sum is wrong from then on.
 */
static tr_next on_credited(struct auditor *auditor, const struct credited *message)
{
    struct books *books = &auditor->books;
    uint32_t payer = message->from % ACCOUNTS;
    books->cents[message->account % ACCOUNTS] = message->left;
    if (message->number <= books->arrived[payer]) {
        books->mistakes++;
        return TR_SAME;
    }
    books->arrived[payer] = message->number;
    if (!books->is_open)
        return TR_SAME; /* it was under way when the program started, and is in the sums of `opened` */
    books->under_way[payer] -= (int64_t)message->cents;
    auditor->arrivals++;
    auditor->transfers++;
    return TR_SAME;
}

static tr_next on_served(struct auditor *auditor, const struct served *message)
{
    latencies_add(&auditor->latencies, message->ns);
    return TR_SAME;
}

/* ---- What goes wrong. ---- */

static void incident_add(tr_self *self, struct auditor *auditor, const char *text)
{
    size_t at = auditor->incident_count++ % INCIDENTS_KEPT;
    auditor->incidents[at].at_ms = (uint64_t)((tr_now(self) - auditor->start_ns) / TR_MILLISECOND);
    snprintf(auditor->incidents[at].text, sizeof auditor->incidents[at].text, "%s", text);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* New failures and restarts become incidents. */
static void see_failures(tr_self *self, struct auditor *auditor)
{
    tr_failure_record last[FAILURES_READ];
    size_t count;
    uint64_t all = tr_system_failures(tr_system_of(self), last, FAILURES_READ, &count);
    uint64_t fresh = all - auditor->failures_seen;
    for (size_t i = fresh < count ? (size_t)fresh : count; i-- > 0;) {
        char text[160];
        if (last[i].is_restart)
            snprintf(text, sizeof text, "%s runs again", last_part(last[i].path));
        else
            snprintf(text,
                     sizeof text,
                     "%s failed in %.40s: %.80s",
                     last_part(last[i].path),
                     last[i].where,
                     last[i].text);
        incident_add(self, auditor, text);
    }
    auditor->failures_seen = all;
}

/* So do stalls, which the hook in main.c has noted: a stuck handler cannot say so itself. */
static void see_stalls(tr_self *self, struct auditor *auditor)
{
    char text[160];
    while (stall_take(&auditor->stalls_seen, text, sizeof text))
        incident_add(self, auditor, text);
}

/* ---- What is shown. ---- */

/* Writes which accounts are awake. They stay as they are. */
static uint32_t see_sleepers(tr_self *self, bool is_awake[ACCOUNTS])
{
    tr_durable_page page = {0};
    uint32_t awake = 0;
    if (tr_durable_list(self, account, &page, .max = 2 * ACCOUNTS) != TR_OK)
        return 0;
    for (size_t i = 0; i < page.count; i++) {
        int number = account_number(page.keys[i].key.data);
        if (number < 0 || !page.keys[i].is_awake)
            continue;
        is_awake[number] = true;
        awake++;
    }
    return awake;
}

static tr_next on_draw(tr_self *self, struct auditor *auditor)
{
    see_failures(self, auditor);
    see_stalls(self, auditor);
    if (!auditor->books.is_open || tr_topic_count(self, auditor->live) == 0)
        return TR_SAME;
    bool is_awake[ACCOUNTS] = {false};
    struct card cards[ACCOUNTS];
    struct incident incidents[INCIDENTS_KEPT];
    size_t shown = 0;
    uint32_t awake = see_sleepers(self, is_awake);
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        cards[i] = (struct card){account_names[i], auditor->books.cents[i], is_awake[i]};
    for (size_t i = auditor->incident_count; i-- > 0 && shown < INCIDENTS_KEPT; shown++)
        incidents[shown] = (struct incident){auditor->incidents[i % INCIDENTS_KEPT].at_ms,
                                             auditor->incidents[i % INCIDENTS_KEPT].text};
    tr_counters counters;
    tr_system_counters(tr_system_of(self), &counters);
    struct board board = {.expected = (uint64_t)ACCOUNTS * OPENING_CENTS,
                          .transfers = auditor->transfers,
                          .rate = auditor->figures.rate,
                          .p99_us = auditor->figures.p99_us,
                          .awake = awake,
                          .commits = auditor->figures.commits,
                          .failures = counters.failures,
                          .restarts = counters.restarts,
                          .stalls = counters.stalls,
                          .starts = program.shared->starts,
                          .pid = getpid(),
                          .accounts = {cards, ACCOUNTS},
                          .incidents = {incidents, shown}};
    board.sum = books_sum(&auditor->books, &board.under_way);
    if (tr_json_write(&tr_type_board, &board, auditor->json, sizeof auditor->json, NULL) <
        sizeof auditor->json)
        tr_publish(self, auditor->live, board_text, .json = auditor->json);
    return TR_SAME;
}

static tr_next on_count(tr_self *self, struct auditor *auditor)
{
    if (!auditor->books.is_open)
        return TR_SAME;
    int64_t under_way;
    bool is_awake[ACCOUNTS] = {false};
    tr_counters counters;
    tr_system_counters(tr_system_of(self), &counters);
    uint64_t sum = books_sum(&auditor->books, &under_way);
    uint64_t news = counters.failures + counters.stalls;
    uint64_t commits = tr_durable_commits(tr_system_of(self));
    struct figures now = {.seconds = (uint32_t)((tr_now(self) - auditor->start_ns) / TR_SECOND),
                          .rate = auditor->arrivals,
                          .p99_us = latencies_take_p99(&auditor->latencies),
                          .restarts = counters.restarts,
                          .awake = see_sleepers(self, is_awake),
                          .commits = (uint32_t)(commits - auditor->commits_seen),
                          .stalls = counters.stalls,
                          .sum = sum,
                          .is_exact = sum == (uint64_t)ACCOUNTS * OPENING_CENTS,
                          .is_news = news != auditor->news_seen};
    now.asleep = ACCOUNTS - now.awake;
    auditor->figures = now;
    auditor->arrivals = 0;
    auditor->commits_seen = commits;
    auditor->news_seen = news;
    program_note(auditor->transfers, counters.restarts, now.is_exact && !auditor->books.mistakes);
    figures_print(&now);
    return TR_SAME;
}

static tr_next set_up(tr_self *self, struct auditor *auditor)
{
    auditor->live = tr_topic_open(self, live, "live");
    auditor->start_ns = tr_now(self);
    return TR_SAME;
}

static tr_next on_start(tr_self *self)
{
    tr_subscribe(self, tr_topic_open(self, books, "books"));
    tr_timer_fixed_rate(self, "draw", 250 * TR_MILLISECOND, draw);
    tr_timer_fixed_rate(self, "count", TR_SECOND, count);
    return TR_SAME;
}

TR_BEHAVIOR(auditor, struct auditor, TR_SETUP(set_up), TR_ON(tr_pre_start, on_start),
            TR_ON(opened, on_opened), TR_ON(debited, on_debited), TR_ON(credited, on_credited),
            TR_ON(served, on_served), TR_ON(draw, on_draw), TR_ON(count, on_count));
