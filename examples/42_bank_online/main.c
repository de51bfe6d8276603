/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bank on the web that cannot lose money: `make run`. Its accounts are durable actors behind HTTP and WebSocket. On its
 * page you can fail a handler, block one, and kill the process: it starts again, and the sum of all accounts is checked
 * before anybody may pay.
 *
 *     account.c    an account, and how a payment survives a crash
 *     customer.c   customers who pay all day long
 *     auditor.c    the books, the figures, what browsers see
 *     site.c       the page and the gateway
 *     keeper.c     the parent process, which starts the bank again
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "bank.h"
#include "program.h"

enum { CUSTOMERS = 64, RATE_MAX = 100000, STALLS_KEPT = 8 };

static const tr_time QUIET_NS = 30 * TR_SECOND; /* for payments of the last process to arrive */

struct program program = {.listen = "127.0.0.1:8080", .rate = 100};

/* ---- Stalls: noted by the thread that watches the workers, read by the auditor. ---- */

static struct {
    pthread_mutex_t lock;
    uint64_t count;
    char texts[STALLS_KEPT][160];
} stalls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_stall(void *context, const tr_stall *stall)
{
    (void)context;
    const char *slash = stall->path ? strrchr(stall->path, '/') : NULL;
    pthread_mutex_lock(&stalls.lock);
    snprintf(stalls.texts[stalls.count++ % STALLS_KEPT],
             sizeof stalls.texts[0],
             stall->is_over ? "%s has returned from %s after %" PRId64 " ms"
                            : "%s stands in %s for %" PRId64 " ms; the others continue",
             slash ? slash + 1 : "an actor",
             stall->handler ? stall->handler : "a handler",
             stall->duration_ns / TR_MILLISECOND);
    pthread_mutex_unlock(&stalls.lock);
}

bool stall_take(uint64_t *seen, char *text, size_t size)
{
    pthread_mutex_lock(&stalls.lock);
    bool is_new = *seen < stalls.count;
    if (stalls.count > *seen + STALLS_KEPT)
        *seen = stalls.count - STALLS_KEPT;
    if (is_new)
        snprintf(text, size, "%s", stalls.texts[(*seen)++ % STALLS_KEPT]);
    pthread_mutex_unlock(&stalls.lock);
    return is_new;
}

/* ---- The end. ---- */

static struct {
    uint64_t transfers;
    uint64_t restarts;
    bool is_exact;
    bool is_open;
} last;

void program_note(uint64_t transfers, uint64_t restarts, bool is_exact)
{
    last.transfers = transfers;
    last.restarts = restarts;
    last.is_exact = is_exact;
}

static void say_end(void)
{
    if (last.is_open)
        printf("closed: %" PRIu64 " transfers, %" PRIu64 " restarts, %u starts; the sum is %s\n",
               last.transfers,
               last.restarts,
               program.shared->starts,
               last.is_exact ? "exact" : "WRONG");
}

/* ---- The start. ---- */

/* Waits until no payment of an account is under way. Returns whether there was one. */
static bool settle(tr_self *self, const char *name)
{
    bool was_under_way = false;
    tr_time limit = tr_now(self) + QUIET_NS;
    for (;;) {
        const struct account_is *is = tr_await(self, tr_ask_key(self, account, name, look));
        if (is->under_way == 0)
            return was_under_way;
        if (tr_now(self) > limit)
            tr_crash(self, TR_TIMEOUT, "the payments of %s do not arrive", name);
        was_under_way = true;
        tr_sleep(self, 2 * TR_MILLISECOND);
    }
}

/*
 * Lets the payments arrive that were under way when the last process ended, and adds up all accounts. Nobody else can pay
 * meanwhile, so what was settled stays so.
 */
static void audit(tr_self *self, auditor_ref auditor)
{
    uint64_t cents[ACCOUNTS];
    uint64_t sum = 0;
    int late = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        late += settle(self, account_names[i]);
    for (int i = 0; i < ACCOUNTS; i++) {
        const struct account_is *is =
            tr_await(self, tr_ask_key(self, account, account_names[i], look));
        cents[i] = is->cents;
        sum += is->cents;
    }
    bool is_exact = sum == (uint64_t)ACCOUNTS * OPENING_CENTS;
    printf("the books: %d accounts, %" PRIu64 ".%02u in all: %s",
           ACCOUNTS,
           sum / 100,
           (unsigned)(sum % 100),
           is_exact ? "exact" : "WRONG");
    printf(late ? "; %d had payments under way\n" : "\n", late);
    if (!is_exact)
        tr_crash(self, TR_BAD_DATA, "the sum is not that of the opening");
    tr_tell(self, auditor, opened, .cents = {cents, ACCOUNTS});
}

/*
 * Writes what makes a link to the inspector of the address of the page: "#inspect=PORT/TOKEN". Browsers keep it to themselves.
 * It is only for a terminal that has space for it, and for a page that no other machine can open.
 */
