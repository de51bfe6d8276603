/* SPDX-License-Identifier: Apache-2.0 */
/* lines clang: 26 */
/* expect gcc: passing argument 1 of .key_of_transfer. from incompatible pointer type */
/* expect clang: incompatible pointer types passing 'const struct deposit \*' to parameter of type 'const struct transfer \*' */
#include "common.h"

uint64_t key_of_transfer(const struct transfer *message);
TR_ROUTES(account, TR_ROUTE_WITH(deposit, key_of_transfer));
