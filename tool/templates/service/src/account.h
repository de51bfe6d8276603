/* SPDX-License-Identifier: Apache-2.0 */
/** An account: a durable actor for each key. What others can ask, and what strangers can ask by HTTP. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(deposit, balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_ACTOR(account, deposit, withdraw, get_balance);
TR_DURABLE_DECLARE(account);

#endif
