/* SPDX-License-Identifier: Apache-2.0 */
#include "support/second_file.h"

TR_MESSAGE(shape, (str, name), (list(u32), sides));
TR_MESSAGE(secret, (u64, number));

static tr_next on_shape(tr_self *self, const struct shape *m)
{
    return tr_reply(self, told, .text = tr_format(self, "%s of %zu", m->name, m->sides.count));
}

static tr_next on_secret(tr_self *self)
{
    return tr_reply(self, told, .text = "secret");
}

TR_BEHAVIOR(second_receiver, void, TR_ON(shape, on_shape), TR_ON(secret, on_secret));

const tr_type *second_file_shape(void)
{
    return &tr_type_shape;
}

const tr_type *second_file_secret(void)
{
    return &tr_type_secret;
}
