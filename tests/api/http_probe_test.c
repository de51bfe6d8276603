/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The public cases of Http11Probe (tests/data) against a server, on the network of kits: each payload whole, cut in two at
 * every byte, and byte by byte. What a client sees is written as a line: the statuses in order; "wait" if nothing came before a
 * limit of time; "close" if the server has ended the connection, and if it has not, a further request must be answered.
 */
#include "support/http.h"

#include <jansson.h>

enum { WAIT_S = 40 /* longer than the limits for a head and for a body */ };

/* Answers with what it has understood. */
static tr_next on_any(tr_self *self, const struct tr_http_request *request)
{
    tr_bytes body = tr_http_body(self, 1 << 20);
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self,
                                           "%s %s %s <%.*s>",
                                           request->method,
                                           request->host,
                                           request->path,
                                           (int)body.size,
                                           (const char *)body.data));
}

static tr_next on_after(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "after");
}

TR_BEHAVIOR(api, void, TR_GET("/", tr_http_request, on_any),
            TR_POST("/{any...}", tr_http_request, on_any),
            TR_GET("/after", tr_http_request, on_after));

static tr_next listen_api(tr_self *self)
{
    listener = tr_listen(self, api, TR_HTTP(SERVER));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

/* ---- A client. ---- */

struct talk {
    tr_kit_peer *peer;
    char heard[4096]; /* what has come and was not read */
    size_t size;
    bool is_head;   /* the next answer is to HEAD, and has no body */
    bool announces; /* the last answer says that the connection ends */
    int requests;   /* that were sent: the payload, and what follows it */
    int answers;    /* to this request or what the server took for one: all but the interim ones */
    char text[128]; /* the line */
    char body[256]; /* of the last answer */
};

static void note(struct talk *talk, const char *word)
{
    size_t size = strlen(talk->text);
    snprintf(talk->text + size, sizeof talk->text - size, "%s%s", size ? " " : "", word);
}

static void hear(struct talk *talk, tr_time within_ns)
{
    for (;;) {
        tr_bytes bytes = tr_kit_receive(talk->peer, within_ns);
        if (!bytes.size)
            break;
        ck_assert_uint_lt(talk->size + bytes.size, sizeof talk->heard);
        memcpy(talk->heard + talk->size, bytes.data, bytes.size);
        talk->size += bytes.size;
        within_ns = 0;
    }
    talk->heard[talk->size] = '\0';
}

/* The value of a field of a head that ends at `end`, or NULL. */
static const char *field(const char *head, const char *end, const char *name)
{
    const char *at = strcasestr(head, name);
    return at && at < end ? at + strlen(name) : NULL;
}

/* Reads one answer. Returns its size. */
static size_t read_answer(struct talk *talk, const char *at, int *status)
{
    const char *end = strstr(at, "\r\n\r\n");
    ck_assert_msg(end && strncmp(at, "HTTP/1.1 ", 9) == 0, "no answer: %s", at);
    *status = atoi(at + 9);
    const char *length = field(at, end, "\r\nContent-Length: ");
    const char *connection = field(at, end, "\r\nConnection: ");
    size_t size = length && !talk->is_head ? strtoul(length, NULL, 10) : 0;
    end += 4;
    if (*status < 200)
        return (size_t)(end - at);
    ck_assert_msg(field(at, end, "\r\nDate: "), "no Date: %s", at); /* RFC 9110, 6.6.1 */
    ck_assert_msg((length == NULL) == (*status == 204), "%s", at);  /* RFC 9110, 8.6 */
    if (*status == 405)
        ck_assert_msg(field(at, end, "\r\nAllow: "), "%s", at); /* RFC 9110, 15.5.6 */
    ck_assert_msg(strlen(end) >= size, "a part of an answer: %s", at);
    snprintf(talk->body, sizeof talk->body, "%.*s", (int)size, end);
    talk->announces = connection && strncasecmp(connection, "close", 5) == 0;
    talk->is_head = false;
    return (size_t)(end - at) + size;
}

/* Reads all answers that have come. Interim ones are left out of the line. */
static void read_answers(struct talk *talk)
{
    for (const char *at = talk->heard; *at;) {
        char word[16];
        int status;
        at += read_answer(talk, at, &status);
        snprintf(word, sizeof word, "%d", status);
        if (status >= 200)
            note(talk, word);
        talk->answers += status >= 200;
    }
    talk->size = 0;
}

static bool is_open(const struct talk *talk)
{
    return tr_kit_peer_status(talk->peer) == TR_OK;
}

/* Sends what the server still takes. */
static void put(struct talk *talk, const char *data, size_t size)
{
    (void)tr_kit_send(talk->peer, (tr_bytes){data, size});
    tr_kit_settle(kit);
}

/* A connection that is kept is in step: the next request gets its answer, and nothing else comes. */
static void ask_after(struct talk *talk)
{
    static const char request[] = "GET /after HTTP/1.1\r\nHost: a\r\n\r\n";
    char before[sizeof talk->text];
    int answers = talk->answers;
    memcpy(before, talk->text, sizeof before);
    put(talk, request, sizeof request - 1);
    hear(talk, TR_SECOND);
    read_answers(talk);
    if (talk->answers == answers + 1 && strcmp(talk->body, "after") == 0) {
        memcpy(talk->text, before, sizeof before);
        talk->answers = answers;
    } else {
        note(talk, "out of step");
    }
}

/* ---- The cases. ---- */

struct probe {
    const char *id;
    const char *level;
    const char *exact; /* "Exact", "Range2xx" or "" */
    bool is_smuggling;
    char *data; /* NULL: the case has no payload */
    size_t size;
    char *
        then; /* what is sent when the first payload was answered and the connection is open; NULL: nothing */
};

/* A character of the file is a byte. */
static char *bytes_of(const char *text, size_t *size)
{
    char *data = calloc(1, strlen(text) + 1);
    *size = 0;
    ck_assert_ptr_nonnull(data);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        unsigned code = *at;
        if (code >= 0xc2)
            code = (code & 0x1fu) << 6 | (*++at & 0x3fu);
        data[(*size)++] = (char)code;
    }
    return data;
}

