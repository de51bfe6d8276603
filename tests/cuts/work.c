/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that write numbers everywhere, and look for them again.
 *
 *     work run DIR SEED ROUNDS FIRST close|die     works; marks what it asks for and what was acknowledged
 *     work look DIR                                opens the store and says what each key has
 *
 * A key is asked to do step 1, 2, 3, ...; each is a put or a destroy. Put n changes all that an actor can have, in one
 * commit, and what it writes follows from the key and n. So one look knows whether everything that is there is of the
 * same step: then it says `<key> <first step of this life> <last step>`, and 0 0 for a key that has nothing. Marks:
 *
 *     S <key> <step> p|d          is asked for now
 *     A <key> <step>              was answered
 *     L <key> <first> <last>      was seen by a look
 *     G <epoch>                   of a start that was reported
 *     O, C                        the store is opened, closed
 *     B <n>, D <n>                backup n begins, is done
 *     X <n>                       backup n is no longer needed
 *
 * Beside the steps a thread makes backups into ../copy<n>, and compacts the store, over the control socket.
 */
#include "care.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

#define KEYS 36    /* of them */
#define TALES 8    /* the last are actors with events */
#define SLOTS 8    /* keys with values, each put writes one of them */
#define QUEUED 3   /* items that stay in the queue */
#define THREADS 3  /* which ask at the same time, each for its own keys */
#define WIDE_MAX 8 /* asks on their way at once */
#define DUE ((tr_time)3900000000 * TR_SECOND)

TR_MESSAGE(done, (u64, epoch), (u64, first), (u64, last), (str, broken));
TR_REQUEST(step, done, (u64, n));
TR_REQUEST(look, done);
TR_REQUEST(end, done);
TR_MESSAGE(ring);
TR_MESSAGE(task, (u64, n), (str, fill));
TR_ACTOR(box, step, look, end);
TR_ACTOR(tale, step, look, end);
TR_MESSAGE(box_state, (u64, first), (u64, last), (str, fill));
TR_MESSAGE(told, (u64, n), (str, fill));
TR_MESSAGE(tale_state, (u64, first), (u64, last), (u64, count));

/* ---- What is written where: a string that follows from the key, the step and the place. ---- */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static const char *fill(tr_self *self, uint64_t n, uint64_t place)
{
    uint64_t x = mix(n * 64 + place);
    for (const char *key = tr_key(self).data; *key; key++)
        x = mix(x + (uint8_t)*key);
    size_t size = x % 16 == 0 && place != 0 ? 3000 + x / 16 % 17000 : 20 + x / 16 % 400;
    char *text = tr_alloc(self, size + 1);
    for (size_t i = 0; i < size; i++) {
        if (i % 8 == 0)
            x = mix(x);
        text[i] = (char)('a' + (x >> (i % 8 * 8) & 15));
    }
    text[size] = 0;
    return text;
}

