/* SPDX-License-Identifier: Apache-2.0 */
/** The notes: one actor, which knows nothing of HTTP. */
#ifndef NOTES_H
#define NOTES_H

#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, id), (str, text));
TR_REQUEST(add_note, note, (str, text));
TR_REQUEST(get_note, note, (u64, id));
TR_ACTOR(notes, add_note, get_note);

#endif
