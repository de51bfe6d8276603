/* SPDX-License-Identifier: Apache-2.0 */
/* ids: H-01 */
/* expect: .tr_exposed_account. undeclared|undeclared identifier .tr_exposed_account. */
#include "common.h"

TR_BEHAVIOR(bank, struct bank, TR_GATEWAY(account));
