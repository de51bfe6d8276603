/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog.h"

#include <string.h>

#include "command.h"

#define MEMBER(name) offsetof(struct options, name)

/* A row is read across. */
/* clang-format off */
const struct option option_table[] = {
    {"-p", "PROGRAM", false, true, MEMBER(program),
     "number of the process, name of the program, or path of its socket; not needed if only one runs"},
    {"--store", "DIR", false, true, MEMBER(store), "the store of a program that does not run; only store compact writes to it"},
    {"--json", NULL, false, true, MEMBER(is_json), "answers as JSON, one value in each line"},
    {"--behavior", "NAME", false, false, MEMBER(behavior), "only actors of this behavior"},
    {"--state", "STATE", false, false, MEMBER(state),
     "only actors in this state: New, Starting, Running, Suspended or Stopping"},
    {"--queued", "N", true, false, MEMBER(queued), "only mailboxes with at least N messages"},
    {"--openmetrics", NULL, false, false, MEMBER(is_openmetrics), "the format of OpenMetrics, with causal ids of slow turns as exemplars"},
    {"--depth", "N", true, false, MEMBER(depth), "only N levels below the first one; says how many actors are below these"},
    {"--fullest", NULL, false, false, MEMBER(is_sorted), "the 100 fullest mailboxes first"},
    {"--limit", "N", true, false, MEMBER(limit), "at most N rows"},
    {"--after", "NUMBER", true, false, MEMBER(after), "only rows behind the one with this number"},
    {"--from", "KEY", false, false, MEMBER(from), "only keys behind this one, the last one of the page before"},
    {"-f", NULL, false, false, MEMBER(follows), "follows: prints new ones as they come"},
    {"--replay", "NUMBER", true, false, MEMBER(replay), "sends the message of this dead letter again to the actor at the same path"},
    {"--once", NULL, false, false, MEMBER(is_once), "one look, and no keys"},
    {"--every", "S", true, false, MEMBER(every_s), "seconds between two looks"},
    {"--timeout", "MS", true, false, MEMBER(timeout_ms), "how long to wait"},
    {"--secrets", NULL, false, false, MEMBER(secrets),
     "values of secret fields too, into the file of -o; durable get takes it only with --store"},
    {"--failing", NULL, false, false, MEMBER(failing), "only turns that fail"},
    {"--write", NULL, false, false, MEMBER(writes), "the statement may change the tables"},
    {"--replace", NULL, false, false, MEMBER(replaces), "replaces actors that exist"},
    {"-o", "FILE", false, false, MEMBER(output), "writes to a file, which only its owner may read"},
    {"--gdb", NULL, false, false, MEMBER(uses_gdb), "stops at the beginning of the handler"},
    {"--level", "LEVEL", false, false, MEMBER(level), "only lines of this level and above: debug, info, warn or error"},
    {"--causal", "ID", false, false, MEMBER(causal), "only lines with this causal id"},
    {"--listen", "ADDRESS", false, false, MEMBER(listen), "where the page is served; 127.0.0.1:0, a free port, if not given"},
    {"--allow", NULL, false, false, MEMBER(allows), "pages may also change something"},
    {"--anywhere", NULL, false, false, MEMBER(anywhere), "other machines may reach the page, which needs a certificate"},
    {"--certificate", "FILE", false, false, MEMBER(certificate), "serves the page by HTTPS, with this certificate (PEM)"},
    {"--key", "FILE", false, false, MEMBER(key), "the key of the certificate; in the same file, if not given"},
    {"--host", "NAME", false, false, MEMBER(host), "a name under which browsers reach the page, beside its address and localhost"},
    {"--token", "FILE", false, false, MEMBER(token), "keeps the token of the page there, so that open pages come back when the tool is started again"},
    {"--kind", "KIND", false, false, MEMBER(kind), "only actors of this durable kind"},
    {"--durable", NULL, false, false, MEMBER(is_durable), "a program with a durable actor, without HTTP"},
    {"--http", NULL, false, false, MEMBER(is_http), "a JSON API over HTTP, with its state in memory"},
    {"--minimal", NULL, false, false, MEMBER(is_minimal), "one actor, and nothing else"},
};
/* clang-format on */
const size_t option_count = sizeof option_table / sizeof *option_table;

