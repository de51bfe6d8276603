/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands: what each asks of the shards.
 *
 * A command of several keys is one request for each; other clients may come between them.
 */
#include "answer.h"

#include <string.h>
#include <strings.h>

enum { SCAN_COUNT = 10 };

static const char WRONG_SYNTAX[] = "-ERR syntax error\r\n";

/* ---- Asking. ---- */

static struct plan *append_plan(struct batch *batch,
                                void (*answer)(struct batch *batch, const struct plan *plan))
{
    struct plan *plan = &batch->plans[batch->plan_count++];
    *plan = (struct plan){.answer = answer, .asks = batch->asks + batch->ask_count};
    return plan;
}

static void append_ask(struct batch *batch, struct plan *plan, tr_pending ask)
{
    batch->asks[batch->ask_count++] = ask;
    plan->ask_count++;
}
/* An ask of any type, for the plan. */
#define ASK(batch, plan, to, ...)                                                                  \
    append_ask(batch, plan, tr_ask((batch)->self, to, __VA_ARGS__).any)

static void say(struct batch *batch, const char *text)
{
    append_plan(batch, answer_text)->text = (tr_bytes){text, strlen(text)};
}

static bool is_word(tr_bytes word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.data, text, word.size) == 0;
}

static void ask_ping(struct batch *batch, const struct resp_command *command)
{
    if (command->count == 1)
        say(batch, "+PONG\r\n");
    else
        append_plan(batch, answer_bulk)->text = command->words[1];
}

static void ask_echo(struct batch *batch, const struct resp_command *command)
{
    append_plan(batch, answer_bulk)->text = command->words[1];
}

static void ask_get(struct batch *batch, const struct resp_command *command)
{
    ASK(batch, append_plan(batch, answer_found), batch->shards, get, .key = command->words[1]);
}

static void ask_mget(struct batch *batch, const struct resp_command *command)
{
    struct plan *plan = append_plan(batch, answer_all_found);
    for (size_t i = 1; i < command->count; i++)
        ASK(batch, plan, batch->shards, get, .key = command->words[i]);
}

/* Reads a lifetime into ns. False: it is no number, or the error text says what is wrong. */
static const char *read_lifetime(tr_bytes word, tr_time unit, tr_time *ns)
{
    int64_t number;
    if (!resp_number(word, &number))
        return NOT_AN_INTEGER;
    /* Half of what fits: a time of day is added to it. */
    if (number > INT64_MAX / 2 / unit || number < INT64_MIN / 2 / unit)
        return "-ERR invalid expire time\r\n";
    *ns = number * unit;
    return NULL;
}

struct set_options {
    enum condition condition;
    tr_time lifetime_ns;
};

/* Reads what is behind key and value: EX n, PX n, NX, XX. NULL: it was read. */
static const char *read_set_options(const struct resp_command *command, struct set_options *options)
{
    for (size_t i = 3; i < command->count; i++) {
        tr_bytes word = command->words[i];
        bool is_nx = is_word(word, "NX");
        bool is_ex = is_word(word, "EX");
        if (is_nx || is_word(word, "XX")) {
            if (options->condition != ALWAYS)
                return WRONG_SYNTAX;
            options->condition = is_nx ? IF_MISSING : IF_THERE;
        } else if ((is_ex || is_word(word, "PX")) && i + 1 < command->count &&
                   options->lifetime_ns == 0) {
            const char *error = read_lifetime(
                command->words[++i], is_ex ? TR_SECOND : TR_MILLISECOND, &options->lifetime_ns);
            if (error)
                return error;
            if (options->lifetime_ns <= 0)
                return "-ERR invalid expire time in 'set' command\r\n";
        } else {
            return WRONG_SYNTAX;
        }
    }
    return NULL;
}

static void ask_set(struct batch *batch, const struct resp_command *command)
{
    struct set_options options = {.condition = ALWAYS};
    const char *error = read_set_options(command, &options);
    if (error)
        say(batch, error);
    else
        ASK(batch,
            append_plan(batch, answer_done),
            batch->shards,
            set,
            .key = command->words[1],
            .value = command->words[2],
            .condition = options.condition,
            .lifetime_ns = options.lifetime_ns);
}

static void ask_mset(struct batch *batch, const struct resp_command *command)
{
    if (command->count % 2 == 0) {
        say(batch, "-ERR wrong number of arguments for 'mset' command\r\n");
        return;
    }
    struct plan *plan = append_plan(batch, answer_done);
    for (size_t i = 1; i < command->count; i += 2)
        ASK(batch,
            plan,
            batch->shards,
            set,
            .key = command->words[i],
            .value = command->words[i + 1]);
}

