/* SPDX-License-Identifier: Apache-2.0 */
/* ids: H-01 */
/* expect: TR_EXPOSE\(account\): deposit is no TR_REQUEST */
#include "common.h"

TR_DURABLE_DECLARE(account);
TR_EXPOSE(account, get_balance, deposit);
