/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect gcc: incompatible types when returning type .int. but .tr_next. was expected */
/* expect clang: returning 'int' from a function with incompatible result type 'tr_next' */
#include "common.h"

tr_next f(void);
tr_next f(void)
{
    return 0;
}
