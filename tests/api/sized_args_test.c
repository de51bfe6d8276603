/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arguments, kinds and reports of programs that were compiled with another version of their structs: older ones have fewer
 * members, newer ones more. What is read ends where the struct of the program ends (AddressSanitizer sees who reads on), and
 * what is written too.
 */
#include "support/net.h"

#include <troupe/http.h>
#include <troupe/observe.h>
#include <troupe/process.h>
#include <troupe/http_client.h>
#include <troupe/pool.h>
#include <troupe/shutdown.h>

/* ---- Structs of other versions. ---- */

/* How much more than the library a program knows; SAYS means that it sets what the library does not know. */
enum { NEWER = 8 };
typedef enum version { OLDER, SAME, LATER, LATER_SAYS, NO_SIZE, VERSIONS } version;

/*
 * Returns a struct as a program of this version has it: the first `old` bytes of `whole`, or all `size` bytes, or 8 more. Its
 * first member says how large it is. It ends where its block ends.
 */
static void *as_of(version at, const void *whole, size_t old, size_t size)
{
    size_t has = at == OLDER ? old : at == LATER || at == LATER_SAYS ? size + NEWER : size;
    unsigned char *part = calloc(1, has);
    ck_assert_ptr_nonnull(part);
    memcpy(part, whole, has < size ? has : size);
    size_t said = at == NO_SIZE ? 0 : has;
    memcpy(part, &said, sizeof said);
    if (at == LATER_SAYS)
        part[size] = 1;
    return part;
}

/* The expected status: TR_OK up to LATER, or TR_INVALID_ARGUMENT. */
static tr_status expected_of(version at, bool needs_size)
{
    return at == LATER_SAYS || (at == NO_SIZE && needs_size) ? TR_INVALID_ARGUMENT : TR_OK;
}

static version now; /* of the struct that a function of the host uses */
static tr_status got;

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_next on_host_failed(const struct tr_child_failed *message)
{
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_child_failed, on_host_failed));

/* ---- Spawns. ---- */

TR_MESSAGE(nudge);
TR_ACTOR(worker, nudge);

static tr_next on_nudge(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(worker, void, TR_ON(nudge, on_nudge));

static char name[32];
static int name_number;

/* Arguments of a spawn, or of a group, of the version `now`. Each has a name of its own. */
static tr_spawn_args *spawn_args(version at)
{
    snprintf(name, sizeof name, "w%d", name_number++);
    const tr_spawn_args whole = {.behavior = &tr_behavior_worker, .name = name, .worker = -1};
    return as_of(at, &whole, offsetof(tr_spawn_args, spec), sizeof whole);
}

static tr_group_args *group_args(version at)
{
    const tr_group_args whole = {.members = 2};
    return as_of(at, &whole, offsetof(tr_group_args, routes), sizeof whole);
}

static tr_next on_spawns(tr_self *self)
{
    uint64_t bits = 0;
    tr_spawn_args *args = spawn_args(now);
    got = tr_self_try_spawn(self, args, &bits);
    ck_assert(got != TR_OK || bits);
    free(args);
    args = spawn_args(now);
    ck_assert_int_eq(tr_self_try_pool_spawn(self, args, &bits), got);
    free(args);
    args = spawn_args(now);
    tr_group_args *group = group_args(SAME);
    ck_assert_int_eq(tr_self_try_spawn_group(self, args, group, &bits), got);
    free(args);
    free(group);
    args = spawn_args(SAME);
    group = group_args(now);
    ck_assert_int_eq(tr_self_try_spawn_group(self, args, group, &bits), got);
    free(args);
    free(group);
    return TR_SAME;
}

/* The verbs that return a ref: what is not known ends the turn. */
static tr_next on_spawns_or_fails(tr_self *self)
{
    tr_spawn_args *args = spawn_args(now);
    tr_group_args *group = group_args(now);
    tr_defer(self, args, free);
    tr_defer(self, group, free);
    got = TR_INVALID_ARGUMENT;
    ck_assert(!tr_is_nobody(tr_self_spawn(self, args)));
    snprintf(name, sizeof name, "w%d", name_number++);
    ck_assert(!tr_is_nobody(tr_self_pool_spawn(self, args)));
    snprintf(name, sizeof name, "w%d", name_number++);
    ck_assert(!tr_is_nobody(tr_self_spawn_group(self, args, group)));
    got = TR_OK;
    return TR_SAME;
}

TEST(spawns_of_older_and_newer_programs_are_read_as_far_as_both_know_them, "U-02")
{
    for (now = OLDER; now < VERSIONS; now++) {
        uint64_t bits;
        kit_open(1, 1);
        HOST(host, on_spawns);
        ck_assert_msg(got == expected_of(now, true), "%d: %s", (int)now, tr_status_name(got));
        tr_spawn_args *args = spawn_args(now);
        ck_assert_int_eq(tr_client_try_spawn(test, args, &bits), got);
        free(args);
        args = spawn_args(now);
        ck_assert_int_eq(tr_client_try_pool_spawn(test, args, &bits), got);
        free(args);
        args = spawn_args(now);
        tr_group_args *group = group_args(now);
        ck_assert_int_eq(tr_client_try_spawn_group(test, args, group, &bits), got);
        free(args);
        free(group);
        tr_status before = got;
        host_run(on_spawns_or_fails);
        ck_assert_int_eq(got, before);
        kit_close();
    }
}

/* ---- Endpoints and HTTP. ---- */

static tr_next on_opened(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened));

