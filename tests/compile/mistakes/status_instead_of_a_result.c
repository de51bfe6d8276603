/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect gcc: incompatible types when returning */
/* expect clang: incompatible result type 'tr_next' */
#include "common.h"

tr_next f(void);
tr_next f(void)
{
    return TR_UNHANDLED;
}
