/* SPDX-License-Identifier: Apache-2.0 */
/** The document of OpenAPI that a site makes of its rows. On the network of kits. */
#include "support/http.h"

#include <jansson.h>

TR_MESSAGE(tag, (str, name), (u8, weight));
TR_MESSAGE(user, (u64, id), (str, name), (list(message(tag)), tags), (array(f64, 3), place),
           (bytes, picture));
TR_REQUEST(get_user, user, (u64, id), (optional(bool), brief), (list(str), not_in_a_query));
TR_REQUEST(add_user, user, (str, name), (i32, age), (message(tag), first));
TR_REQUEST(drop_user, tr_done, (u64, id), (str, reason));

static tr_next on_get(tr_self *self, const struct get_user *message)
{
    return tr_reply(self, user, .id = message->id);
}

static tr_next on_add(tr_self *self, const struct add_user *message)
{
    return tr_reply(self, user, .name = message->name);
}

static tr_next on_drop(tr_self *self)
{
    return tr_reply(self, tr_done);
}

static tr_next on_index(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "index");
}

static tr_next on_rest(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "rest");
}

static tr_next on_page(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "page");
}

TR_BEHAVIOR(site, void, TR_GET("/users/{id}", get_user, on_get),
            TR_DELETE("/users/{id}", drop_user, on_drop), TR_POST("/users", add_user, on_add),
            TR_GET("/", tr_http_request, on_index),
            TR_GET("/pages/{rest...}", tr_http_request, on_rest), TR_ON(tr_http_request, on_page));
TR_BEHAVIOR(owner, void, TR_GET("/openapi.json", tr_http_request, on_page));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const tr_http_options options = {.openapi = "users \"and\" more"};

static tr_next open_site(tr_self *self)
{
    listener = tr_listen(self, site, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

static tr_next open_silent(tr_self *self)
{
    listener = tr_listen(self, site, TR_HTTP(SERVER));
    return TR_SAME;
}

static tr_next open_owner(tr_self *self)
{
    listener = tr_listen(self, owner, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

static const char *fetch(turn *open)
{
    static char text[1 << 16];
    kit_open(1, 1);
    HOST(host, open);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n");
    snprintf(text, sizeof text, "%s", tr_kit_receive_text(peer, TR_SECOND));
    tr_kit_close(peer);
    kit_close();
    const char *body = strstr(text, "\r\n\r\n");
    ck_assert_ptr_nonnull(body);
    return body + 4;
}

/* Finds a value by names; "0" is the first of an array. */
static const json_t *find(const json_t *at, const char *const *names)
{
    for (; *names; names++) {
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(*names))
                               : json_object_get(at, *names);
        ck_assert_msg(at, "%s is missing", *names);
    }
    return at;
}

#define AT(root, ...) find(root, (const char *const[]){__VA_ARGS__, NULL})
#define IS(root, text, ...) ck_assert_str_eq(json_string_value(AT(root, __VA_ARGS__)), text)

TEST(a_site_describes_its_rows, "W-13")
{
    json_error_t error;
    json_t *root = json_loads(fetch(open_site), JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root, "%s", error.text);
    IS(root, "3.1.0", "openapi");
    IS(root, "users \"and\" more", "info", "title");
    const json_t *paths = AT(root, "paths");
    ck_assert_uint_eq(json_object_size(paths), 4);
    const json_t *get = AT(paths, "/users/{id}", "get");
    ck_assert_uint_eq(json_array_size(AT(get, "parameters")), 2); /* a list is in no query */
    IS(get, "id", "parameters", "0", "name");
    IS(get, "path", "parameters", "0", "in");
    ck_assert(json_is_true(AT(get, "parameters", "0", "required")));
    IS(get, "integer", "parameters", "0", "schema", "type");
    IS(get, "brief", "parameters", "1", "name");
    IS(get, "query", "parameters", "1", "in");
    IS(get, "boolean", "parameters", "1", "schema", "type");
    IS(get,
       "#/components/schemas/user",
       "responses",
       "200",
       "content",
       "application/json",
       "schema",
       "$ref");
    IS(paths, "reason", "/users/{id}", "delete", "parameters", "1", "name");
    IS(paths,
       "#/components/schemas/add_user",
       "/users",
       "post",
       "requestBody",
       "content",
       "application/json",
       "schema",
       "$ref");
    IS(paths, "rest", "/pages/{rest}", "get", "parameters", "0", "name");
    (void)AT(paths, "/", "get", "responses", "default");
    const json_t *schemas = AT(root, "components", "schemas");
    IS(schemas, "array", "user", "properties", "tags", "type");
    IS(schemas, "#/components/schemas/tag", "user", "properties", "tags", "items", "$ref");
    ck_assert_int_eq(json_integer_value(AT(schemas, "user", "properties", "place", "maxItems")), 3);
    IS(schemas, "number", "user", "properties", "place", "items", "type");
    IS(schemas, "base64", "user", "properties", "picture", "contentEncoding");
    IS(schemas, "#/components/schemas/tag", "add_user", "properties", "first", "$ref");
    ck_assert_int_eq(json_integer_value(AT(schemas, "tag", "properties", "weight", "maximum")),
                     255);
    (void)AT(schemas, "tr_done");
    /* Nothing is referred to that is not there. */
    for (const char *at = fetch(open_site); (at = strstr(at, "#/components/schemas/"));) {
        char name[64];
        at += strlen("#/components/schemas/");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
        ck_assert_ptr_nonnull(json_object_get(schemas, name));
    }
    json_decref(root);
}

TEST(it_is_served_on_request_and_behind_rows_of_the_program, "W-13")
{
    ck_assert_str_eq(fetch(open_silent), "page");
    ck_assert_str_eq(fetch(open_owner), "page");
}

SUITE("openapi", a_site_describes_its_rows, it_is_served_on_request_and_behind_rows_of_the_program)
