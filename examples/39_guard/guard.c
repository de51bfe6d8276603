/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Diaries behind a gateway with bearer tokens: 39_guard 127.0.0.1:8080
 *
 *     curl -H 'Authorization: Bearer 5f3c' -d '{"text":"rain"}' localhost:8080/actors/diary/anna/write   {"lines":1}
 *     curl -H 'Authorization: Bearer 81ab' localhost:8080/actors/diary/anna/count                        {"lines":1}
 *
 * The guard is an actor. It is asked before a diary wakes, says who the caller is, and refuses: 401 to a caller without a
 * token, 403 to one who wants to write into the diary of somebody else. The messages of WebSockets are asked for too.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(diary_has, (u32, lines));
TR_REQUEST(write, diary_has, (str, text));
TR_REQUEST(count, diary_has);
TR_ACTOR(diary, write, count);
TR_MESSAGE(diary_state, (list(str), lines));

static tr_next on_write(tr_self *self, struct diary_state *diary, const struct write *message)
{
    const char *text = message->text ? message->text : "";
    tr_append(
        self, diary->lines, tr_strdup(self, tr_format(self, "%s: %s", tr_caller(self), text)));
    return tr_reply(self, diary_has, .lines = (uint32_t)diary->lines.count);
}

static tr_next on_count(tr_self *self, struct diary_state *diary)
{
    return tr_reply(self, diary_has, .lines = (uint32_t)diary->lines.count);
}

TR_BEHAVIOR(diary, struct diary_state, TR_ON(write, on_write), TR_ON(count, on_count));
TR_DURABLE(diary, diary_state);
TR_EXPOSE(diary, write, TR_BY_GET(count));

/* Compares two texts in a time that does not tell where they differ. */
static bool is_same(const char *one, const char *other)
{
    size_t size = strlen(one);
    int difference = 0;
    for (size_t i = 0; size == strlen(other) && i < size; i++)
        difference |= one[i] ^ other[i];
    return size == strlen(other) && !difference;
}

/* A real program reads its tokens from a file, or asks the server that gave them out. */
static const struct {
    const char *token;
    const char *caller;
} known[] = {{"Bearer 5f3c", "anna"}, {"Bearer 81ab", "bob"}};

static tr_next on_authorize(tr_self *self, const struct tr_authorize *message)
{
    const char *caller = NULL;
    for (size_t i = 0; message->authorization && i < sizeof known / sizeof known[0]; i++) {
        if (is_same(known[i].token, message->authorization))
            caller = known[i].caller;
    }
    if (!caller)
        return tr_refuse(self, 401, "a token is needed");
    if (strcmp(message->message, "write") == 0 && strcmp(message->key, caller) != 0)
        return tr_refuse(self, 403, "this is the diary of somebody else");
    return tr_reply(self, tr_principal, .caller = caller, .per_minute = 600);
}

TR_BEHAVIOR(tr_guard, void, TR_ON(tr_authorize, on_authorize));

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *at = args->argv.count > 1 ? args->argv.items[1] : ":8080";
    tr_guard_ref guard = tr_spawn(self, tr_guard, "guard");
    tr_listener_ref listener = tr_gateway_guarded(self, TR_HTTP(at), guard, diary);
    printf("open at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .durable = TR_DURABLES(diary));
}
