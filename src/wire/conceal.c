/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/conceal.h"

#include <string.h>

#include "wire/type.h"

static void conceal_field(const tr_field *field, char *value)
{
    size_t count = 1;
    if (field->shape == TR_SHAPE_ARRAY) {
        count = field->count;
    } else if (field->shape == TR_SHAPE_LIST) {
        const struct list_value *list = (const void *)value;
        count = list->count;
        value = (char *)(uintptr_t)list->items;
    } else if (field->shape == TR_SHAPE_OPTIONAL) {
        value += field->size - field->item_size;
    }
    for (size_t i = 0; i < count; i++)
        tr__conceal(field->message, value + i * field->item_size);
}

void tr__conceal(const tr_type *type, void *message)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        char *value = (char *)message + field->offset;
        if (tr__field_is_secret(type, field))
            memset(value, 0, field->size);
        else if (field->kind == TR_KIND_MESSAGE)
            conceal_field(field, value);
    }
}
