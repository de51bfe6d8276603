/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect gcc: incompatible types when returning type|incompatible types */
/* expect clang: incompatible result type .uint32_t. */
#include "common.h"

uint32_t f(const struct paint *message);
uint32_t f(const struct paint *message)
{
    return message->width;
}
