/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands: the steps of each.
 *
 * A command of several keys is one step for each; other clients may come between them.
 */
#include "answer.h"

#include <string.h>
#include <strings.h>

enum { SCAN_COUNT = 10 };

static const char WRONG_SYNTAX[] = "-ERR syntax error\r\n";

static void say(struct batch *batch, const char *text)
{
    batch_add(batch, answer_text)->job.value = (tr_bytes){text, strlen(text)};
}

static bool is_word(tr_bytes word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.data, text, word.size) == 0;
}

/* ---- Keys. ---- */

static void begin_ping(struct batch *batch, const struct resp_command *command)
{
    if (command->count == 1)
        say(batch, "+PONG\r\n");
    else
        batch_add(batch, answer_bulk)->job.value = command->words[1];
}

static void begin_echo(struct batch *batch, const struct resp_command *command)
{
    batch_add(batch, answer_bulk)->job.value = command->words[1];
}

/* One step for each key. */
static void ask_keys_of(struct batch *batch, const struct resp_command *command,
                        answer_function *answer, enum verb verb)
{
    for (size_t i = 1; i < command->count; i++)
        batch_ask(batch, answer, (struct job){.verb = verb, .key = command->words[i]});
}

static void begin_get(struct batch *batch, const struct resp_command *command)
{
    batch_ask(batch, answer_found, (struct job){.verb = GET, .key = command->words[1]});
}

