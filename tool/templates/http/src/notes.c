/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include <inttypes.h>

enum { NOTES_MAX = 1000 };

struct notes {
    uint64_t count;
    const char *texts[NOTES_MAX]; /* the note n is at n - 1 */
};

static tr_next on_add(tr_self *self, struct notes *notes, const struct add_note *message)
{
    if (!message->text || !*message->text)
        return tr_refuse(self, 422, "a note needs a text");
    if (notes->count == NOTES_MAX)
        return tr_refuse(self, 507, "no more than %d notes", NOTES_MAX);
    notes->texts[notes->count++] = tr_strdup(self, message->text);
    return tr_reply(self, note, .id = notes->count, .text = message->text);
}

static tr_next on_get(tr_self *self, struct notes *notes, const struct get_note *message)
{
    if (message->id == 0 || message->id > notes->count)
        return tr_refuse(self, 404, "no note %" PRIu64, message->id);
    return tr_reply(self, note, .id = message->id, .text = notes->texts[message->id - 1]);
}

TR_BEHAVIOR(notes, struct notes, TR_ON(add_note, on_add), TR_ON(get_note, on_get));
