/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect gcc: .on_deposit. undeclared */
/* expect clang: use of undeclared identifier .on_deposit. */
#include "common.h"

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