static tr_next on_request(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "here");
}

TR_BEHAVIOR(site, void, TR_GET("/", tr_http_request, on_request));

static tr_next on_listen(tr_self *self)
{
    uint64_t bits;
    const tr_endpoint at = {.kind = TR_ENDPOINT_TCP, .address = SERVER};
    const tr_listen_args whole = {.behavior = &tr_behavior_session, .at = &at};
    /* no member of it can be left out yet */
    tr_listen_args *args = as_of(now, &whole, sizeof whole, sizeof whole);
    got = tr_self_try_listen(self, args, &bits);
    free(args);
    return TR_SAME;
}

static tr_next on_endpoint(tr_self *self)
{
    uint64_t bits;
    const tr_endpoint whole = {.kind = TR_ENDPOINT_TCP, .address = SERVER};
    tr_endpoint *at = as_of(now, &whole, offsetof(tr_endpoint, accepted_by), sizeof whole);
    const tr_listen_args args = {.size = sizeof args, .behavior = &tr_behavior_session, .at = at};
    got = tr_self_try_listen(self, &args, &bits);
    free(at);
    return TR_SAME;
}

static tr_next on_http_options(tr_self *self)
{
    uint64_t bits;
    const tr_http_options whole = {.body_max = 100};
    size_t size = sizeof whole, old = offsetof(tr_http_options, openapi);
    tr_http_options *options = as_of(now, &whole, old, size);
    size_t known = now == OLDER ? old : now == LATER || now == LATER_SAYS ? size + NEWER : size;
    tr_endpoint at = {
        .size = sizeof at, .kind = TR_ENDPOINT_TCP, .address = SERVER, .http = options};
    const tr_listen_args args = {.size = sizeof args,
                                 .behavior = &tr_behavior_site,
                                 .at = tr_http_endpoint_sized(&at, known)};
    options->size = 0; /* programs do not set it: tr_http_endpoint_sized says how large it is */
    got = tr_self_try_listen(self, &args, &bits);
    free(options);
    return TR_SAME;
}

static void listens(turn *function, const char *what, bool needs_size)
{
    for (now = OLDER; now < VERSIONS; now++) {
        kit_open(1, 1);
        HOST(host, function);
        if (got == TR_NOT_SUPPORTED)
            test_skip("built without HTTP");
        ck_assert_msg(
            got == expected_of(now, needs_size), "%s %d: %s", what, (int)now, tr_status_name(got));
        kit_close();
    }
}

TEST(listeners_of_older_and_newer_programs_are_read_as_far_as_both_know_them, "U-02")
{
    listens(on_listen, "arguments", true);
    listens(on_endpoint, "endpoint", false);
}

TEST(options_of_http_end_where_the_program_says, "U-02")
{
    listens(on_http_options, "options", false);
}