static void ask_del(struct batch *batch, const struct resp_command *command)
{
    struct plan *plan = append_plan(batch, answer_sum);
    for (size_t i = 1; i < command->count; i++)
        ASK(batch, plan, batch->shards, del, .key = command->words[i]);
}

static void ask_exists(struct batch *batch, const struct resp_command *command)
{
    struct plan *plan = append_plan(batch, answer_sum);
    for (size_t i = 1; i < command->count; i++)
        ASK(batch, plan, batch->shards, exists, .key = command->words[i]);
}

static void ask_add(struct batch *batch, const struct resp_command *command, int64_t amount)
{
    struct plan *plan = append_plan(batch, answer_sum);
    ASK(batch, plan, batch->shards, add, .key = command->words[1], .amount = amount);
}

static void ask_incr(struct batch *batch, const struct resp_command *command)
{
    ask_add(batch, command, 1);
}

static void ask_decr(struct batch *batch, const struct resp_command *command)
{
    ask_add(batch, command, -1);
}

static void ask_expire(struct batch *batch, const struct resp_command *command)
{
    tr_time lifetime_ns;
    const char *error = read_lifetime(command->words[2], TR_SECOND, &lifetime_ns);
    if (error)
        say(batch, error);
    else
        ASK(batch,
            append_plan(batch, answer_sum),
            batch->shards,
            expire,
            .key = command->words[1],
            .lifetime_ns = lifetime_ns);
}

static void ask_ttl(struct batch *batch, const struct resp_command *command)
{
    struct plan *plan = append_plan(batch, answer_ttl);
    plan->number = TR_SECOND;
    ASK(batch, plan, batch->shards, ttl, .key = command->words[1]);
}

/* ---- All shards. ---- */

static void ask_counts(struct batch *batch, struct plan *plan)
{
    shard_ref shards[TR_WORKERS_MAX];
    size_t count = shards_of(batch, shards);
    for (size_t i = 0; i < count; i++)
        ASK(batch, plan, shards[i], count_keys);
}

static void ask_dbsize(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    ask_counts(batch, append_plan(batch, answer_sum));
}

static void ask_info(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    ask_counts(batch, append_plan(batch, answer_info));
}

static void ask_flushall(struct batch *batch, const struct resp_command *command)
{
    shard_ref shards[TR_WORKERS_MAX];
    struct plan *plan = append_plan(batch, answer_done);
    size_t count = shards_of(batch, shards);
    (void)command;
    for (size_t i = 0; i < count; i++)
        ASK(batch, plan, shards[i], clear);
}

/* Asks only when it is answered: commands behind it wait until then. */
static void ask_keys(struct batch *batch, const struct resp_command *command)
{
    append_plan(batch, answer_keys)->text = command->words[1];
    batch->is_full = true;
}

/* Reads MATCH pattern and COUNT n. NULL: they were read. */
static const char *read_scan_options(const struct resp_command *command, struct scan *scan)
{
    int64_t count = SCAN_COUNT;
    if (command->count % 2 != 0)
        return WRONG_SYNTAX;
    for (size_t i = 2; i < command->count; i += 2) {
        if (is_word(command->words[i], "MATCH"))
            scan->pattern = command->words[i + 1];
        else if (!is_word(command->words[i], "COUNT"))
            return WRONG_SYNTAX;
        else if (!resp_number(command->words[i + 1], &count))
            return NOT_AN_INTEGER;
    }
    scan->count = count > KEYS_PAGE ? KEYS_PAGE : (uint32_t)count;
    return count < 1 ? WRONG_SYNTAX : NULL;
}

static void ask_scan(struct batch *batch, const struct resp_command *command)
{
    shard_ref shards[TR_WORKERS_MAX];
    size_t shard_count = shards_of(batch, shards);
    struct scan scan = {.count = SCAN_COUNT, .pattern = TR_BYTES("*")};
    int64_t cursor;
    const char *error = "-ERR invalid cursor\r\n";
    if (resp_number(command->words[1], &cursor) && cursor >= 0 &&
        (size_t)(cursor >> 32) < shard_count)
        error = read_scan_options(command, &scan);
    if (error) {
        say(batch, error);
        return;
    }
    struct plan *plan = append_plan(batch, answer_scan);
    plan->number = (uint64_t)cursor >> 32;
    ASK(batch,
        plan,
        shards[plan->number],
        scan,
        .from = (uint32_t)cursor,
        .count = scan.count,
        .pattern = scan.pattern);
}