static tr_bytes bytes(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

static bool is_same(tr_bytes value, const char *text)
{
    return value.size == strlen(text) && memcmp(value.data, text, value.size) == 0;
}

static tr_bytes slot_key(tr_self *self, uint64_t n)
{
    char *name = tr_alloc(self, 16);
    snprintf(name, 16, "slot%u", (unsigned)(n % SLOTS));
    return bytes(name);
}

static tr_next answer(tr_self *self, uint64_t first, uint64_t last, const char *broken)
{
    uint64_t epoch;
    tr_generation(self, &epoch);
    return tr_reply(self, done, .epoch = epoch, .first = first, .last = last, .broken = broken);
}

static const char *say(tr_self *self, const char *format, ...)
{
    va_list list;
    char *text = tr_alloc(self, 200);
    va_start(list, format);
    vsnprintf(text, 200, format, list);
    va_end(list);
    return text;
}

static bool has_tables(tr_self *self)
{
    return ((const char *)tr_key(self).data)[1] % 3 == 0;
}

/* ---- A box: state, keys with values, an alarm, a queue, a table. ---- */

static tr_next on_step(tr_self *self, struct box_state *box, const struct step *message)
{
    uint64_t n = message->n;
    const struct task *task;
    /* First, because it may be a wait: what it removes is stored with what follows. */
    if (tr_queue_count(self, "tasks") >= QUEUED &&
        tr_queue_receive(self, "tasks", task, 0, &task) != TR_OK)
        return tr_refuse(self, 1, "the queue gives nothing");
    if (box->first == 0)
        box->first = n;
    box->last = n;
    tr_free(self, (void *)(uintptr_t)box->fill);
    box->fill = fill(self, n, 0);
    tr_kv_put(self, slot_key(self, n), bytes(fill(self, n, 1)));
    if (n % 2)
        tr_kv_put(self, bytes("odd"), bytes(fill(self, n, 2)));
    else
        tr_kv_delete(self, bytes("odd"));
    /* Many small ones, so that a destroy is of more rows than it deletes at once. */
    for (uint64_t i = 0; i < 3; i++)
        tr_kv_put(self,
                  bytes(say(self, "many%05u", (unsigned)(n * 3 + i) % 100)),
                  bytes(fill(self, n, 3)));
    tr_alarm_at(self, "due", DUE + (tr_time)n * TR_SECOND, ring);
    tr_queue_push(self, "tasks", task, .n = n, .fill = fill(self, n, 4));
    if (has_tables(self)) {
        tr_sql(self, "INSERT INTO entry (n, fill) VALUES (?, ?)", n, fill(self, n, 5));
        tr_sql(self, "DELETE FROM entry WHERE n <= ?", (int64_t)n - 5);
    }
    return answer(self, box->first, n, NULL);
}

static const char *judge(tr_self *self, const struct box_state *box)
{
    uint64_t f = box->first, n = box->last;
    tr_bytes value;
    const tr_kv *pairs;
    if (f ? strcmp(box->fill ? box->fill : "", fill(self, n, 0)) != 0 : n || box->fill)
        return say(self, "state of %" PRIu64, n);
    uint64_t from = f + SLOTS > n ? f : n - SLOTS + 1;
    if (tr_kv_list(self, bytes("slot"), (tr_bytes){0}, &pairs, 100) != (f ? n - from + 1 : 0))
        return say(self, "%" PRIu64 "-%" PRIu64 ": number of slots", f, n);
    for (uint64_t i = from; f && i <= n; i++)
        if (!tr_kv_get(self, slot_key(self, i), &value) || !is_same(value, fill(self, i, 1)))
            return say(self, "%" PRIu64 ": slot of %" PRIu64, n, i);
    if (tr_kv_get(self, bytes("odd"), &value) != (n % 2 != 0) ||
        (n % 2 && !is_same(value, fill(self, n, 2))))
        return say(self, "%" PRIu64 ": odd", n);
    uint64_t many = f ? (n - f + 1) * 3 : 0;
    if (tr_kv_list(self, bytes("many"), (tr_bytes){0}, &pairs, 200) != (many > 100 ? 100 : many))
        return say(self, "%" PRIu64 ": number of many", n);
    for (uint64_t i = many > 100 ? (n + 1) * 3 - 100 : f * 3; f && i < (n + 1) * 3; i++)
        if (!tr_kv_get(self, bytes(say(self, "many%05u", (unsigned)i % 100)), &value) ||
            !is_same(value, fill(self, i / 3, 3)))
            return say(self, "%" PRIu64 ": many of %" PRIu64, n, i);
    if (tr_alarm_due(self, "due") != (f ? DUE + (tr_time)n * TR_SECOND : 0))
        return say(self, "%" PRIu64 ": alarm", n);
    if (has_tables(self)) {
        uint64_t i = f + 5 > n ? f : n - 4;
        TR_SQL_EACH(row, tr_sql(self, "SELECT n, fill FROM entry ORDER BY n"))
        {
            if (!f || (uint64_t)row[0].integer != i || strcmp(row[1].text, fill(self, i, 5)) != 0)
                return say(self, "%" PRIu64 ": table has %lld", n, (long long)row[0].integer);
            i++;
        }
        if (i != (f ? n + 1 : 0))
            return say(self, "%" PRIu64 ": table ends at %" PRIu64, n, i);
    }
    uint64_t i = f + QUEUED > n ? f : n - QUEUED + 1;
    if (tr_queue_count(self, "tasks") != (f ? n - i + 1 : 0))
        return say(self, "%" PRIu64 ": %zu in queue", n, tr_queue_count(self, "tasks"));
    for (; f && i <= n; i++) {
        const struct task *task;
        tr_queued item;
        if (tr_queue_take(self, "tasks", task, 0, &task, &item) != TR_OK || task->n != i ||
            strcmp(task->fill, fill(self, i, 4)) != 0)
            return say(self, "%" PRIu64 ": item of %" PRIu64, n, i);
    }
    return NULL;
}

static tr_next on_look(tr_self *self, struct box_state *box)
{
    const char *broken = judge(self, box);
    return answer(self, box->first, box->last, broken);
}

static tr_next on_end(tr_self *self)
{
    if (tr_destroy(self) != TR_OK)
        return tr_refuse(self, 1, "cannot destroy");
    return answer(self, 0, 0, NULL);
}

static tr_next on_ring(tr_self *self)
{
    tr_log(self, TR_LEVEL_ERROR, "an alarm rings far too early");
    return TR_SAME;
}

TR_BEHAVIOR(box, struct box_state, TR_ON(step, on_step), TR_ON(look, on_look), TR_ON(end, on_end),
            TR_ON(ring, on_ring));
TR_DURABLE(box, box_state, .grace_ns = 1 * TR_MILLISECOND,
           .sql_schema = TR_SQL_SCHEMA("CREATE TABLE entry (n INTEGER PRIMARY KEY, fill TEXT)"));

/* ---- A tale: events. ---- */

static void apply_told(struct tale_state *tale, const struct told *event)
{
    if (tale->first == 0)
        tale->first = event->n;
    tale->last = event->n;
    tale->count++;
}

TR_EVENTS(tale_events, tale_state, TR_APPLY(told, apply_told), TR_SNAPSHOTS(.every = 8));

static tr_next on_tell(tr_self *self, const struct tale_state *tale, const struct step *message)
{
    tr_persist(self, told, .n = message->n, .fill = fill(self, message->n, 6));
    return answer(self, tale->first, message->n, NULL);
}

static tr_next on_hear(tr_self *self, const struct tale_state *tale)
{
    const char *broken = NULL;
    tr_event event = {0};
    uint64_t n = tale->first;
    while (!broken && tr_event_next(self, &event)) {
        const struct told *told = TR_EVENT_AS(&event, told);
        if (!told || told->n != n || event.sequence != n - tale->first + 1 ||
            strcmp(told->fill, fill(self, n, 6)) != 0)
            broken = say(self, "%" PRIu64 ": event %" PRIu64, tale->last, event.sequence);
        n++;
    }
    if (!broken &&
        (tale->first ? n != tale->last + 1 || tale->count != n - tale->first : n || tale->last))
        broken = say(self, "%" PRIu64 ": events up to %" PRIu64, tale->last, n);
    return answer(self, tale->first, tale->last, broken);
}

TR_BEHAVIOR(tale, const struct tale_state, TR_ON(step, on_tell), TR_ON(look, on_hear),
            TR_ON(end, on_end));
TR_DURABLE(tale, tale_state, .events = &tale_events, .grace_ns = 1 * TR_MILLISECOND);

/* ---- Those who ask. ---- */

static void (*mark_function)(const char *);
static uint64_t steps[KEYS];
static bool is_there[KEYS];   /* it has something to destroy */
static tr_ref last_ref[KEYS]; /* each key belongs to one thread */
static tr_system *system_;
static uint64_t seed;
static struct care care;

void mark(const char *format, ...)
{
    char line[100];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (mark_function)
        mark_function(line);
}

void die(const char *what, tr_status status)
{
    fprintf(stderr, "work: %s: %s\n", what, tr_status_text(status));
    _exit(3);
}

static void name_key(unsigned key, char name[8])
{
    snprintf(name, 8, "k%02u", key);
}

/* Waits until the last actor of a key, which is being destroyed, has ended. main limits the time of all. */
static void await_end(tr_client *client, unsigned key)
{
    tr_client_watch(client, last_ref[key]);
    (void)tr_receive(client, tr_terminated, TR_SECOND);
}

static tr_status find(tr_client *client, unsigned key, tr_ref *ref)
{
    char name[8];
    name_key(key, name);
    for (;;) {
        uint64_t bits;
        tr_status status = tr_client_try_durable(
            client, key < KEYS - TALES ? &tr_durable_box : &tr_durable_tale, bytes(name), &bits);
        if (status == TR_OK)
            *ref = last_ref[key] = tr_ref_from_bits(bits);
        if (status != TR_DESTROYING)
            return status;
        await_end(client, key);
    }
}

struct asked {
    unsigned key;
    char what; /* p, d, l */
    uint64_t n;
    tr_pending ask;
};

static void send(tr_client *client, struct asked *asked)
{
    tr_ref ref;
    tr_status status = find(client, asked->key, &ref);
    if (status != TR_OK)
        die("durable", status);
    box_ref box = box_ref_of(ref);
    tale_ref tale = tale_ref_of(ref);
    bool is_box = asked->key < KEYS - TALES;
    tr_time time = 60 * TR_SECOND;
    if (asked->what == 'p')
        asked->ask = is_box ? tr_ask_within(client, time, box, step, .n = asked->n).any
                            : tr_ask_within(client, time, tale, step, .n = asked->n).any;
    else if (asked->what == 'd')
        asked->ask = is_box ? tr_ask_within(client, time, box, end).any
                            : tr_ask_within(client, time, tale, end).any;
    else
        asked->ask = is_box ? tr_ask_within(client, time, box, look).any
                            : tr_ask_within(client, time, tale, look).any;
}

/* What was not taken is sent again. */
static tr_status receive(tr_client *client, struct asked *asked, const struct done **reply)
{
    for (int i = 0;; i++) {
        tr_status status = tr_client_try_await(client, asked->ask, (const void **)reply);
        if ((status != TR_DESTROYING && status != TR_STOPPED) || i > 5000)
            return status;
        await_end(client, asked->key);
        send(client, asked);
    }
}

static void *thread_main(void *context)
{
    unsigned number = (unsigned)(uintptr_t)context & 255,
             rounds = (unsigned)((uintptr_t)context >> 8);
    tr_client *client;
    const struct done *reply;
    uint64_t x = mix(seed * THREADS + number), epoch = 0;
    tr_status status = tr_client_new(system_, &client);
    if (status != TR_OK)
        die("client", status);
    for (unsigned round = 0; round < rounds; round++) {
        /* The first asks for one step at a time, the others for several, also of one key. */
        struct asked asked[WIDE_MAX];
        unsigned count = number == 0 ? 1 : 1 + (unsigned)((x = mix(x)) % WIDE_MAX), sent = 0;
        for (; sent < count; sent++) {
            unsigned key = (unsigned)((x = mix(x)) % (KEYS / THREADS)) * THREADS + number;
            x = mix(x);
            bool is_destroy = x % 40 == 0 && is_there[key], is_busy = false;
            for (unsigned i = 0; i < sent; i++)
                is_busy |= asked[i].key == key && (is_destroy || asked[i].what == 'd');
            if (is_busy)
                break;
            asked[sent] =
                (struct asked){.key = key, .what = is_destroy ? 'd' : 'p', .n = ++steps[key]};
            is_there[key] = !is_destroy;
            mark("S %u %" PRIu64 " %c", key, asked[sent].n, asked[sent].what);
            send(client, &asked[sent]);
        }
        for (unsigned i = 0; i < sent; i++) {
            status = receive(client, &asked[i], &reply);
            if (status != TR_OK)
                die("step", status);
            if (reply->epoch > epoch)
                mark("G %" PRIu64, epoch = reply->epoch);
            mark("A %u %" PRIu64, asked[i].key, asked[i].n);
        }
        /* Nothing comes. It is long enough for the store to tidy up, if the others are done, too. */
        if (round == rounds / 2 && rounds > 30)
            (void)tr_receive(client, ring, 1500 * TR_MILLISECOND);
    }
    tr_client_free(client);
    return NULL;
}

static void work(unsigned rounds)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, thread_main, (void *)(i | (uintptr_t)rounds << 8)) !=
            0)
            die("thread", TR_NO_MEMORY);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void look_at_all(void)
{
    tr_client *client;
    struct asked asked[KEYS];
    const struct done *reply;
    tr_status status = tr_client_new(system_, &client);
    if (status != TR_OK)
        die("client", status);
    for (unsigned i = 0; i < KEYS; i++) {
        asked[i] = (struct asked){.key = i, .what = 'l'};
        send(client, &asked[i]);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        status = receive(client, &asked[i], &reply);
        if (status != TR_OK)
            printf("%u error %s\n", i, tr_status_text(status));
        else if (reply->broken)
            printf("%u broken %s\n", i, reply->broken);
        else {
            printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   i,
                   reply->first,
                   reply->last,
                   reply->epoch);
            mark("G %" PRIu64, reply->epoch);
            mark("L %u %" PRIu64 " %" PRIu64, i, reply->first, reply->last);
        }
    }
    tr_client_free(client);
}