static tr_next on_http_call(tr_self *self)
{
    const struct tr_http_answer *answer;
    tr_listener_ref there = tr_listen(self, site, TR_HTTP(SERVER));
    const tr_http_call whole = {.within_ns = TR_SECOND};
    tr_http_call *call = as_of(now, &whole, offsetof(tr_http_call, version), sizeof whole);
    got = tr_try_await(self, tr_self_http_ask(self, "http://" SERVER "/", call), &answer);
    free(call);
    tr_stop(self, there);
    return TR_SAME;
}

static tr_next on_ws_call(tr_self *self)
{
    tr_channel channel;
    int refused = 0;
    tr_listener_ref there = tr_listen(self, site, TR_HTTP(SERVER));
    const tr_ws_call whole = {.within_ns = TR_SECOND, .refused = &refused};
    tr_ws_call *call = as_of(now, &whole, offsetof(tr_ws_call, by), sizeof whole);
    got = tr_self_ws_try_connect(self, &channel, "ws://" SERVER "/", call);
    free(call);
    if (got == TR_REFUSED) /* the site has no WebSockets, and said so */
        got = TR_OK;
    tr_stop(self, there);
    return TR_SAME;
}

TEST(asks_of_http_end_where_the_program_says, "U-02")
{
    listens(on_http_call, "call", false);
    listens(on_ws_call, "call of a WebSocket", false);
}

/* The macros say the size, so that a program of today runs with a library that knows more. */
TEST(the_macros_of_http_and_keys_say_the_size_of_their_structs, "U-02")
{
    ck_assert_uint_eq(TR_HTTP_CALL_(.text = "")->size, sizeof(tr_http_call));
    ck_assert_uint_eq(TR_WS_CALL_()->size, sizeof(tr_ws_call));
    ck_assert_uint_eq(TR_DURABLE_RANGE_(.max = 1)->size, sizeof(tr_durable_range));
    ck_assert_uint_eq(TR_HTTP(SERVER)->http_size, sizeof(tr_http_options));
    ck_assert_uint_eq(TR_HTTP(SERVER, .http = &(tr_http_options){.logs = true})->http_size,
                      sizeof(tr_http_options));
}

/* ---- Processes. ---- */

static tr_next on_process(tr_self *self)
{
    tr_channel channel;
    const char *why;
    const tr_process whole = {.program = "/nowhere"};
    tr_process *process =
        as_of(now, &whole, offsetof(tr_process, program) + sizeof whole.program, sizeof whole);
    got = tr_try_process_start(self, process, &channel, &why);
    free(process);
    if (got != TR_INVALID_ARGUMENT) /* a kit has no such program, or has been told nothing of it */
        got = TR_OK;
    return TR_SAME;
}

TEST(processes_end_where_the_program_says, "U-02")
{
    listens(on_process, "process", false);
}

/* ---- Durable kinds. ---- */

TR_MESSAGE(counted, (u64, n));
TR_REQUEST(count, counted);
TR_ACTOR(counter, count);
TR_MESSAGE(counter_state, (u64, n));

static tr_next on_count(tr_self *self, struct counter_state *state)
{
    return tr_reply(self, counted, .n = ++state->n);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count));
TR_DURABLE(counter, counter_state);

TR_ACTOR(journal, count);
TR_MESSAGE(journal_state, (u64, n));
TR_MESSAGE(raised);

static void apply_raised(struct journal_state *state)
{
    state->n++;
}

static tr_next on_raise(tr_self *self, const struct journal_state *state)
{
    tr_persist(self, raised);
    return tr_reply(self, counted, .n = state->n);
}

TR_EVENTS(journal_events, journal_state, TR_APPLY(raised, apply_raised));
TR_BEHAVIOR(journal, const struct journal_state, TR_ON(count, on_raise));
TR_DURABLE(journal, journal_state, .events = &journal_events);

