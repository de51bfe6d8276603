/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times commits of durable actors with a state of 256 bytes against a bare loop of SQLite (WAL, synchronous=FULL,
 * an update of as many bytes) in the same run. Fails if one actor has less than 0.9 of the loop's rate, or a
 * thousand at once less than 50 times.
 *
 *     build/micro/commits DIRECTORY [seconds]
 *
 * A round gives each of the four below so many seconds, in slices that take turns, so that whatever else the machine
 * does meets all of them. The ratio is that of a round; printed is the median of five rounds, with the least and the
 * most. The directory must not be there; it is removed at the end.
 *
 *     loop     one thread, sqlite3_step by sqlite3_step
 *     asked    one actor changes its state for each message of another actor, which waits for each answer
 *     saves    one actor changes its state and calls tr_save, in a loop
 *     client   as asked, by a thread that is no worker: with the wakes of two more threads
 */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

enum { STATE = 256, PADDING = 246, MANY = 1000, ROUNDS = 5, SLICES = 8, FLIGHT = 64 };

/* What the states point to: it differs each time. */
static char letters[26][STATE];
static const char *directory;

/* ---- The actors that commit. ---- */

TR_MESSAGE(counted, (u64, value), (u32, index));
TR_REQUEST(count, counted, (u32, index));
TR_MESSAGE(save_on, (i64, for_ns));
TR_ACTOR(counter, count, save_on);
TR_MESSAGE(counter_state, (u64, value), (bytes, padding));

static void change(struct counter_state *state)
{
    state->value++;
    state->padding = (tr_bytes){letters[state->value % 26], PADDING};
}

static tr_next on_count(tr_self *self, struct counter_state *state, const struct count *message)
{
    change(state);
    return tr_reply(self, counted, .value = state->value, .index = message->index);
}

static tr_next on_save_on(tr_self *self, struct counter_state *state, const struct save_on *message)
{
    double end_ns = now_ns() + (double)message->for_ns;
    uint64_t before = state->value;
    do {
        change(state);
        tr_save(self);
    } while (now_ns() < end_ns);
    tr_tell(self, tr_sender(self), done, .value = state->value - before);
    return TR_SAME;
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count), TR_ON(save_on, on_save_on));
TR_DURABLE(counter, counter_state);

/* ---- The asker. ---- */

TR_MESSAGE(pump, (u32, flight), (i64, for_ns));
TR_ACTOR(asker, pump);

struct asker {
    tr_ref boss; /* is notified of the end */
    counter_ref refs[MANY];
    uint64_t counted;
    uint32_t open;
    double end_ns;
};

static counter_ref counter_of(tr_self *self, uint32_t index)
{
    char key[32];
    snprintf(key, sizeof key, "counter-%u", index);
    return tr_durable(self, counter, key);
}

/* Keeps so many requests under way, each of another actor, until the time is over. */
static tr_next on_pump(tr_self *self, struct asker *asker, const struct pump *message)
{
    asker->boss = tr_sender(self);
    asker->counted = 0;
    asker->open = message->flight;
    asker->end_ns = now_ns() + (double)message->for_ns;
    for (uint32_t i = 0; i < message->flight; i++) {
        asker->refs[i] = counter_of(self, i);
        tr_tell(self, asker->refs[i], count, .index = i);
    }
    return TR_SAME;
}

static tr_next on_counted(tr_self *self, struct asker *asker, const struct counted *message)
{
    asker->counted++;
    if (now_ns() < asker->end_ns)
        tr_tell(self, asker->refs[message->index], count, .index = message->index);
    else if (--asker->open == 0)
        tr_tell(self, asker->boss, done, .value = asker->counted);
    return TR_SAME;
}

TR_BEHAVIOR(asker, struct asker, TR_ON(pump, on_pump), TR_ON(counted, on_counted));

static asker_ref asker;

/* A failure would otherwise show as a result that never comes. */
static void loud(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level >= TR_LEVEL_WARN)
        fprintf(stderr, "%s: %s\n", path ? path : "-", text);
}

/* Returns the actor that `saves` and `client` use. */
static counter_ref alone(void)
{
    counter_ref ref;
    MUST(tr_try_durable(client, &ref, counter, "alone"));
    return ref;
}

static void open_system(void)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .on_log = loud,
                                       .durable = TR_DURABLES(counter),
                                       .store = directory};
    MUST(tr_system_new(&options, &system_));
    MUST(tr_system_start(system_));
    MUST(tr_client_new(system_, &client));
    MUST(tr_try_spawn(client, &asker, asker, "asker"));
}

/* ---- The bare loop. ---- */

static sqlite3 *bare;
static sqlite3_stmt *bare_update;

static void bare_open(void)
{
    static const char tables[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name BLOB UNIQUE, state BLOB);"
        "INSERT INTO t VALUES (1, 'x', 'x')";
    static const char update[] = "UPDATE t SET state = ?1 WHERE id = 1";
    char path[300];
    snprintf(path, sizeof path, "%s/bare.db", directory);
    require(sqlite3_open(path, &bare) == SQLITE_OK, "bare open");
    require(sqlite3_exec(bare, tables, NULL, NULL, NULL) == SQLITE_OK, "bare tables");
    require(sqlite3_prepare_v2(bare, update, -1, &bare_update, NULL) == SQLITE_OK,
            "bare statement");
}

static void bare_commit(uint64_t number)
{
    sqlite3_bind_blob(bare_update, 1, letters[number % 26], STATE, SQLITE_STATIC);
    require(sqlite3_step(bare_update) == SQLITE_DONE, "bare commit");
    sqlite3_reset(bare_update);
}