/* A row is read across. */
/* clang-format off */
const struct command commands[] = {
    {"The program", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"ps", "", 0, 0, "", "", "running programs", "ps"},
    {"info", "", 0, 0, "", "", "counters, and what each worker runs", "info"},
    {"top", "", 0, 0, "", "--once --every ", 
     "what the program does, each second. Keys: s, < and > sort, / filters, arrows choose an actor, Enter shows it, "
     "w says why, k kills, z suspends or resumes it, q leaves", "top --once --json"},
    {"inspect", "[PROGRAM]", 0, 1, "", "--listen --allow --anywhere --certificate --key --host --token ",
     "shows what the program does as a page in a browser, until it is interrupted; prints the address of the page. Nothing is opened "
     "in the program. A program that is restarted under the same name is found again",
     "inspect 4711"},
    {"stalls", "", 0, 0, "", "--limit ", "handlers that have run for long and still run, and the last 32 long turns with the 32 longest before them, the newest first", "stalls"},
    {"slow", "", 0, 0, "", "--limit ", "the slowest of the turns that were timed in the last minute, with their causal ids", "slow --limit 10"},
    {"failures", "", 0, 0, "", "-f --limit ", "failures and restarts", "failures -f"},
    {"dead-letters", "", 0, 0, "", "-f --limit --replay ", "messages that no handler got", "dead-letters -f"},
    {"metrics", "", 0, 0, "", "--openmetrics ", "all figures in the text format of Prometheus", "metrics"},
    {"trace", "PATH|CAUSAL", 1, 1, "", "-f --timeout ",
     "follows the next message to an actor through the program, as a tree with times, or says what is recorded of a causal "
     "id, which lines of the log have",
     "trace /user/bank"},
    {"replay", "FILE", 1, 1, "", "--gdb ",
     "runs a recorded turn again, with the program that has recorded it, and says whether it ends in the same way", "replay shop.data/crash/turn-1.trr"},
    {"records", "", 0, 0, "", "--limit ", "records of turns, as the commands that run them again", "records"},
    {"schema", "", 0, 0, "", "", "messages and durable kinds of the program, as JSON", "schema > new.json"},
    {"schema diff", "OLD NEW", 2, 2, "", "",
     "compares two files that programs have printed with --schema: what breaks stored state or the wire; exit status 1 if "
     "something does",
     "schema diff old.json new.json"},
    {"schema rehearse", "PROGRAM DIR", 2, 2, "", "",
     "loads all actors of a store, from a copy, with a new version of its program, and names those that fail; exit status 1 if one does",
     "schema rehearse ./bank ./bank.data"},
    {"doctor", "", 0, 0, "", "", "looks at what commonly goes wrong, and says what to do; exit status 1 if there is something",
     "doctor"},
    {"log", "LEVEL [PATH]", 1, 2, "level path", "", "leaves out log lines below debug, info, warn or error",
     "log debug /user/bank"},
    {"log tail", "[PATH]", 0, 1, "path", "-f --limit --level --causal ",
     "the last lines of the log, of all actors, or of one and all below it", "log tail /user/bank --level warn -f"},
    {"channels", "[PATH]", 0, 1, "path", "--limit ",
     "listeners and connections: bytes received, sent, not read yet and not taken yet by the other side; of all actors or of one",
     "channels"},
    {"Actors", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"ls", "[PATH]", 0, 1, "path", "--behavior --state --queued --limit --fullest ", "actors",
     "ls --fullest --limit 10"},
    {"tree", "[PATH]", 0, 1, "path", "--behavior --state --queued --limit --depth ", "actors as a tree", "tree /user --depth 2"},
    {"show", "PATH", 1, 1, "path", "", "one actor: mailboxes, timers, asks, state as JSON", "show /user/bank --json"},
    {"mail", "PATH", 1, 1, "path", "--limit ", "the first messages that wait for an actor, with their content", "mail /user/bank"},
    {"waits", "PATH", 1, 1, "path", "", "what an actor waits for: asks, timers, watches; and what waits for it: watchers, senders, replies that it owes", "waits /user/bank"},
    {"why", "PATH", 1, 1, "path", "", "why an actor does not stop, run or take messages", "why /user/bank"},
    {"asks", "", 0, 0, "", "--limit ", "actors that wait for an answer, of whom and since when, the longest wait first, and those that owe one",
     "asks"},
    {"messages", "PATH", 1, 1, "path", "", "messages that tell and ask can send to an actor, with their fields", "messages /user/bank"},
    {"behaviors", "", 0, 0, "", "", "by behavior: actors, queued messages with their bytes and their age, messages handled (about), failures, and how long sampled turns took",
     "behaviors"},
    {"handlers", "", 0, 0, "", "", "handlers: how long sampled turns took, messages handled (about), failures, messages that wait (about) and their age",
     "handlers"},
    {"tell", "PATH MESSAGE [JSON]", 2, 3, "path message json", "", "sends a message",
     "tell /user/till deposit '{\"cents\":5}'"},
    {"ask", "PATH MESSAGE [JSON]", 2, 3, "path message json", "--timeout ", "sends a request and prints the reply",
     "ask /user/bank get_balance '{\"account\":7}'"},
    {"stop", "PATH", 1, 1, "path", "", "stops an actor after its messages", "stop /user/bank"},
    {"kill", "PATH", 1, 1, "path", "", "stops an actor after its current turn", "kill /user/bank"},
    {"suspend", "PATH", 1, 1, "path", "", "an actor handles no message until it is resumed", "suspend /user/bank"},
    {"resume", "PATH", 1, 1, "path", "", "an actor handles messages again", "resume /user/bank"},
    {"record", "PATH", 1, 1, "path", "--limit --failing ",
     "writes the next turn of an actor, or the next N, to files that replay runs again; the log names them. The state of an actor that "
     "is not durable needs a descriptor (.shows)",
     "record /user/bank --limit 3"},
    {"sleep", "PATH|KIND KEY", 1, 2, "path|kind key", "", "lets a durable actor sleep; one that is asleep already stays so", "sleep cart user-42"},
    {"wake", "KIND KEY", 2, 2, "kind key", "", "wakes a durable actor that is stored", "wake cart user-42"},
    {"Durable actors", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"durable ls", "[KIND [PREFIX]]", 0, 2, "kind key", "--limit ", "kinds, or the keys of a kind: asleep and awake",
     "durable ls cart user-"},
    {"durable get", "KIND KEY", 2, 2, "kind key", "--secrets -o ",
     "what is stored of an actor: state, keys and values, alarms, queues", "durable get cart user-42"},
    {"durable events", "KIND KEY", 2, 2, "kind key", "--after --limit ",
     "events of an actor that is made of them, with the state after each", "durable events account alice --after 100"},
    {"durable kv", "KIND KEY [PREFIX]", 2, 3, "kind key text", "--from --limit ",
     "keys of an actor with the first KiB of each value, or those that begin so, at most 100; with --limit 1 a value of up to 256 KiB is whole",
     "durable kv cart user-42 2024- --from 2024-07"},
    {"durable queue", "KIND KEY [QUEUE]", 2, 3, "kind key text", "--after --limit ",
     "items in the queues of an actor, or in one of them, at most 100: whether they are ready, wait for a time or were given up, why they failed, and "
     "their messages. --after takes the number that the page before ends with",
     "durable queue mailer main outbox --after 100"},
    {"durable set", "KIND KEY JSON", 3, 3, "kind key json", "--secrets ",
     "changes fields of the stored state of an actor that is asleep", "durable set cart user-42 '{\"count\":3}'"},
    {"durable rm", "KIND KEY", 2, 2, "kind key", "", "destroys an actor and all that is stored of it",
     "durable rm cart user-42"},
    {"durable export", "[KIND [PREFIX]]", 0, 2, "kind key", "--secrets -o ", "actors as lines of JSON",
     "durable export cart -o carts.jsonl"},
    {"durable import", "FILE", 1, 1, "", "--replace ", "stores the actors of an export", "durable import carts.jsonl"},
    {"alarms", "", 0, 0, "", "--kind --limit ", "alarms that are due next, and how many by kind", "alarms --limit 5"},
    {"queues", "", 0, 0, "", "--kind --limit ", "queues with items: length, bytes, dead letters",
     "queues --kind mailer"},
    {"sql", "KIND KEY STATEMENT", 3, 3, "kind key text", "--write --limit ",
     "runs a statement in the tables of an actor; it only reads unless --write is there",
     "sql ledger main 'SELECT count(*) FROM entry'"},
    {"The store", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"store", "", 0, 0, "", "", "durable actors that are awake, by kind, and what the store does", "store"},
    {"store stats", "", 0, 0, "", "", "sizes of the files of the store, and how long commits take", "store stats"},
    {"store check", "", 0, 0, "", "", "reads all that is stored and names actors that are damaged; exit status 1 if one is",
     "--store ./bank.data store check"},
    {"store backup", "DIR", 1, 1, "dir", "", "copies the store into a new directory, while the program continues",
     "store backup /backups/monday"},
    {"store compact", "", 0, 0, "", "",
     "gives unused pages back to the disk; commits wait until it is done, a minute or more for each GB; Ctrl-C stops it", "store compact"},
    {"store restore", "KIND KEY DIR", 3, 3, "kind key dir", "--replace ",
     "brings one actor, which must be asleep, back from a backup", "store restore cart user-42 /backups/monday --replace"},
    {"store salvage", "INTO", 1, 1, "text", "",
     "copies what is intact of a damaged store, whose program does not run, into a new directory, and names what is lost; exit status 1 if "
     "something is", "--store ./bank.data store salvage ./bank.saved"},
    {"The library", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"bench", "[WORKLOAD [THREADS]]", 0, 2, "", "", "measures the library on this machine with troupe-bench; without a workload, lists them",
     "bench ring 1"},
    {"A new program", NULL, 0, 0, NULL, NULL, NULL, NULL},
    {"new", "NAME", 1, 1, "", "--durable --http --minimal ",
     "makes a directory with a project: a durable service with HTTP unless an option says otherwise, with tests, a Makefile, "
     "CMakeLists.txt, a Dockerfile, a unit for systemd and a CI file",
     "new shop --durable"},
};
/* clang-format on */
const size_t command_count = sizeof commands / sizeof *commands;

const struct command *command_find(const char *first, const char *second, size_t *words)
{
    const struct command *found = NULL;
    size_t length = strlen(first);
    for (size_t i = 0; i < command_count; i++) {
        const char *name = commands[i].name;
        if (!commands[i].text || strncmp(name, first, length) != 0)
            continue;
        if (name[length] == ' ' && second && strcmp(name + length + 1, second) == 0) {
            *words = 2;
            return &commands[i];
        }
        if (name[length] == '\0')
            found = &commands[i];
    }
    *words = 1;
    return found;
}

bool command_takes(const struct command *command, const struct option *option)
{
    size_t length = strlen(option->name);
    if (option->is_global)
        return true;
    for (const char *at = command->options; (at = strstr(at, option->name)); at++) {
        if (at[length] == ' ' && (at == command->options || at[-1] == ' '))
            return true;
    }
    return false;
}

bool command_is_text(const struct command *command)
{
    return strcmp(command->name, "inspect") == 0;
}