/* Opens a kit with these structs, and counts with both kinds. Returns whether there is a kit. */
static bool kinds_work(tr_durables *durables, const tr_durable_kind *first,
                       const tr_durable_kind *second)
{
    tr_kit *kinds = tr_kit_new(&(tr_kit_options){.durable = durables, .log = TR_KIT_LOG_NONE});
    if (!kinds)
        return false;
    tr_client *client = tr_kit_client(kinds);
    const tr_durable_kind *all[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        uint64_t bits;
        const struct counted *reply;
        const tr_durable_range range = {.size = sizeof range};
        tr_durable_page page;
        ck_assert_int_eq(tr_client_try_durable(client, all[i], TR_DURABLE_KEY_("a"), &bits), TR_OK);
        for (uint64_t n = 1; n <= 2; n++) {
            count_ask asked = tr_ask(client, counter_ref_of(tr_ref_from_bits(bits)), count);
            ck_assert_int_eq(tr_try_await(client, asked, &reply), TR_OK);
            ck_assert_uint_eq(reply->n, n);
        }
        ck_assert_int_eq(tr_client_durable_list(client, all[i], &range, &page, sizeof page), TR_OK);
        ck_assert_uint_eq(page.count, 1);
        ck_assert_int_eq(tr_client_durable_destroy(client, all[i], TR_DURABLE_KEY_("a")), TR_OK);
    }
    tr_kit_free(kinds);
    return true;
}

TEST(kinds_of_older_and_newer_programs_are_read_as_far_as_both_know_them, "U-02")
{
    size_t old_kind =
        offsetof(tr_durable_kind, options) + offsetof(tr_durable_options, alarm_retry);
    for (version at = OLDER; at < VERSIONS; at++) {
        bool is_good = expected_of(at, true) == TR_OK;
        /* Only the kind, or only the events, or only the list is of that version. */
        for (int which = 0; which < 3; which++) {
            tr_durable_kind *plain = as_of(
                which == 0 ? at : SAME, &tr_durable_counter, old_kind, sizeof tr_durable_counter);
            tr_events *events = as_of(which == 1 ? at : SAME,
                                      &journal_events,
                                      offsetof(tr_events, snapshots),
                                      sizeof journal_events);
            tr_durable_kind journal = tr_durable_journal;
            journal.options.events = events;
            const tr_durable_kind *list[] = {plain, &journal, NULL};
            const tr_durables whole = {.start = tr_durable_start, .kinds = list};
            tr_durables *durables =
                as_of(which == 2 ? at : SAME, &whole, sizeof whole, sizeof whole);
            ck_assert_msg(
                kinds_work(durables, plain, &journal) == is_good, "%d of %d", (int)at, which);
            free(durables);
            free(events);
            free(plain);
        }
    }
}

TEST(pages_of_keys_are_read_and_written_as_far_as_both_know_them, "U-02")
{
    tr_kit *kinds = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(counter)});
    tr_client *client = tr_kit_client(kinds);
    const struct counted *reply;
    static const char *const keys[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        counter_ref ref;
        ck_assert_int_eq(tr_try_durable(client, &ref, counter, keys[i]), TR_OK);
        ck_assert_int_eq(tr_try_await(client, tr_ask(client, ref, count), &reply), TR_OK);
    }
    for (version at = OLDER; at < VERSIONS; at++) {
        const tr_durable_range whole = {.prefix = "b"};
        tr_durable_range *range =
            as_of(at, &whole, offsetof(tr_durable_range, after), sizeof whole);
        unsigned char page[sizeof(tr_durable_page) + NEWER];
        tr_durable_page *made = (tr_durable_page *)(void *)page;
        size_t size = at == OLDER   ? offsetof(tr_durable_page, has_more)
                      : at == LATER ? sizeof page
                                    : sizeof *made;
        memset(page, 7, sizeof page);
        ck_assert_int_eq(tr_client_durable_list(client, &tr_durable_counter, range, made, size),
                         expected_of(at, false));
        for (size_t i = size; i < sizeof page; i++)
            ck_assert_uint_eq(page[i], 7);
        if (expected_of(at, false) == TR_OK)
            ck_assert_uint_eq(made->count, 1);
        if (at == LATER)
            ck_assert_uint_eq(page[sizeof *made], 0);
        free(range);
    }
    tr_kit_free(kinds);
}

/* ---- Lists. ---- */

