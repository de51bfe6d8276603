/* SPDX-License-Identifier: Apache-2.0 */
/** HTTP: every clause, every shape of a handler and every verb once. */
#include <troupe/http.h>
#include <troupe/troupe.h>

TR_MESSAGE(user, (u64, id), (str, name));
TR_REQUEST(get_user, user, (u64, id));
TR_REQUEST(add_user, user, (str, name));
TR_ACTOR(site, get_user, add_user);

struct site {
    size_t count;
};

static tr_next on_get(tr_self *self, struct site *site, const struct get_user *message)
{
    site->count++;
    tr_http_status(self, 201);
    tr_http_set(self, "etag", "\"a\"");
    return tr_reply(self, user, .id = message->id, .name = "anna");
}

static tr_next on_add(tr_self *self)
{
    return tr_forward(self, tr_me(self));
}

static tr_next on_raw(tr_self *self, const struct tr_http_request *request)
{
    tr_bytes piece = request->body;
    while (tr_http_read(self, &piece))
        ;
    piece = tr_http_body(self, 100);
    if (tr_http_header(self, "a") || tr_http_query(self, "b") || tr_http_part(self, "c") ||
        tr_http_cookie(self, "d") || tr_http_request_id(self) || tr_http_form(self, "e") ||
        tr_http_is_gone(self))
        return tr_http_reply(self, 303, .location = "/", .cache = "no-store");
    const struct user *user = TR_HTTP_JSON(self, user);
    return tr_http_reply_json(self, 200, user, .id = user->id, .name = user->name);
}

static tr_next on_stream(tr_self *self, struct site *site)
{
    const struct tr_http_field headers[] = {{"a", "b"}, {NULL, NULL}};
    tr_http_begin(self, 200, .type = "a/b", .length = 3, .headers = headers);
    tr_http_print(self, "%zu", site->count);
    tr_http_write(self, TR_BYTES("a"));
    tr_http_event(self, NULL, "data");
    return tr_http_end(self);
}

static tr_next on_nothing(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(site, struct site, TR_GET("/users/{id}", get_user, on_get),
            TR_POST("/users", add_user, on_add, .is_barrier = true),
            TR_PUT("/users", add_user, on_add), TR_PATCH("/raw/{c}", tr_http_request, on_raw),
            TR_DELETE("/raw/{c...}", tr_http_request, on_raw),
            TR_GET("/stream", tr_http_request, on_stream), TR_FILES("/files/{path...}", "www"),
            TR_ON(tr_http_request, on_nothing));

static tr_next on_start(tr_self *self)
{
    const tr_http_options options = {.body_max = 100, .has_health = true, .logs = true};
    tr_listener_ref listener = tr_listen(self, site, TR_HTTP(":8080"));
    if (tr_try_listen(self, &listener, site, TR_HTTP("@site", .http = &options)) != TR_OK)
        tr_stop(self, listener);
    listener = tr_listen(self, site, TR_HTTPS(":8443", .certificate = "a.pem", .key = "a.key"));
    return tr_listener_count(self, listener) ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_pre_start, on_start));