/* FIRST is a file with the last step of each key, and whether it is there: read at the start, written at the end. */
static void carry(const char *path, bool is_end)
{
    FILE *file = fopen(path, is_end ? "w" : "r");
    for (unsigned i = 0; file && i < KEYS; i++) {
        int there = is_there[i];
        if (is_end)
            fprintf(file, "%" PRIu64 " %d\n", steps[i], there);
        else if (fscanf(file, "%" SCNu64 " %d", &steps[i], &there) == 2)
            is_there[i] = there;
    }
    if (file && is_end)
        fprintf(file, "%" PRIu64 "\n", care.copy_count);
    else if (file && fscanf(file, "%" SCNu64, &care.copy_count) != 1)
        care.copy_count = 0;
    if (file)
        fclose(file);
}

static char **arguments;

/* Works, and ends the process or the program. */
static void *run_main(void *context)
{
    pthread_t thread;
    (void)context;
    if (pthread_create(&thread, NULL, care_main, &care) != 0)
        die("thread", TR_NO_MEMORY);
    work((unsigned)atoi(arguments[4]));
    atomic_store(&care.ends, true);
    if (strcmp(arguments[6], "die") != 0)
        pthread_join(thread, NULL);
    carry(arguments[5], true);
    if (strcmp(arguments[6], "die") == 0)
        _exit(0);
    mark("C");
    tr_system_shutdown(system_, 20 * TR_SECOND);
    return NULL;
}

