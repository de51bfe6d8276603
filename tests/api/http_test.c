/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP: requests as messages. Typed rows, whose fields come from the path, the query and the body; raw rows; what has no
 * row; behaviors whose paths do not fit. On the network of kits.
 */
#include "support/heard_log.h"
#include "support/http.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

TR_MESSAGE(note, (u64, id), (str, text), (optional(bool), loud));
TR_REQUEST(get_note, note, (u64, id), (optional(bool), loud));
TR_REQUEST(add_note, note, (str, text), (i8, small), (list(u32), numbers));
TR_REQUEST(remove_note, tr_done, (str, name));
TR_REQUEST(pass_note, note, (u64, id));
TR_ACTOR(notes, pass_note);

static tr_next notes_pass(tr_self *self, const struct pass_note *message)
{
    if (message->id == 404)
        return tr_refuse(self, 404, "no note %d", (int)message->id);
    if (message->id == 7)
        return tr_refuse(self, 7, "a code of its own");
    return tr_reply(self, note, .id = message->id, .text = "passed");
}
TR_BEHAVIOR(notes, void, TR_ON(pass_note, notes_pass));

TR_MESSAGE(open_api, (ref_of(notes), notes));
struct api {
    notes_ref notes;
};

static tr_next set_up(struct api *api, const struct open_api *message)
{
    api->notes = message->notes;
    return TR_SAME;
}

static tr_next on_get(tr_self *self, const struct get_note *message)
{
    if (message->id == 13)
        return tr_refuse(self, 409, "not \"%d\"", (int)message->id);
    return tr_reply(self,
                    note,
                    .id = message->id,
                    .text = "tea",
                    .loud = {message->loud.has, message->loud.value});
}

static tr_next on_add(tr_self *self, const struct add_note *message)
{
    tr_http_status(self, 201);
    tr_http_set(self, "location", "/notes/1");
    return tr_reply(self, note, .id = message->numbers.count, .text = message->text);
}

static tr_next on_remove(tr_self *self, const struct remove_note *message)
{
    say("removed %s", message->name);
    return tr_reply(self, tr_done);
}

static tr_next on_pass(tr_self *self, struct api *api)
{
    return tr_forward(self, api->notes);
}

static tr_next on_await(tr_self *self, struct api *api, const struct pass_note *message)
{
    const struct note *note =
        tr_await(self, tr_ask(self, api->notes, pass_note, .id = message->id));
    return tr_reply(self, note, .id = note->id, .text = "awaited");
}

static tr_next on_raw(tr_self *self, const struct tr_http_request *message)
{
    const char *rest = tr_http_part(self, "rest");
    const char *x = tr_http_query(self, "x");
    const char *header = tr_http_header(self, "X-Two");
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self,
                                           "%s %s %s %s host=%s rest=%s x=%s two=%s headers=%zu",
                                           message->method,
                                           message->target,
                                           message->path,
                                           message->query ? message->query : "-",
                                           message->host,
                                           rest ? rest : "-",
                                           x ? x : "-",
                                           header ? header : "-",
                                           message->headers.count));
}

static tr_next on_silent(void)
{
    return TR_SAME;
}

/* Answers as programs do that were compiled with fewer, or with more, members of tr_http_response. */
static tr_next on_version(tr_self *self)
{
    const tr_http_response older = {.size = offsetof(tr_http_response, cache),
                                    .status = 200,
                                    .text = "older",
                                    .cache = "unknown to it"};
    struct {
        tr_http_response response;
        uint64_t unknown;
    } newer = {.response = {.size = sizeof newer, .status = 200, .text = "newer"}};
    const char *rest = tr_http_part(self, "which");
    newer.unknown = strcmp(rest, "unknown") == 0;
    return tr_self_http_reply(self, strcmp(rest, "older") == 0 ? &older : &newer.response);
}