/*
 * Gives its log the full length before anything is timed, as that of the store has by then: a sync of a file that
 * grows takes several times as long, and would be to the loop's disadvantage.
 */
static void bare_warm_up(void)
{
    require(sqlite3_exec(bare, "PRAGMA synchronous=OFF", NULL, NULL, NULL) == SQLITE_OK, "off");
    for (uint64_t i = 0; i < 5000; i++)
        bare_commit(i);
    require(sqlite3_exec(bare, "PRAGMA synchronous=FULL", NULL, NULL, NULL) == SQLITE_OK, "full");
}

/* ---- Those that take turns. Each returns how many commits it made. ---- */

static uint64_t loop_for(double ns)
{
    uint64_t count = 0;
    double end_ns = now_ns() + ns;
    do
        bare_commit(count++);
    while (now_ns() < end_ns);
    return count;
}

static uint64_t pump_for(uint32_t flight, double ns)
{
    MUST(tr_tell(client, asker, pump, .flight = flight, .for_ns = (tr_time)ns));
    return wait_done();
}

static uint64_t asked_for(double ns)
{
    return pump_for(1, ns);
}

static uint64_t saves_for(double ns)
{
    MUST(tr_tell(client, alone(), save_on, .for_ns = (tr_time)ns));
    return wait_done();
}

static uint64_t client_for(double ns)
{
    uint64_t made = 0;
    counter_ref ref = alone();
    double end_ns = now_ns() + ns;
    do {
        const struct counted *counted;
        MUST(tr_try_await(client, tr_ask(client, ref, count), &counted));
        made++;
    } while (now_ns() < end_ns);
    return made;
}

enum way { LOOP, ASKED, SAVES, CLIENT, WAYS };
static const struct {
    const char *name;
    uint64_t (*run_for)(double ns);
} ways[WAYS] = {
    {"loop", loop_for}, {"asked", asked_for}, {"saves", saves_for}, {"client", client_for}};

/* ---- Rounds. ---- */

static double rates[WAYS][ROUNDS];
static double ratios[WAYS][ROUNDS];

static void run_round(int round, double seconds)
{
    uint64_t counts[WAYS] = {0};
    double used_ns[WAYS] = {0};
    for (int i = 0; i < SLICES * WAYS; i++) {
        int way = (i + i / WAYS) % WAYS; /* each follows each of the others */
        double begin_ns = now_ns();
        counts[way] += ways[way].run_for(seconds * 1e9 / SLICES);
        used_ns[way] += now_ns() - begin_ns;
    }
    for (int way = 0; way < WAYS; way++) {
        rates[way][round] = (double)counts[way] / used_ns[way] * 1e9;
        ratios[way][round] = rates[way][round] / rates[LOOP][round];
    }
}

static bool print_way(int way, double least)
{
    double rate = median(rates[way], ROUNDS);
    double ratio = median(ratios[way], ROUNDS);
    bool is_met = ratio >= least;
    printf("%-14s %8.0f commits/s", ways[way].name, rate);
    if (way != LOOP)
        printf("   %5.2f x (%.2f to %.2f)", ratio, ratios[way][0], ratios[way][ROUNDS - 1]);
    if (least > 0)
        printf("   wanted: %.2f   %s", least, is_met ? "yes" : "NO");
    printf("\n");
    return is_met;
}

/* Waits until the store has tidied its log, which would slow down whoever syncs next. */
static void settle(void)
{
    (void)usleep(1500000);
}

/* The thousand take turns with the loop as well: how fast a machine that others use too is changes within minutes. */
static bool many(double seconds)
{
    static const double least = 50;
    double counts[ROUNDS];
    double times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        settle();
        double begin_ns = now_ns();
        double loop = (double)loop_for(seconds * 1e9 / 2) / (now_ns() - begin_ns) * 1e9;
        begin_ns = now_ns();
        counts[i] = (double)pump_for(MANY, seconds * 1e9) / (now_ns() - begin_ns) * 1e9;
        times[i] = counts[i] / loop;
    }
    double rate = median(counts, ROUNDS);
    double ratio = median(times, ROUNDS);
    printf("%d actors    %8.0f commits/s   %5.1f x (%.1f to %.1f)",
           MANY,
           rate,
           ratio,
           times[0],
           times[ROUNDS - 1]);
    printf("   wanted: %.0f      %s\n", least, ratio >= least ? "yes" : "NO");
    return ratio >= least;
}

static void clean(void)
{
    static const char *const names[] = {
        "lock", "troupe.db", "troupe.db-log", "bare.db", "bare.db-wal", "bare.db-shm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

int main(int argc, char **argv)
{
    static const double least[WAYS] = {[ASKED] = 0.9, [SAVES] = 0.9};
    require(argc >= 2, "usage: commits DIRECTORY [seconds]");
    directory = argv[1];
    double seconds = argc > 2 ? atof(argv[2]) : 2.0;
    require(mkdir(directory, 0700) == 0, "the directory is there, or cannot be made");
    for (int i = 0; i < 26; i++)
        memset(letters[i], 'a' + i, STATE);
    open_system();
    bare_open();
    (void)pump_for(FLIGHT, 1e9); /* until its log has the full length, whatever a sync takes */
    bare_warm_up();
    for (int way = 0; way < WAYS; way++)
        (void)ways[way].run_for(0.2e9);
    for (int i = 0; i < ROUNDS; i++)
        run_round(i, seconds);
    bool is_met = true;
    for (int way = 0; way < WAYS; way++)
        is_met &= print_way(way, least[way]);
    is_met &= many(seconds < 1 ? seconds : 1);
    sqlite3_finalize(bare_update);
    sqlite3_close(bare);
    end();
    clean();
    return is_met ? 0 : 1;
}