static void link_write(const char *inspector, const char *address, char *text, size_t size)
{
    static const char before[] = "http://127.0.0.1:";
    struct winsize window = {0};
    text[0] = '\0';
    if (!inspector || strncmp(inspector, before, sizeof before - 1) != 0 ||
        strncmp(address, "127.0.0.1:", 10) != 0 || !isatty(STDOUT_FILENO) ||
        (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col && window.ws_col < 80))
        return;
    const char *token = strstr(inspector, "/#token=");
    const char *port = inspector + sizeof before - 1;
    if (token)
        snprintf(text, size, "#inspect=%.*s/%s", (int)(token - port), port, token + 8);
}

static void say_where(const char *address, const char *inspector)
{
    const char *port = strrchr(address, ':');
    char link[80];
    link_write(inspector, address, link, sizeof link);
    if (strncmp(address, "127.0.0.1:", 10) == 0 || strncmp(address, "0.0.0.0:", 8) == 0)
        printf(
            "open   http://localhost%s/%s\n"
            "try    curl -d '{\"to\":\"ben\",\"cents\":5}' localhost%s/actors/account/anna/pay\n",
            port,
            link,
            port);
    else
        printf("open   http://%s/\n"
               "try    curl -d '{\"to\":\"ben\",\"cents\":5}' %s/actors/account/anna/pay\n",
               address,
               address);
    printf("break  the buttons of the page, or: kill -9 %d; Ctrl-C closes the bank\n",
           (int)getpid());
    fflush(stdout);
}

/* The next process has its inspector there too: with --inspect-token its page comes back by itself. */
static void inspector_note(const char *address)
{
    const char *begin = address ? strstr(address, "://") : NULL;
    size_t length = begin ? strcspn(begin + 3, "/") : 0;
    if (length && length < sizeof program.shared->inspector)
        snprintf(program.shared->inspector,
                 sizeof program.shared->inspector,
                 "%.*s",
                 (int)length,
                 begin + 3);
}

/* Listens where the last process did: a browser that comes back finds the bank at the same port. Returns whether it can. */
static bool open_doors(tr_self *self)
{
    struct shared *shared = program.shared;
    bool is_inherited = strncmp(program.listen, "fd:", 3) == 0;
    const char *at = shared->address[0] && !is_inherited ? shared->address : program.listen;
    tr_listener_ref listener;
    tr_status status = tr_try_listen(self, &listener, site, TR_HTTP(at));
    if (status != TR_OK) {
        fprintf(stderr,
                "42_bank_online: cannot listen at %s: %s; %schoose another address: --listen "
                "127.0.0.1:0\n",
                at,
                tr_status_text(status),
                status == TR_ADDRESS_IN_USE ? "end the other program, or " : "");
        return false;
    }
    const char *address = tr_address_text(self, tr_listener_address(self, listener));
    snprintf(shared->address, sizeof shared->address, "%s", address);
    inspector_note(tr_app_inspector(self));
    say_where(address, tr_app_inspector(self));
    return true;
}

static tr_next on_args(tr_self *self)
{
    auditor_ref auditor = tr_spawn(self, auditor, "auditor");
    audit(self, auditor);
    if (!open_doors(self))
        return tr_app_exit(self, 1);
    last.is_open = true;
    last.is_exact = true;
    for (int i = 0; program.rate > 0 && i < CUSTOMERS; i++)
        tr_spawn_at(self,
                    i % tr_system_workers(tr_system_of(self)),
                    customer,
                    NULL,
                    habits,
                    .pause_ns = (uint64_t)(CUSTOMERS * TR_SECOND / program.rate));
    return TR_SAME;
}

TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));

/* The keeper starts before the flags are read, so it looks for this one itself. */
static bool has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], flag) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    program.shared = shared_new();
    if (!program.shared) {
        fprintf(stderr, "42_bank_online: no memory\n");
        return 1;
    }
    if (has_flag(argc, argv, "--alone")) {
        program.shared->starts = 1;
    } else {
        int status = keep(program.shared);
        if (status >= 0)
            return status;
    }
    /* Letters that a shutdown leaves unread are for those who ask: TROUPE_LOG=debug make run. */
    setenv("TROUPE_LOG", "info", 0);
    int status = tr_app_main(
        argc,
        argv,
        bank,
        .summary = "A bank on the web that cannot lose money.",
        .flags = TR_FLAGS({.name = "listen",
                           .text = &program.listen,
                           .takes = "ADDRESS",
                           .help = "where the page is; port 0 is any free one",
                           .example = "--listen 127.0.0.1:9000"},
                          {.name = "rate",
                           .number = &program.rate,
                           .min = 0,
                           .max = RATE_MAX,
                           .takes = "N",
                           .help = "payments of the customers in a second; 0: only yours",
                           .example = "--rate 1000"},
                          {.name = "alone",
                           .is_set = &program.is_alone,
                           .help = "without the keeper, which starts the bank again",
                           .example = "--alone"}),
        .durable = TR_DURABLES(account),
        .inspect = program.shared->inspector[0] ? program.shared->inspector : "127.0.0.1:0",
        .system = {.handoff_after_ns = 20 * TR_MILLISECOND,
                   .turn_report_ns = 200 * TR_MILLISECOND,
                   .on_stall = on_stall});
    say_end();
    return status;
}