TR_BEHAVIOR(api, struct api, TR_SETUP_WITH(open_api, set_up),
            TR_GET("/raw/{rest...}", tr_http_request, on_raw),
            TR_GET("/notes/{id}", get_note, on_get), TR_POST("/notes", add_note, on_add),
            TR_DELETE("/notes/{name}", remove_note, on_remove),
            TR_GET("/notes/special", tr_http_request, on_silent),
            TR_GET("/pass/{id}", pass_note, on_pass), TR_PUT("/pass/{id}", pass_note, on_await),
            TR_PATCH("/patch", tr_http_request, on_raw),
            TR_GET("/version/{which}", tr_http_request, on_version));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static notes_ref notes;
ONCE(listen_api, notes = tr_spawn(self, notes, "notes");
     listener = tr_listen(self, api, TR_HTTP(SERVER), open_api, .notes = notes))

static tr_kit_peer *peer;

static void begin(void)
{
    HOST(host, listen_api);
    peer = peer_new();
}

static void end(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

#define H " HTTP/1.1\r\nHost: a\r\n"

static void play_typed(void)
{
    begin();
    HTTP_ASK(peer, "GET /notes/5" H "\r\n", HTTP_OK("{\"id\":5,\"text\":\"tea\",\"loud\":null}"));
    HTTP_ASK(peer,
             "GET /notes/5?loud=true&other=1" H "\r\n",
             HTTP_OK("{\"id\":5,\"text\":\"tea\",\"loud\":true}"));
    HTTP_ASK(peer,
             "POST /notes" H
             "Content-Length: 37\r\n\r\n{\"text\":\"a\\u00e4\",\"numbers\":[1,2,3]} ",
             "HTTP/1.1 201 Created\r\nlocation: /notes/1\r\n\r\n"
             "{\"id\":3,\"text\":\"a\u00e4\",\"loud\":null}");
    HTTP_ASK(peer, "DELETE /notes/b%20c%2Fd" H "\r\n", HTTP_OK("{}"));
    SAID("removed b c/d");
    HTTP_ASK(peer, "HEAD /notes/5" H "\r\n", HTTP_OK(""));
    end();
}

TEST(typed_rows_are_filled_from_path_query_and_body, "W-01", "W-03")
{
    kits_each(play_typed);
}

#define BAD(text)                                                                                  \
    "HTTP/1.1 400 Bad Request\r\n\r\n{\"error\":{\"code\":400,\"message\":\"" text "\"}}"

static void play_bad(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /notes/x" H "\r\n",
             BAD("id: in the path: it must be an integer that fits, without a sign"));
    HTTP_ASK(peer,
             "GET /notes/99999999999999999999" H "\r\n",
             BAD("id: in the path: it must be an integer that fits, without a sign"));
    HTTP_ASK(peer,
             "GET /notes/1?loud=yes" H "\r\n",
             BAD("loud: in the query: it must be true or false"));
    HTTP_ASK(peer,
             "POST /notes?small=128" H "Content-Length: 0\r\n\r\n",
             BAD("small: in the query: it must be an integer that fits"));
    HTTP_ASK(peer,
             "POST /notes?numbers=1" H "Content-Length: 0\r\n\r\n",
             BAD("numbers: in the query: it must be given in the body"));
    peer_send(peer, "POST /notes" H "Content-Length: 10\r\n\r\n{\"text\":7}");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert(strncmp(text, "HTTP/1.1 400 ", 13) == 0);
    ck_assert_ptr_nonnull(strstr(text, "\"message\":\"text: "));
    peer_send(peer, "POST /notes" H "Content-Length: 1\r\n\r\n{");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), " 400 "));
    /* Nothing of this ends the connection. */
    HTTP_ASK(peer,
             "POST /notes?small=-128&text=%C3%A4+b" H "Content-Length: 0\r\n\r\n",
             "HTTP/1.1 201 Created\r\nlocation: /notes/1\r\n\r\n"
             "{\"id\":0,\"text\":\"\u00e4 b\",\"loud\":null}");
    end();
}

TEST(what_cannot_be_filled_is_400_and_names_the_field, "W-01")
{
    kits_each(play_bad);
}