/* Rows of a list that knows `size` bytes of each: after the last row nothing is written. */
static void ck_rows(const unsigned char *rows, size_t count, size_t size, size_t known, size_t all)
{
    for (size_t i = count * size; i < all; i++)
        ck_assert_uint_eq(rows[i], 7);
    for (size_t row = 0; row < count; row++) {
        for (size_t i = known; i < size; i++)
            ck_assert_uint_eq(rows[row * size + i], 0);
    }
}

static tr_next on_fail(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "on purpose");
}

TEST(lists_are_written_as_far_as_the_program_knows_their_rows, "U-02")
{
    static unsigned char rows[8 * (sizeof(tr_worker_info) + NEWER)];
    tr_system *system;
    size_t count;
    kit_open(2, 1);
    HOST(host, on_fail);
    system = tr_kit_system(kit);
    for (int newer = -1; newer <= 1; newer++) {
        const tr_actor_query whole = {.behavior = "host"};
        tr_actor_query *query = as_of(newer < 0 ? OLDER
                                      : newer   ? LATER
                                                : SAME,
                                      &whole,
                                      offsetof(tr_actor_query, state),
                                      sizeof whole);
        size_t query_size =
            newer < 0 ? offsetof(tr_actor_query, state) : sizeof whole + (newer ? NEWER : 0);
        size_t less = newer < 0 ? offsetof(tr_actor_info, path) : sizeof(tr_actor_info);
        size_t size = newer > 0 ? sizeof(tr_actor_info) + NEWER : less;
        memset(rows, 7, sizeof rows);
        ck_assert_int_eq(
            tr_system_actors_sized(
                system, query, query_size, (tr_actor_info *)(void *)rows, size, 4, &count),
            TR_OK);
        ck_assert_uint_eq(count, 1);
        ck_rows(rows, count, size, sizeof(tr_actor_info), sizeof rows);
        free(query);

        less = newer < 0 ? offsetof(tr_worker_info, ready) : sizeof(tr_worker_info);
        size = newer > 0 ? sizeof(tr_worker_info) + NEWER : less;
        memset(rows, 7, sizeof rows);
        ck_assert_uint_eq(tr_system_running_sized(system, (tr_worker_info *)(void *)rows, size, 4),
                          2);
        ck_rows(rows, 2, size, sizeof(tr_worker_info), sizeof rows);

        less = newer < 0 ? offsetof(tr_behavior_info, failures) : sizeof(tr_behavior_info);
        size = newer > 0 ? sizeof(tr_behavior_info) + NEWER : less;
        memset(rows, 7, sizeof rows);
        ck_assert_int_eq(
            tr_system_behaviors_sized(system, (tr_behavior_info *)(void *)rows, size, 4, &count),
            TR_OK);
        ck_rows(rows, count, size, sizeof(tr_behavior_info), sizeof rows);

        less = newer < 0 ? offsetof(tr_failure_record, path) : sizeof(tr_failure_record);
        size = newer > 0 ? sizeof(tr_failure_record) + NEWER : less;
        memset(rows, 7, sizeof rows);
        ck_assert_uint_ge(
            tr_system_failures_sized(system, (tr_failure_record *)(void *)rows, size, 4, &count),
            1);
        ck_rows(rows, count, size, sizeof(tr_failure_record), sizeof rows);
    }
    kit_close();
}

/* ---- Reports. ---- */

/* A report of a program that knows `size` bytes: nothing behind them is written, and what only the program knows is zero. */
static void ck_written(const unsigned char *bytes, size_t size, size_t known, size_t all)
{
    for (size_t i = size; i < all; i++)
        ck_assert_uint_eq(bytes[i], 7);
    for (size_t i = known; i < size; i++)
        ck_assert_uint_eq(bytes[i], 0);
}

static unsigned char bytes[sizeof(tr_shutdown_report) + sizeof(tr_actor_report) + NEWER];
static size_t report_size;

ONCE(on_why,
     got = tr_self_actor_why_sized(self, tr_any(host), (tr_why_report *)(void *)bytes, report_size))
ONCE(on_why_far, got = tr_self_actor_why_sized(self, tr_ref_from_bits(kits_seed),
                                               (tr_why_report *)(void *)bytes, report_size))

