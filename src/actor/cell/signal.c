/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/signal.h"

#include <assert.h>
#include <string.h>
#include <troupe/message.h>

#define SIGNAL_TYPE(m)                                                                             \
    {                                                                                              \
        .name = #m, .fields = tr_fields_##m, .file = __FILE__, .line = __LINE__,                   \
        .size = sizeof(struct m), .field_count = sizeof(tr_fields_##m) / sizeof(tr_field) - 1,     \
        .field_size = sizeof(tr_field), .abi = TR_ABI, .is_flat = true                             \
    }

#define SIGNAL_ROW_TYPE(name, message, way, properties) [SIGNAL_##name] = SIGNAL_TYPE(message),
const tr_type tr__signal_types[SIGNAL_COUNT] = {SIGNALS(SIGNAL_ROW_TYPE)};

#define SIGNAL_ROW_WAY(name, message, way, properties) [SIGNAL_##name] = SIGNAL_##way,
static const unsigned char signal_ways[SIGNAL_COUNT] = {SIGNALS(SIGNAL_ROW_WAY)};

#define SIGNAL_ROW_ORDER(name, message, way, properties)                                           \
    static_assert((SIGNAL_##way == SIGNAL_CALLED) ==                                               \
                      ((int)SIGNAL_##name < (int)SIGNAL_CALLED_COUNT),                             \
                  "the CALLED rows come first: " #message);                                        \
    static_assert(SIGNAL_##way == SIGNAL_CALLED || !(properties),                                  \
                  "only CALLED rows have properties: " #message);
SIGNALS(SIGNAL_ROW_ORDER)

const tr_type tr__then_type = SIGNAL_TYPE(tr_answered);

bool tr__signal_is_own(const tr_type *type)
{
    uintptr_t first = (uintptr_t)&tr__signal_types[0];
    return (uintptr_t)type - first < sizeof tr__signal_types;
}

/*
 * Returns the signal that has the name and the fields of a type, or SIGNAL_COUNT if there is none.
 */
static enum signal signal_of(const tr_type *type)
{
    if (strncmp(type->name, "tr_", 3) != 0) /* the names of all signals begin with this */
        return SIGNAL_COUNT;
    enum signal signal = 0;
    while (signal < SIGNAL_COUNT && type != &tr__signal_types[signal] &&
           !tr_type_is_equal(type, &tr__signal_types[signal]))
        signal++;
    return signal;
}

bool tr__signal_is_forged(const tr_type *type)
{
    if (tr__signal_is_own(type))
        return false;
    enum signal signal = signal_of(type);
    return signal < SIGNAL_COUNT && signal_ways[signal] != SIGNAL_TIMED;
}

bool tr__signal_is_called(const tr_type *type)
{
    return signal_of(type) < (enum signal)SIGNAL_CALLED_COUNT;
}

const tr_type *tr__signal_mailed(const tr_type *type)
{
    enum signal signal = signal_of(type);
    return signal < SIGNAL_COUNT && signal_ways[signal] == SIGNAL_MAILED ? &tr__signal_types[signal]
                                                                         : NULL;
}
