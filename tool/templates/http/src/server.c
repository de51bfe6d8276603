/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "notes.h"

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

/* The fields of the request are those of the message. What the notes reply or refuse is the answer. */
static tr_next pass_on(tr_self *self, struct api *api)
{
    return tr_forward(self, api->notes);
}

TR_BEHAVIOR(api, struct api, TR_SETUP_WITH(open_api, set_up), TR_POST("/notes", add_note, pass_on),
            TR_GET("/notes/{id}", get_note, pass_on));

/* ---- The server. ---- */

static tr_next on_serve(tr_self *self, const struct serve *message)
{
    const tr_http_options options = {.has_health = true}; /* /healthz and /readyz */
    notes_ref notes = tr_spawn(self, notes, "notes");
    tr_listener_ref listener;
    tr_status status = tr_try_listen(self,
                                     &listener,
                                     api,
                                     TR_HTTP(message->address, .http = &options),
                                     open_api,
                                     .notes = notes);
    if (status != TR_OK)
        return tr_refuse(self, status, "%s", tr_status_text(status));
    tr_address address = tr_listener_address(self, listener);
    return tr_reply(self, served, .address = tr_address_text(self, address));
}

TR_BEHAVIOR(server, void, TR_ON(serve, on_serve));
