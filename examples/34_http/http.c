/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A JSON API over HTTP/1.1, with a body that is read as it comes, an answer that is written as it is made, and files.
 *
 *     34_http 127.0.0.1:8080
 *
 *     curl localhost:8080/notes -d '{"text":"buy tea"}'              {"id":1,"text":"buy tea"}
 *     curl localhost:8080/notes/1                                    {"id":1,"text":"buy tea"}
 *     curl 'localhost:8080/notes?limit=10'                           one line of JSON for each, as they are found
 *     curl -T big.iso localhost:8080/files/big.iso; curl -O localhost:8080/files/big.iso
 *     curl -X DELETE localhost:8080/notes/1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, id), (str, text));
TR_REQUEST(add_note, note, (str, text));
TR_REQUEST(get_note, note, (u64, id));
TR_REQUEST(remove_note, tr_done, (u64, id));
TR_ACTOR(notes, add_note, get_note, remove_note);

/* ---- The notes: one actor, which knows nothing of HTTP. ---- */

enum { NOTES_MAX = 100000 };
struct notes {
    uint64_t last;
    char *texts[NOTES_MAX]; /* by id; NULL: none */
};

static tr_next on_add(tr_self *self, struct notes *notes, const struct add_note *message)
{
    if (!message->text || !*message->text)
        return tr_refuse(self, 422, "a note needs a text");
    if (notes->last + 1 >= NOTES_MAX)
        return tr_refuse(self, 507, "no more than %d notes", NOTES_MAX);
    notes->texts[++notes->last] = tr_strdup(self, message->text);
    return tr_reply(self, note, .id = notes->last, .text = message->text);
}

static tr_next on_get(tr_self *self, struct notes *notes, const struct get_note *message)
{
    if (message->id >= NOTES_MAX || !notes->texts[message->id])
        return tr_refuse(self, 404, "no note %" PRIu64, message->id);
    return tr_reply(self, note, .id = message->id, .text = notes->texts[message->id]);
}

static tr_next on_remove(tr_self *self, struct notes *notes, const struct remove_note *message)
{
    if (message->id < NOTES_MAX) {
        tr_free(self, notes->texts[message->id]);
        notes->texts[message->id] = NULL;
    }
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(notes, struct notes, TR_ON(add_note, on_add), TR_ON(get_note, on_get),
            TR_ON(remove_note, on_remove));

/* ---- The API: a session for each connection. ---- */

TR_MESSAGE(open_api, (ref_of(notes), notes));
struct api {
    notes_ref notes;
};

static tr_next set_up(struct api *api, const struct open_api *message)
{
    api->notes = message->notes;
    return TR_SAME;
}

/* What is typed needs no code here but to pass it on: a refusal of the notes is one of the API. */
static tr_next post_note(tr_self *self, struct api *api, const struct add_note *message)
{
    const struct note *note =
        tr_await(self, tr_ask(self, api->notes, add_note, .text = message->text));
    tr_http_status(self, 201);
    tr_http_set(self, "location", tr_format(self, "/notes/%" PRIu64, note->id));
    return tr_reply(self, note, .id = note->id, .text = note->text);
}

static tr_next get_note_by_id(tr_self *self, struct api *api)
{
    return tr_forward(self, api->notes);
}

static tr_next delete_note(tr_self *self, struct api *api)
{
    return tr_forward(self, api->notes);
}

/* An answer that is written as it is made; a client that reads slowly slows this turn down, and nobody else. */
static tr_next list_notes(tr_self *self, struct api *api)
{
    const char *limit = tr_http_query(self, "limit");
    uint64_t left = limit ? strtoull(limit, NULL, 10) : 100;
    tr_http_begin(self, 200, .type = "application/x-ndjson");
    for (uint64_t id = 1; left && id < NOTES_MAX && !tr_http_is_gone(self); id++) {
        const struct note *note;
        if (tr_try_await(self, tr_ask(self, api->notes, get_note, .id = id), &note) != TR_OK)
            break;
        tr_http_print(self, "{\"id\":%" PRIu64 "}\n", note->id);
        left--;
    }
    return tr_http_end(self);
}

/* A body of any size, as it comes. */
struct piece {
    FILE *file;
    tr_bytes bytes;
    bool is_written;
};

static void write_piece(void *argument)
{
    struct piece *piece = argument;
    piece->is_written =
        fwrite(piece->bytes.data, 1, piece->bytes.size, piece->file) == piece->bytes.size;
}

static void close_file(void *file)
{
    fclose(file);
}

static tr_next put_file(tr_self *self)
{
    const char *name = tr_http_part(self, "name");
    if (strchr(name, '/') || name[0] == '.')
        return tr_http_reply(self, 400, .text = "no such name\n");
    struct piece piece = {.file = fopen(tr_format(self, "files/%s", name), "wb")};
    if (!piece.file)
        return tr_http_reply(self, 500, .text = "cannot be written\n");
    tr_defer(self, piece.file, close_file);
    while (tr_http_read(self, &piece.bytes)) {
        tr_blocking(self, write_piece, &piece);
        if (!piece.is_written)
            return tr_http_reply(self, 507, .text = "the disk is full\n");
    }
    return tr_http_reply(self, 204);
}

TR_BEHAVIOR(api, struct api, TR_SETUP_WITH(open_api, set_up),
            TR_POST("/notes", add_note, post_note), TR_GET("/notes/{id}", get_note, get_note_by_id),
            TR_DELETE("/notes/{id}", remove_note, delete_note),
            TR_GET("/notes", tr_http_request, list_notes),
            TR_PUT("/files/{name}", tr_http_request, put_file),
            TR_FILES("/files/{name...}", "files"));

/* ---- The program. ---- */

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *address = args->argv.count > 1 ? args->argv.items[1] : "127.0.0.1:8080";
    const tr_http_options options = {.has_health = true};
    notes_ref notes = tr_spawn(self, notes, "notes");
    tr_listener_ref listener =
        tr_listen(self, api, TR_HTTP(address, .http = &options), open_api, .notes = notes);
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server);
}
