/* SPDX-License-Identifier: Apache-2.0 */
/* expect: troupe: TR_GET\(/users/\{id\}, get_user, on_add\): the handler must be */
#include <troupe/http.h>

TR_MESSAGE(user, (u64, id));
TR_REQUEST(get_user, user, (u64, id));
TR_REQUEST(add_user, user, (str, name));

static tr_next on_add(tr_self *self, const struct add_user *message)
{
    return tr_reply(self, user, .id = message->name[0] != 0);
}

TR_BEHAVIOR(api, void, TR_GET("/users/{id}", get_user, on_add));