static void play_refusals(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /notes/13" H "\r\n",
             "HTTP/1.1 409 Conflict\r\n\r\n"
             "{\"error\":{\"code\":409,\"message\":\"not \\\"13\\\"\"}}");
    HTTP_ASK(peer, "GET /pass/1" H "\r\n", HTTP_OK("{\"id\":1,\"text\":\"passed\",\"loud\":null}"));
    HTTP_ASK(peer,
             "GET /pass/404" H "\r\n",
             "HTTP/1.1 404 Not Found\r\n\r\n"
             "{\"error\":{\"code\":404,\"message\":\"no note 404\"}}");
    HTTP_ASK(peer,
             "GET /pass/7" H "\r\n",
             "HTTP/1.1 422 Unprocessable Content\r\n\r\n"
             "{\"error\":{\"code\":422,\"message\":\"a code of its own\"}}");
    HTTP_ASK(
        peer, "PUT /pass/1" H "\r\n", HTTP_OK("{\"id\":1,\"text\":\"awaited\",\"loud\":null}"));
    HTTP_ASK(peer,
             "PUT /pass/404" H "\r\n",
             "HTTP/1.1 404 Not Found\r\n\r\n"
             "{\"error\":{\"code\":404,\"message\":\"no note 404\"}}");
    end();
}

TEST(refusals_are_statuses_also_those_of_other_actors, "W-01")
{
    kits_each(play_refusals);
}

static void play_raw(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /raw/a/%2e%2e/b%20b/./c?x=1%2B1&y HTTP/1.1\r\nHost: h.example:80\r\nX-Two: "
             "1\r\nx-tWo:  2 \r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
             "GET /raw/a/%2e%2e/b%20b/./c?x=1%2B1&y /raw/b b/c x=1%2B1&y host=h.example:80 rest=b "
             "b/c x=1+1 two=1, 2 headers=3");
    HTTP_ASK(peer,
             "PATCH http://other.example/patch?q HTTP/1.1\r\nHost: a\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
             "PATCH http://other.example/patch?q /patch q host=other.example rest=- x=- two=- "
             "headers=1");
    end();
}

TEST(raw_rows_see_the_request, "W-01")
{
    kits_each(play_raw);
}

#define PLAIN(text) "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" text

static void play_versions(void)
{
    begin();
    HTTP_ASK(peer, "GET /version/older" H "\r\n", PLAIN("older"));
    HTTP_ASK(peer, "GET /version/newer" H "\r\n", PLAIN("newer"));
    peer_send(peer, "GET /version/unknown" H "\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), " 500 "));
    end();
}

TEST(answers_of_older_and_newer_programs_are_read_as_far_as_both_know_them, "W-01", "U-02")
{
    kits_each(play_versions);
}

static void play_nowhere(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /nowhere" H "\r\n",
             "HTTP/1.1 404 Not Found\r\n\r\n"
             "{\"error\":{\"code\":404,\"message\":\"nothing is served at /nowhere\"}}");
    HTTP_ASK(peer,
             "PUT /notes/1" H "\r\n",
             "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD, DELETE, OPTIONS\r\n\r\n"
             "{\"error\":{\"code\":405,\"message\":\"this method is not served here\"}}");
    HTTP_ASK(
        peer, "OPTIONS /notes" H "\r\n", "HTTP/1.1 204 No Content\r\nallow: POST, OPTIONS\r\n\r\n");
    HTTP_ASK(
        peer,
        "OPTIONS *" H "\r\n",
        "HTTP/1.1 204 No Content\r\nallow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n\r\n");
    /* The row without parts goes before the one with, though it stands behind it. */
    HTTP_ASK(peer,
             "GET /notes/special" H "\r\n",
             "HTTP/1.1 500 Internal Server Error\r\n\r\n"
             "{\"error\":{\"code\":500,\"message\":\"the server has failed\"}}");
    HTTP_ASK(peer, "GET /notes/%00" H "\r\n", BAD("the path is malformed"));
    HTTP_ASK(peer, "GET /notes/1" H "\r\n", HTTP_OK("{\"id\":1,\"text\":\"tea\",\"loud\":null}"));
    end();
}

TEST(what_has_no_row_is_404_or_405, "W-01", "W-06")
{
    kits_each(play_nowhere);
}

