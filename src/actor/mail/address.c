/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/address.h"

tr_status tr__mail_new(struct envelope_pool *pool, struct address address, const tr_type *type,
                       const void *message, struct envelope **made)
{
    return mail_new(pool, address, type, message, made);
}
