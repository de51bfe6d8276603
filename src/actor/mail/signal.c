/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/signal.h"

#include "actor/mail/address.h"
#include "actor/time/timers.h"

#define SIGNAL_TYPE(m)                                                                             \
    {                                                                                              \
        .name = #m, .fields = tr_fields_##m, .file = __FILE__, .line = __LINE__,                   \
        .size = sizeof(struct m), .field_count = sizeof(tr_fields_##m) / sizeof(tr_field) - 1,     \
        .field_size = sizeof(tr_field), .abi = TR_ABI, .is_flat = true                             \
    }

const tr_type tr__terminated_type = SIGNAL_TYPE(tr_terminated);
const tr_type tr__child_failed_type = SIGNAL_TYPE(tr_child_failed);

bool tr__signal_is_own(const tr_type *type)
{
    return type == &tr__terminated_type || type == &tr__child_failed_type || type == &tr__idle_type;
}

bool tr__signal_is_forged(const tr_type *type)
{
    static const tr_type *const signals[] = {&tr_type_tr_pre_start,
                                             &tr_type_tr_post_stop,
                                             &tr_type_tr_pre_restart,
                                             &tr_type_tr_post_restart,
                                             &tr_type_tr_terminated,
                                             &tr_type_tr_child_failed};
    if (tr__signal_is_own(type))
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (tr_type_is_equal(type, signals[i]))
            return true;
    }
    return false;
}

struct envelope *tr__signal_new(struct worker *worker, uint64_t to, const tr_type *type,
                                const void *message)
{
    struct address address = {.kind = ENVELOPE_SIGNAL, .to = to};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, type, message, &envelope);
    return status == TR_OK ? envelope : NULL;
}