/* ---- The same handlers for actors. ---- */

TR_ACTOR(api, get_note);

static tr_next ask_api(tr_self *self)
{
    api_ref one = tr_spawn(self, api, "one", open_api, .notes = notes);
    const struct note *note = tr_await(self, tr_ask(self, one, get_note, .id = 8));
    say("%d %s", (int)note->id, note->text);
    const struct note *none = NULL;
    ck_assert_int_eq(tr_try_await(self, tr_ask(self, one, get_note, .id = 13), &none), TR_REFUSED);
    tr_stop(self, one);
    return TR_SAME;
}

static void play_actors(void)
{
    begin();
    host_run(ask_api);
    SAID("8 tea");
    end();
}

TEST(the_same_handler_answers_actors_that_ask, "W-01")
{
    kits_each(play_actors);
}

/* ---- Behaviors that cannot be served. ---- */

TR_BEHAVIOR(misspelt, void, TR_GET("/notes/{di}", get_note, on_get));
TR_BEHAVIOR(listed, void, TR_GET("/notes/{numbers}", add_note, on_add));
TR_BEHAVIOR(relative, void, TR_GET("notes", tr_http_request, on_silent));
TR_BEHAVIOR(half, void, TR_GET("/notes/a{id}", get_note, on_get));
TR_BEHAVIOR(behind, void, TR_GET("/{all...}/b", tr_http_request, on_silent));
TR_BEHAVIOR(told, void, TR_GET("/told", note, on_silent));
TR_BEHAVIOR(files, void, TR_FILES("/files", "www"));
TR_BEHAVIOR(pathless, void, TR_ON(note, on_silent));

static const struct tr_http_options wrong = {.keep_ns = -1};

static tr_next listen_wrong(tr_self *self)
{
    tr_listener_ref made;
    ck_assert_int_eq(tr_try_listen(self, &made, misspelt, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, listed, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, relative, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, half, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, behind, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, told, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, files, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, pathless, TR_HTTP(SERVER)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, api, TR_HTTP(SERVER, .http = &wrong)),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, api, TR_HTTP(SERVER, .framing = TR_LINES)),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_listen(self, &made, api, TR_TCP(SERVER, .http = &wrong)),
                     TR_INVALID_ARGUMENT);
    tr_channel channel;
    ck_assert_int_eq(tr_try_connect(self, TR_HTTP(SERVER), &channel), TR_INVALID_ARGUMENT);
    return TR_SAME;
}

TEST(paths_that_do_not_fit_their_message_fail_at_start, "W-01")
{
    static const char *const sentences[] = {
        "misspelt: TR_GET(\"/notes/{di}\", get_note, on_get): a part of the path is no field",
        "listed: TR_GET(\"/notes/{numbers}\", add_note, on_add): a part of the path is no field",
        "relative: TR_GET(\"notes\", tr_http_request, on_silent): ",
        "half: TR_GET(\"/notes/a{id}\", get_note, on_get): ",
        "behind: TR_GET(\"/{all...}/b\", tr_http_request, on_silent): ",
        "told: TR_GET(\"/told\", note, on_silent): the message is neither a TR_REQUEST nor",
        "files: TR_FILES(\"/files\", tr_http_request, ",
        "pathless: the behavior has no path, and no tr_http_request",
        "api: an option of HTTP is out of its range",
    };
    heard_begin();
    kit_open(1, 1);
    HOST(host, listen_wrong);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    kit_close();
    const char *log = heard_end();
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
        ck_assert_msg(
            heard_count(log, sentences[i]) == 1, "\"%s\" is not in:\n%s", sentences[i], log);
}

SUITE("http", typed_rows_are_filled_from_path_query_and_body,
      what_cannot_be_filled_is_400_and_names_the_field,
      refusals_are_statuses_also_those_of_other_actors, raw_rows_see_the_request,
      answers_of_older_and_newer_programs_are_read_as_far_as_both_know_them,
      what_has_no_row_is_404_or_405, the_same_handler_answers_actors_that_ask,
      paths_that_do_not_fit_their_message_fail_at_start)