TEST(reports_are_written_as_far_as_the_program_knows_them, "U-02")
{
    static const tr_why_report *const why = (const tr_why_report *)(const void *)bytes;
    const size_t sizes[] = {offsetof(tr_why_report, path), sizeof *why, sizeof *why + NEWER};
    uint64_t far;
    kit_open(2, 1);
    HOST(host, on_why);
    ck_assert_int_eq(got, TR_INVALID_ARGUMENT); /* no size */
    const tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_worker, .worker = 0};
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &far), TR_OK);
    tr_kit_settle(kit);
    kits_seed = far;
    for (size_t i = 0; i < 3; i++) {
        report_size = sizes[i];
        turn *const turns[] = {on_why, on_why_far, NULL};
        for (size_t j = 0; j < 3; j++) {
            memset(bytes, 7, sizeof bytes);
            if (turns[j])
                host_run(turns[j]);
            else
                got = tr_client_actor_why_sized(
                    test, tr_any(host), (tr_why_report *)(void *)bytes, report_size);
            ck_assert_int_eq(got, TR_OK);
            ck_assert_uint_eq(why->actor.bits, j == 1 ? far : tr_any(host).bits);
            ck_written(bytes, report_size, sizeof *why, sizeof bytes);
        }
    }
    kit_close();
}

TEST(reports_of_actors_and_of_shutdowns_are_written_as_far_as_the_program_knows_them, "U-02")
{
    const tr_actor_report *const shown = (const tr_actor_report *)(const void *)bytes;
    const tr_shutdown_report *const end = (const tr_shutdown_report *)(const void *)bytes;
    const size_t shown_sizes[] = {
        offsetof(tr_actor_report, replies_late), sizeof *shown, sizeof *shown + NEWER};
    const size_t end_sizes[] = {
        offsetof(tr_shutdown_report, hook), sizeof *end, sizeof *end + NEWER};
    report_size = sizeof(tr_why_report);
    kit_open(1, 1);
    HOST(host, on_why);
    for (size_t i = 0; i < 3; i++) {
        memset(bytes, 7, sizeof bytes);
        ck_assert_int_eq(tr_actor_show_sized(
                             test, tr_any(host), (tr_actor_report *)(void *)bytes, shown_sizes[i]),
                         TR_OK);
        ck_assert_uint_eq(shown->incarnation, 1);
        ck_written(bytes, shown_sizes[i], sizeof *shown, sizeof bytes);
    }
    tr_system *system = tr_kit_system(kit);
    ck_assert_int_eq(tr_system_report_sized(system, (tr_shutdown_report *)(void *)bytes, 64),
                     TR_INVALID_TRANSITION);
    tr_system_shutdown(system, TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    for (size_t i = 0; i < 3; i++) {
        memset(bytes, 7, sizeof bytes);
        ck_assert_int_eq(
            tr_system_report_sized(system, (tr_shutdown_report *)(void *)bytes, end_sizes[i]),
            TR_OK);
        ck_assert_uint_ge(end->stopped, 1);
        ck_written(bytes, end_sizes[i], sizeof *end, sizeof bytes);
    }
    tr_kit_fail_allocation(kit, 1, false);
    ck_assert_int_eq(tr_system_report_sized(system, (tr_shutdown_report *)(void *)bytes, 64),
                     TR_NO_MEMORY);
    tr_kit_free(kit);
}

SUITE("sized args", spawns_of_older_and_newer_programs_are_read_as_far_as_both_know_them,
      listeners_of_older_and_newer_programs_are_read_as_far_as_both_know_them,
      options_of_http_end_where_the_program_says, asks_of_http_end_where_the_program_says,
      the_macros_of_http_and_keys_say_the_size_of_their_structs,
      processes_end_where_the_program_says,
      kinds_of_older_and_newer_programs_are_read_as_far_as_both_know_them,
      pages_of_keys_are_read_and_written_as_far_as_both_know_them,
      lists_are_written_as_far_as_the_program_knows_their_rows,
      reports_are_written_as_far_as_the_program_knows_them,
      reports_of_actors_and_of_shutdowns_are_written_as_far_as_the_program_knows_them)