/* ---- The connection, and what clients want to know before they begin. ---- */

static void ask_select(struct batch *batch, const struct resp_command *command)
{
    bool is_zero = is_word(command->words[1], "0");
    say(batch, is_zero ? "+OK\r\n" : "-ERR DB index is out of range\r\n");
}

static void ask_quit(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    say(batch, "+OK\r\n");
    batch->has_quit = true;
}

/* redis-benchmark asks for these two. */
static void ask_config(struct batch *batch, const struct resp_command *command)
{
    if (!is_word(command->words[1], "GET") || command->count != 3)
        say(batch, "-ERR only CONFIG GET with one name is supported\r\n");
    else if (is_word(command->words[2], "save"))
        say(batch, "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
    else if (is_word(command->words[2], "appendonly"))
        say(batch, "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
    else
        say(batch, "*0\r\n");
}

static void ask_client(struct batch *batch, const struct resp_command *command)
{
    if (is_word(command->words[1], "SETNAME") || is_word(command->words[1], "SETINFO"))
        say(batch, "+OK\r\n");
    else if (is_word(command->words[1], "GETNAME"))
        say(batch, "$-1\r\n");
    else
        say(batch, "-ERR only CLIENT SETNAME, SETINFO and GETNAME are supported\r\n");
}

static void ask_command(struct batch *batch, const struct resp_command *command);

static const struct {
    const char *name;
    size_t words_min;
    size_t words_max;
    void (*ask)(struct batch *batch, const struct resp_command *command);
} commands[] = {
    {"get", 2, 2, ask_get},
    {"set", 3, RESP_WORDS_MAX, ask_set},
    {"ping", 1, 2, ask_ping},
    {"incr", 2, 2, ask_incr},
    {"decr", 2, 2, ask_decr},
    {"del", 2, RESP_WORDS_MAX, ask_del},
    {"exists", 2, RESP_WORDS_MAX, ask_exists},
    {"mget", 2, RESP_WORDS_MAX, ask_mget},
    {"mset", 3, RESP_WORDS_MAX, ask_mset},
    {"expire", 3, 3, ask_expire},
    {"ttl", 2, 2, ask_ttl},
    {"echo", 2, 2, ask_echo},
    {"keys", 2, 2, ask_keys},
    {"scan", 2, RESP_WORDS_MAX, ask_scan},
    {"flushall", 1, 1, ask_flushall},
    {"dbsize", 1, 1, ask_dbsize},
    {"info", 1, RESP_WORDS_MAX, ask_info},
    {"command", 1, RESP_WORDS_MAX, ask_command},
    {"config", 2, RESP_WORDS_MAX, ask_config},
    {"client", 2, RESP_WORDS_MAX, ask_client},
    {"select", 2, 2, ask_select},
    {"quit", 1, 1, ask_quit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* redis-cli asks for their descriptions, and does without. */
static void ask_command(struct batch *batch, const struct resp_command *command)
{
    if (command->count == 2 && is_word(command->words[1], "COUNT"))
        say(batch, tr_format(batch->self, ":%d\r\n", COMMANDS));
    else
        say(batch, "*0\r\n");
}

/* The name of an unknown command, cut, and without what would end a line. */
static const char *printable(tr_self *self, tr_bytes word)
{
    enum { SHOWN_MAX = 64 };
    char *text = tr_scratch(self, SHOWN_MAX + 1);
    for (size_t i = 0; i < word.size && i < SHOWN_MAX; i++) {
        char c = ((const char *)word.data)[i];
        text[i] = c > ' ' && c < 0x7f ? c : '?';
    }
    return text;
}

void command_ask(struct batch *batch, const struct resp_command *command)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!is_word(command->words[0], commands[i].name))
            continue;
        if (command->count < commands[i].words_min || command->count > commands[i].words_max)
            say(batch,
                tr_format(batch->self,
                          "-ERR wrong number of arguments for '%s' command\r\n",
                          commands[i].name));
        else
            commands[i].ask(batch, command);
        return;
    }
    say(batch,
        tr_format(batch->self,
                  "-ERR unknown command '%s'\r\n",
                  printable(batch->self, command->words[0])));
}