static tr_next on_start(tr_self *self)
{
    pthread_t thread;
    system_ = tr_system_of(self);
    if (pthread_create(&thread, NULL, run_main, NULL) != 0)
        die("thread", TR_NO_MEMORY);
    return TR_SAME;
}

TR_ACTOR(cuts, ring);
static tr_next on_idle(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(cuts, void, TR_ON(tr_pre_start, on_start), TR_ON(ring, on_idle));

static int run(char **argv)
{
    char *app_arguments[] = {argv[0], NULL};
    arguments = argv;
    seed = strtoull(argv[3], NULL, 0);
    carry(argv[5], false);
    snprintf(care.socket, sizeof care.socket, "%.90s.socket", argv[5]);
    snprintf(care.root, sizeof care.root, "%.*s", (int)(strrchr(argv[2], '/') - argv[2]), argv[2]);
    care.limit = (unsigned)atoi(argv[4]) / 12 + 1;
    mark("O");
    return tr_app_main(1,
                       app_arguments,
                       cuts,
                       .name = "cuts",
                       .workers = 2,
                       .store = argv[2],
                       .control = care.socket,
                       .durable = TR_DURABLES(box, tale),
                       .shutdown_timeout_ns = 20 * TR_SECOND);
}

int main(int argc, char **argv)
{
    bool is_run = argc == 7 && strcmp(argv[1], "run") == 0;
    if (!is_run && !(argc == 3 && strcmp(argv[1], "look") == 0))
        return 2;
    alarm(is_run ? 120 : 20);
    mark_function = (void (*)(const char *))dlsym(RTLD_DEFAULT, "cuts_mark");
    if (is_run)
        return run(argv);
    tr_system_options options = {
        .name = "cuts", .workers = 1, .store = argv[2], .durable = TR_DURABLES(box, tale)};
    mark("O");
    tr_status status = tr_system_new(&options, &system_);
    if (status != TR_OK)
        die("open", status);
    if ((status = tr_system_start(system_)) != TR_OK)
        die("start", status);
    look_at_all();
    fflush(stdout);
    _exit(0);
}
