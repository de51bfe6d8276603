/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bank on all cores: tellers move money between accounts as fast as they can, a line a second
 * shows how it goes, and Ctrl-C closes the bank. Then the money is counted: none may be lost.
 *
 *     06_bank [--seconds N] [--workers N]
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bank.h"

enum { ACCOUNTS = 1000, TELLERS_PER_WORKER = 4, TELLERS_MAX = TELLERS_PER_WORKER * TR_WORKERS_MAX };

static const uint64_t CENTS_AT_FIRST = 100000; /* of each account */
static const tr_time PATIENCE = 10 * TR_SECOND;

struct bank {
    tr_system *system;
    tr_client *client; /* how this thread talks to the actors */
    account_ref accounts[ACCOUNTS];
    teller_ref tellers[TELLERS_MAX];
    int teller_count;
    struct report total; /* of all tellers, as of the last line */
    uint64_t messages;   /* handled by then */
};

/* ---- Opening. ---- */

static tr_status open_accounts(struct bank *bank)
{
    int workers = tr_system_workers(bank->system);
    for (int i = 0; i < ACCOUNTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "account-%d", i);
        tr_status status = tr_try_spawn_at(bank->client,
                                           &bank->accounts[i],
                                           i % workers,
                                           account,
                                           name,
                                           open_account,
                                           .cents = CENTS_AT_FIRST);
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

static tr_status open_desks(struct bank *bank)
{
    int workers = tr_system_workers(bank->system);
    while (bank->teller_count < workers * TELLERS_PER_WORKER) {
        int i = bank->teller_count;
        char name[32];
        snprintf(name, sizeof name, "teller-%d", i);
        tr_status status = tr_try_spawn_at(bank->client,
                                           &bank->tellers[i],
                                           i % workers,
                                           teller,
                                           name,
                                           open_desk,
                                           .accounts = {bank->accounts, ACCOUNTS});
        if (status != TR_OK)
            return status;
        bank->teller_count++;
    }
    return TR_OK;
}

/* ---- While it is open. ---- */

/* Waits for one report of each teller and adds them up. */
static bool collect_reports(struct bank *bank, struct report *total)
{
    *total = (struct report){.transfers = 0};
    for (int i = 0; i < bank->teller_count; i++) {
        const struct report *one = tr_receive(bank->client, report, PATIENCE);
        if (one == NULL)
            return false;
        total->transfers += one->transfers;
        total->refusals += one->refusals;
        total->in_flight += one->in_flight;
    }
    return true;
}

static bool print_line(struct bank *bank, int second)
{
    struct report now;
    tr_counters counters;
    for (int i = 0; i < bank->teller_count; i++)
        tr_tell(bank->client, bank->tellers[i], get_report);
    if (!collect_reports(bank, &now))
        return false;
    tr_system_counters(bank->system, &counters);
    printf("%4d s  %9" PRIu64 " transfers/s  %9" PRIu64 " messages/s  %5" PRIu32
           " in flight  %" PRIu64 " actors  %" PRIu64 " dead letters\n",
           second,
           now.transfers - bank->total.transfers,
           counters.handled - bank->messages,
           now.in_flight,
           counters.live,
           counters.dead_letters);
    fflush(stdout);
    bank->total = now;
    bank->messages = counters.handled;
    return true;
}

/* A line a second, until a signal comes or the time is over. */
static bool stay_open(struct bank *bank, const sigset_t *signals, int seconds)
{
    for (int second = 1; seconds == 0 || second <= seconds; second++) {
        if (sigtimedwait(signals, NULL, &(struct timespec){.tv_sec = 1}) > 0)
            break;
        if (!print_line(bank, second)) {
            fprintf(stderr, "a teller does not answer\n");
            return false;
        }
    }
    return true;
}

/* ---- Closing. ---- */

/* Each teller finishes what it has begun, so that no money is on its way when it is counted. */
static bool close_desks(struct bank *bank)
{
    for (int i = 0; i < bank->teller_count; i++)
        tr_tell(bank->client, bank->tellers[i], close_desk);
    return collect_reports(bank, &bank->total);
}

static bool audit(struct bank *bank)
{
    uint64_t cents = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        tr_tell(bank->client, bank->accounts[i], get_balance);
    for (int i = 0; i < ACCOUNTS; i++) {
        const struct balance *balance = tr_receive(bank->client, balance, PATIENCE);
        if (balance == NULL) {
            fprintf(stderr, "an account does not answer\n");
            return false;
        }
        cents += balance->cents;
    }
    uint64_t deposited = ACCOUNTS * CENTS_AT_FIRST;
    printf("closed after %" PRIu64 " transfers, %" PRIu64 " refused\n",
           bank->total.transfers,
           bank->total.refusals);
    printf("audit: %" PRIu64 ".%02u deposited, %" PRIu64 ".%02u in %d accounts: %s\n",
           deposited / 100,
           (unsigned)(deposited % 100),
           cents / 100,
           (unsigned)(cents % 100),
           (int)ACCOUNTS,
           cents == deposited ? "the books balance" : "MONEY IS MISSING");
    return cents == deposited;
}

/* ---- The program. ---- */

static bool run(struct bank *bank, const sigset_t *signals, int seconds)
{
    tr_status status = tr_client_new(bank->system, &bank->client);
    if (status == TR_OK)
        status = open_accounts(bank);
    if (status == TR_OK)
        status = open_desks(bank);
    if (status != TR_OK) {
        fprintf(stderr, "the bank does not open: %s\n", tr_status_text(status));
        tr_client_free(bank->client);
        return false;
    }
    printf("%d accounts, %d tellers, %d workers; Ctrl-C closes the bank\n",
           (int)ACCOUNTS,
           bank->teller_count,
           tr_system_workers(bank->system));
    bool is_good = stay_open(bank, signals, seconds);
    sigprocmask(SIG_UNBLOCK, signals, NULL); /* A second Ctrl-C ends the program at once. */
    is_good = close_desks(bank) && audit(bank) && is_good;
    tr_client_free(bank->client);
    return is_good;
}

static int usage(FILE *stream, int status)
{
    fprintf(stream, "usage: 06_bank [--seconds N] [--workers N] [--help]\n");
    return status;
}

int main(int argc, char **argv)
{
    int seconds = 0; /* until Ctrl-C */
    int workers = 0; /* one per CPU */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        int *option = strcmp(argv[i], "--seconds") == 0   ? &seconds
                      : strcmp(argv[i], "--workers") == 0 ? &workers
                                                          : NULL;
        if (option == NULL || i + 1 == argc || (*option = atoi(argv[++i])) <= 0)
            return usage(stderr, 2);
    }

    /* Signals are blocked here; sigtimedwait fetches them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    static struct bank bank;
    tr_status status = tr_system_new(&(tr_system_options){.workers = workers}, &bank.system);
    bool is_good = false;
    if (status == TR_OK && (status = tr_system_start(bank.system)) == TR_OK) {
        is_good = run(&bank, &signals, seconds);
        tr_system_shutdown(bank.system, PATIENCE);
        status = tr_system_wait(bank.system);
    }
    if (status != TR_OK)
        fprintf(stderr, "06_bank: %s\n", tr_status_text(status));
    tr_system_free(bank.system);
    return is_good && status == TR_OK ? 0 : 1;
}