static void begin_mget(struct batch *batch, const struct resp_command *command)
{
    batch_add(batch, answer_count)->job.number = (int64_t)command->count - 1;
    ask_keys_of(batch, command, answer_found, GET);
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

/* Reads what is behind key and value: EX n, PX n, NX, XX. NULL: it was read. */
static const char *read_set_options(const struct resp_command *command, struct job *job)
{
    for (size_t i = 3; i < command->count; i++) {
        tr_bytes word = command->words[i];
        bool is_nx = is_word(word, "NX");
        bool is_ex = is_word(word, "EX");
        if (is_nx || is_word(word, "XX")) {
            if (job->verb != SET)
                return WRONG_SYNTAX;
            job->verb = is_nx ? SET_MISSING : SET_THERE;
        } else if ((is_ex || is_word(word, "PX")) && i + 1 < command->count && job->number == 0) {
            const char *error = read_lifetime(
                command->words[++i], is_ex ? TR_SECOND : TR_MILLISECOND, &job->number);
            if (error)
                return error;
            if (job->number <= 0)
                return "-ERR invalid expire time in 'set' command\r\n";
        } else {
            return WRONG_SYNTAX;
        }
    }
    return NULL;
}

static void begin_set(struct batch *batch, const struct resp_command *command)
{
    struct job job = {.verb = SET, .key = command->words[1], .value = command->words[2]};
    const char *error = read_set_options(command, &job);
    if (error)
        say(batch, error);
    else
        batch_ask(batch, answer_done, job);
}

static void begin_mset(struct batch *batch, const struct resp_command *command)
{
    if (command->count % 2 == 0) {
        say(batch, "-ERR wrong number of arguments for 'mset' command\r\n");
        return;
    }
    for (size_t i = 1; i < command->count; i += 2)
        batch_ask(
            batch,
            answer_nothing,
            (struct job){.verb = SET, .key = command->words[i], .value = command->words[i + 1]});
    batch_add(batch, answer_all_done);
}

static void begin_del(struct batch *batch, const struct resp_command *command)
{
    ask_keys_of(batch, command, answer_nothing, DEL);
    batch_add(batch, answer_sum);
}

static void begin_exists(struct batch *batch, const struct resp_command *command)
{
    ask_keys_of(batch, command, answer_nothing, EXISTS);
    batch_add(batch, answer_sum);
}

static void begin_incr(struct batch *batch, const struct resp_command *command)
{
    batch_ask(
        batch, answer_number, (struct job){.verb = ADD, .key = command->words[1], .number = 1});
}

static void begin_decr(struct batch *batch, const struct resp_command *command)
{
    batch_ask(
        batch, answer_number, (struct job){.verb = ADD, .key = command->words[1], .number = -1});
}

static void begin_expire(struct batch *batch, const struct resp_command *command)
{
    struct job job = {.verb = EXPIRE, .key = command->words[1]};
    const char *error = read_lifetime(command->words[2], TR_SECOND, &job.number);
    if (error)
        say(batch, error);
    else
        batch_ask(batch, answer_number, job);
}

static void begin_ttl(struct batch *batch, const struct resp_command *command)
{
    batch_ask(batch, answer_ttl, (struct job){.verb = TTL, .key = command->words[1]});
}

/* ---- All shards. ---- */

static void begin_dbsize(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    batch_ask_shards(batch, answer_nothing, COUNT);
    batch_add(batch, answer_sum);
}

static void begin_info(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    batch_ask_shards(batch, answer_nothing, COUNT);
    batch_add(batch, answer_info);
}

static void begin_flushall(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    batch_ask_shards(batch, answer_nothing, CLEAR);
    batch_add(batch, answer_all_done);
}

/* The answer asks for pages itself: commands behind it wait until then. */
static void begin_keys(struct batch *batch, const struct resp_command *command)
{
    batch_add(batch, answer_keys)->job.value = command->words[1];
    batch_answer(batch);
}

/* Reads MATCH pattern and COUNT n. NULL: they were read. */
static const char *read_scan_options(const struct resp_command *command, tr_bytes *pattern,
                                     int64_t *count)
{
    if (command->count % 2 != 0)
        return WRONG_SYNTAX;
    for (size_t i = 2; i < command->count; i += 2) {
        if (is_word(command->words[i], "MATCH"))
            *pattern = command->words[i + 1];
        else if (!is_word(command->words[i], "COUNT"))
            return WRONG_SYNTAX;
        else if (!resp_number(command->words[i + 1], count))
            return NOT_AN_INTEGER;
    }
    if (*count > KEYS_PAGE)
        *count = KEYS_PAGE;
    return *count < 1 ? WRONG_SYNTAX : NULL;
}

static void begin_scan(struct batch *batch, const struct resp_command *command)
{
    tr_bytes pattern = TR_BYTES("*");
    int64_t count = SCAN_COUNT;
    int64_t cursor;
    const char *error = "-ERR invalid cursor\r\n";
    if (resp_number(command->words[1], &cursor) && cursor >= 0 &&
        (size_t)(cursor >> 32) < batch->shard_count)
        error = read_scan_options(command, &pattern, &count);
    if (error) {
        say(batch, error);
        return;
    }
    struct step *step = batch_add(batch, answer_scan);
    step->job.value = pattern;
    step->job.number = cursor;
    step->job.hash = (uint64_t)count;
    batch_answer(batch);
}

/* ---- The connection, and what clients want to know before they begin. ---- */

static void begin_select(struct batch *batch, const struct resp_command *command)
{
    bool is_zero = is_word(command->words[1], "0");
    say(batch, is_zero ? "+OK\r\n" : "-ERR DB index is out of range\r\n");
}

static void begin_quit(struct batch *batch, const struct resp_command *command)
{
    (void)command;
    say(batch, "+OK\r\n");
    batch->has_quit = true;
}

/* redis-benchmark asks for these two. */
static void begin_config(struct batch *batch, const struct resp_command *command)
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

/* NULL: the session has the name now. */
static const char *set_client_name(struct batch *batch, tr_bytes name)
{
    const char *text = name.data;
    if (name.size > CLIENT_NAME_MAX)
        return "-ERR client name is longer than 63 bytes\r\n";
    for (size_t i = 0; i < name.size; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
    }
    memcpy(batch->client_name, text, name.size);
    batch->client_name[name.size] = '\0';
    return NULL;
}

static void begin_client(struct batch *batch, const struct resp_command *command)
{
    tr_bytes verb = command->words[1];
    if (is_word(verb, "SETNAME") && command->count == 3) {
        const char *error = set_client_name(batch, command->words[2]);
        say(batch, error ? error : "+OK\r\n");
    } else if (is_word(verb, "SETINFO") && command->count == 4) {
        say(batch, "+OK\r\n");
    } else if (is_word(verb, "GETNAME") && command->count == 2) {
        /* a copy: a later command of this batch may change the name before this is answered */
        const char *name = tr_format(batch->self, "%s", batch->client_name);
        if (name[0])
            batch_add(batch, answer_bulk)->job.value = (tr_bytes){name, strlen(name)};
        else
            say(batch, "$-1\r\n");
    } else {
        say(batch, "-ERR expected CLIENT SETNAME name, SETINFO attribute value, or GETNAME\r\n");
    }
}

static void begin_command(struct batch *batch, const struct resp_command *command);

/* Names are in small letters. */
static const struct {
    const char *name;
    size_t name_size;
    size_t words_min;
    size_t words_max;
    void (*begin)(struct batch *batch, const struct resp_command *command);
} commands[] = {
#define COMMAND(name, ...)                                                                         \
    {                                                                                              \
        name, sizeof name - 1, __VA_ARGS__                                                         \
    }
    COMMAND("get", 2, 2, begin_get),
    COMMAND("set", 3, RESP_WORDS_MAX, begin_set),
    COMMAND("ping", 1, 2, begin_ping),
    COMMAND("incr", 2, 2, begin_incr),
    COMMAND("decr", 2, 2, begin_decr),
    COMMAND("del", 2, RESP_WORDS_MAX, begin_del),
    COMMAND("exists", 2, RESP_WORDS_MAX, begin_exists),
    COMMAND("mget", 2, RESP_WORDS_MAX, begin_mget),
    COMMAND("mset", 3, RESP_WORDS_MAX, begin_mset),
    COMMAND("expire", 3, 3, begin_expire),
    COMMAND("ttl", 2, 2, begin_ttl),
    COMMAND("echo", 2, 2, begin_echo),
    COMMAND("keys", 2, 2, begin_keys),
    COMMAND("scan", 2, RESP_WORDS_MAX, begin_scan),
    COMMAND("flushall", 1, 1, begin_flushall),
    COMMAND("dbsize", 1, 1, begin_dbsize),
    COMMAND("info", 1, RESP_WORDS_MAX, begin_info),
    COMMAND("command", 1, RESP_WORDS_MAX, begin_command),
    COMMAND("config", 2, RESP_WORDS_MAX, begin_config),
    COMMAND("client", 2, RESP_WORDS_MAX, begin_client),
    COMMAND("select", 2, 2, begin_select),
    COMMAND("quit", 1, 1, begin_quit),
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* redis-cli asks for their descriptions, and does without. */
static void begin_command(struct batch *batch, const struct resp_command *command)
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

static bool is_name(tr_bytes word, size_t command)
{
    if (word.size != commands[command].name_size)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        if ((((const char *)word.data)[i] | 0x20) != commands[command].name[i])
            return false;
    }
    return true;
}

void command_begin(struct batch *batch, const struct resp_command *command)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!is_name(command->words[0], i))
            continue;
        if (command->count < commands[i].words_min || command->count > commands[i].words_max)
            say(batch,
                tr_format(batch->self,
                          "-ERR wrong number of arguments for '%s' command\r\n",
                          commands[i].name));
        else
            commands[i].begin(batch, command);
        return;
    }
    say(batch,
        tr_format(batch->self,
                  "-ERR unknown command '%s'\r\n",
                  printable(batch->self, command->words[0])));
}