static char *payload_of(const json_t *entry, const char *name, size_t *size)
{
    const json_t *payload = json_object_get(entry, name);
    if (!json_is_string(payload))
        return NULL;
    const char *text = json_string_value(payload);
    size_t length = json_string_length(payload);
    if (strlen(text) == length)
        return bytes_of(text, size);
    char *data = calloc(1, length + 1); /* it has a NUL, and then nothing else that is not ASCII */
    ck_assert_ptr_nonnull(data);
    memcpy(data, text, length);
    *size = length;
    return data;
}

static json_t *load(void)
{
    json_error_t error;
    json_t *root = json_load_file(TEST_DATA "/http11probe.json", JSON_ALLOW_NUL, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    return root;
}

static void probe_free(struct probe *probe)
{
    free(probe->data);
    free(probe->then);
}

/* Gives a case, which the caller frees. */
static struct probe probe_of(const json_t *root, size_t index)
{
    const json_t *entry = json_array_get(root, index);
    const json_t *exact = json_object_get(entry, "exact");
    struct probe probe = {
        .id = json_string_value(json_object_get(entry, "id")),
        .level = json_string_value(json_object_get(entry, "level")),
        .exact = json_is_array(exact) ? json_string_value(json_array_get(exact, 0)) : "",
        .is_smuggling =
            strcmp(json_string_value(json_object_get(entry, "suite")), "Smuggling") == 0};
    size_t then_size;
    probe.data = payload_of(entry, "payload", &probe.size);
    probe.then = payload_of(entry, "then", &then_size);
    return probe;
}

/* ---- Playing a case. ---- */

/* Sends the payload of a case in two portions, or in portions of one byte if `cut` is SIZE_MAX; and what follows it, once it was
 * answered. */
static struct talk say_payload(const struct probe *probe, size_t cut)
{
    const char *data = probe->data;
    size_t size = probe->size;
    struct talk talk = {
        .peer = peer_new(), .requests = 1, .is_head = size > 4 && memcmp(data, "HEAD", 4) == 0};
    if (cut == SIZE_MAX) {
        for (size_t i = 0; i < size; i++)
            put(&talk, data + i, 1);
    } else {
        put(&talk, data, cut);
        put(&talk, data + cut, size - cut);
    }
    hear(&talk, TR_MILLISECOND);
    read_answers(&talk);
    if (is_open(&talk) && talk.text[0] && probe->then) {
        ck_assert_msg(talk.answers == 1, "%s: %s before the second request", probe->id, talk.text);
        talk.requests = 2;
        put(&talk, probe->then, strlen(probe->then));
        hear(&talk, TR_SECOND);
        read_answers(&talk);
    }
    if (is_open(&talk) && !talk.text[0]) {
        note(&talk, "wait");
        hear(&talk, WAIT_S * TR_SECOND);
        read_answers(&talk);
    } else if (is_open(&talk)) {
        ask_after(&talk);
    }
    /* In order, and not by a reset, which could take the answer from the client. */
    ck_assert_int_ne(tr_kit_peer_status(talk.peer), TR_RESET);
    if (!is_open(&talk)) {
        ck_assert_msg(talk.announces || strstr(data, "HTTP/1.0"), "not announced: %s", talk.text);
        note(&talk, "close");
    }
    tr_kit_close(talk.peer);
    tr_kit_settle(kit);
    return talk;
}

/* The other cases that say MUST: what is answered, and the section that says so. */
static const struct {
    const char *id;
    const char *answer;
    const char *section;
} others[] = {
    {"COMP-UNKNOWN-TE-501", "501 close", "RFC 9112, 6.1"},
    {"COMP-POST-CL-BODY", "200", "RFC 9112, 6.3"},
    {"COMP-POST-CL-UNDERSEND", "wait 408 close", "RFC 9112, 8"},
    {"COMP-CHUNKED-BODY", "200", "RFC 9112, 7.1"},
    {"COMP-CHUNKED-MULTI", "200", "RFC 9112, 7.1"},
    {"COMP-CHUNKED-NO-FINAL", "wait 408 close", "RFC 9112, 8"},
    {"COMP-UPGRADE-POST", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-UPGRADE-MISSING-CONN", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-UPGRADE-UNKNOWN", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-CHUNKED-EXTENSION", "200", "RFC 9112, 7.1.1: ignored"},
    {"COMP-UPGRADE-INVALID-VER", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-CONNECTION-CLOSE", "200 close", "RFC 9112, 9.6"},
    {"COMP-CHUNKED-TRAILER-VALID", "200", "RFC 9112, 7.1.2"},
    {"COMP-CHUNKED-HEX-UPPERCASE", "200", "RFC 9112, 7.1"},
    {"COMP-RANGE-POST", "200", "RFC 9110, 14.2: ignored"},
    {"COMP-UPGRADE-HTTP10", "200 close", "RFC 9110, 7.8: ignored"},
    {"COMP-HEAD-NO-BODY", "200", "RFC 9110, 9.3.2"},
    {"COMP-405-ALLOW", "405", "RFC 9110, 15.5.6"},
    {"COMP-DATE-HEADER", "200", "RFC 9110, 6.6.1"},
    {"COMP-NO-1XX-HTTP10", "200 close", "RFC 9110, 15.2"},
    {"COMP-NO-CL-IN-204", "204", "RFC 9110, 8.6"},
    {"SMUG-TE-XCHUNKED", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TE-TRAILING-SPACE", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TE-IDENTITY", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TRANSFER_ENCODING", "200", "RFC 9110, 5.1: another field"},
    {"SMUG-CL-COMMA-SAME", "400 close", "RFC 9112, 6.3"},
    {"SMUG-CL-COMMA-TRIPLE", "400 close", "RFC 9112, 6.3"},
    {"SMUG-CHUNKED-WITH-PARAMS", "400 close", "RFC 9112, 7"},
    {"SMUG-EXPECT-100-CL", "200", "RFC 9110, 10.1.1"},
    {"SMUG-TRAILER-CL", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-TE", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-HOST", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-AUTH", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-HEAD-CL-BODY", "200 close", "RFC 9110, 9.3.2"},
    {"SMUG-OPTIONS-CL-BODY", "204 close", "RFC 9112, 6.3"},
    {"SMUG-TE-OBS-FOLD", "400 close", "RFC 9112, 5.2"},
    {"SMUG-TE-TAB-BEFORE-VALUE", "400 close", "RFC 9112, 6.1"},
    {"SMUG-ABSOLUTE-URI-HOST-MISMATCH", "200", "RFC 9112, 3.2.2: the host of the target"},
    {"SMUG-TRAILER-CONTENT-TYPE", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-CLTE-CONN-CLOSE", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TECL-CONN-CLOSE", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-DESYNC", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-CL-PLUS", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-CL-NON-NUMERIC", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-OBS-FOLD", "400 close", "RFC 9112, 5.2"},
    {"SMUG-CLTE-SMUGGLED-HEAD", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-TRAILING-SPACE", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-LEADING-COMMA", "400 close", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-CASE-MISMATCH", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TE-DUPLICATE-HEADERS-SMUGGLED-GET", "400 close", "RFC 9112, 6.1"},
    {"SMUG-TECL-SMUGGLED-GET", "400 close", "RFC 9112, 6.1"},
    {"SMUG-DUPLICATE-CL-SMUGGLED-GET", "400 close", "RFC 9112, 6.3"},
    {"SMUG-TECL-DESYNC", "400 close", "RFC 9112, 6.1"},
    {"SMUG-OPTIONS-TE-OBS-FOLD", "400 close", "RFC 9112, 5.2"},
    {"SMUG-CHUNK-INVALID-SIZE-DESYNC", "400 close", "RFC 9112, 7.1"},
    {"MAL-POST-CL-HUGE-NO-BODY", "413 close", "RFC 9110, 15.5.14"},
    {"NORM-SP-BEFORE-COLON-CL", "400 close", "RFC 9112, 5.1"},
    {"NORM-TAB-IN-NAME", "400 close", "RFC 9112, 5.1"},
};
enum { OTHERS = sizeof others / sizeof others[0] };

static const char *other_answer(const char *id)
{
    for (size_t row = 0; row < OTHERS; row++) {
        if (strcmp(others[row].id, id) == 0)
            return others[row].answer;
    }
    ck_abort_msg("%s is not in the table", id);
}

/* Cases about two requests that no two servers read differently: both are answered. They say no MUST. */
static const struct {
    const char *id;
    const char *answer;
    const char *section;
} sound[] = {
    {"SMUG-EXPECT-100-CL-DESYNC", "200 200", "RFC 9110, 10.1.1: the body is sent without waiting"},
    {"SMUG-PIPELINE-SAFE", "200 200", "RFC 9112, 9.3.2"},
};

static const char *sound_answer(const char *id)
{
    for (size_t row = 0; row < sizeof sound / sizeof sound[0]; row++) {
        if (strcmp(sound[row].id, id) == 0)
            return sound[row].answer;
    }
    return NULL;
}

/* What a case wants; NULL: nobody says, and the rules for all cases are left. */
static const char *wanted(const struct probe *probe)
{
    if (strcmp(probe->exact, "Exact") == 0)
        return "400 close";
    if (strcmp(probe->exact, "Range2xx") == 0)
        return "2xx";
    return strcmp(probe->level, "Must") == 0 ? other_answer(probe->id) : sound_answer(probe->id);
}

static void check_once(const struct probe *probe, size_t cut)
{
    struct talk talk = say_payload(probe, cut);
    const char *want = wanted(probe);
    if (want && strcmp(want, "2xx") == 0)
        ck_assert_msg(strcmp(talk.text, "200") == 0 || strcmp(talk.text, "204") == 0,
                      "%s, cut at %zu: %s, not 2xx",
                      probe->id,
                      cut,
                      talk.text);
    else if (want)
        ck_assert_msg(strcmp(talk.text, want) == 0,
                      "%s, cut at %zu: %s, not %s",
                      probe->id,
                      cut,
                      talk.text,
                      want);
    /* Final answers of any status: a payload is one request, whatever is in its body. */
    ck_assert_msg(talk.answers <= talk.requests, "%s, cut at %zu: %s", probe->id, cut, talk.text);
    bool is_unsure = probe->is_smuggling && !want;
    ck_assert_msg(!is_unsure || strstr(talk.text, "close"),
                  "%s, cut at %zu: %s, and the connection is kept",
                  probe->id,
                  cut,
                  talk.text);
}

/* Plays all cases, the payloads cut at each step-th byte; 0: whole. */
static void play_all(size_t step)
{
    json_t *root = load();
    size_t bad = 0, good = 0, other = 0, payloads = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct probe probe = probe_of(root, i);
        if (!probe.data)
            continue;
        const char *want = wanted(&probe);
        payloads++;
        bad += strcmp(probe.exact, "Exact") == 0;
        good += strcmp(probe.exact, "Range2xx") == 0;
        other += want && !probe.exact[0] && strcmp(probe.level, "Must") == 0;
        check_once(&probe, probe.size);
        for (size_t cut = 1; step && cut < probe.size; cut += step)
            check_once(&probe, cut);
        if (step)
            check_once(&probe, SIZE_MAX);
        probe_free(&probe);
    }
    ck_assert_uint_eq(payloads, 183);
    ck_assert_uint_eq(bad, 62);
    ck_assert_uint_eq(good, 5); /* the base line, and the four that MUST be 2xx */
    ck_assert_uint_eq(other, OTHERS);
    json_decref(root);
}

static void play_whole(void)
{
    HOST(host, listen_api);
    play_all(0);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* the listener */
}

TEST(each_public_case_gets_what_its_section_says_and_none_two_answers, "W-02", "HT-01", "HT-02",
     "HT-03", "HT-04")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        kit_open((int)seed, seed);
        play_whole();
        kit_close();
    }
}

TEST(the_same_holds_for_cases_that_come_in_pieces, "W-02", "HT-05")
{
    kit_open(1, 1);
    HOST(host, listen_api);
    play_all(TEST_HAS_SANITIZER ? 5 : 1);
    kit_close();
}

/* What a payload means to the handler, where two servers could differ. */
TEST(the_handler_sees_one_body_and_no_field_of_a_trailer, "W-02", "HT-06")
{
    static const struct {
        const char *id;
        const char *body;
    } rows[] = {
        {"COMP-CHUNKED-MULTI", "POST 127.0.0.1 / <hello world>"},
        {"COMP-CHUNKED-EXTENSION", "POST 127.0.0.1 / <hello>"},
        {"COMP-CHUNKED-HEX-UPPERCASE", "POST 127.0.0.1 / <helloworld>"},
        {"SMUG-TRAILER-CL", "POST 127.0.0.1 / <hello>"},
        {"SMUG-TRAILER-HOST", "POST 127.0.0.1 / <hello>"},
        {"SMUG-TRANSFER_ENCODING", "POST 127.0.0.1 / <hello>"},
        {"SMUG-ABSOLUTE-URI-HOST-MISMATCH", "GET other.example.com / <>"},
        {"NORM-UNDERSCORE-CL", "POST 127.0.0.1 /echo <hello world>"},
    };
    size_t found = 0;
    kit_open(1, 1);
    HOST(host, listen_api);
    json_t *root = load();
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct probe probe = probe_of(root, i);
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
            if (strcmp(rows[row].id, probe.id) != 0)
                continue;
            tr_kit_peer *peer = peer_new();
            peer_send(peer, probe.data);
            const char *text = tr_kit_receive_text(peer, TR_SECOND);
            const char *body = strstr(text, "\r\n\r\n");
            ck_assert_ptr_nonnull(body);
            ck_assert_str_eq(body + 4, rows[row].body);
            tr_kit_close(peer);
            found++;
        }
        probe_free(&probe);
    }
    ck_assert_uint_eq(found, sizeof rows / sizeof rows[0]);
    json_decref(root);
    kit_close();
}

SUITE("http probe", each_public_case_gets_what_its_section_says_and_none_two_answers,
      the_same_holds_for_cases_that_come_in_pieces,
      the_handler_sees_one_body_and_no_field_of_a_trailer)
