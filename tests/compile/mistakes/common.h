/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the mistakes beside this file have in common: a correct account and a correct bank.
 */
#ifndef TESTS_COMPILE_COMMON_H
#define TESTS_COMPILE_COMMON_H

#include <troupe/troupe.h>

enum color { RED, GREEN };

TR_ACTOR(account, deposit, get_balance);
TR_ACTOR(bank, transfer);
TR_MESSAGE(deposit, (u64, amount), (str, memo));
TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(open_account, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(transfer, tr_done, (ref_of(account), to), (u64, cents));
TR_MESSAGE(paint, (enum_of(color), shade), (optional(u32), width));

struct account {
    uint64_t cents;
};
struct bank {
    int branches;
};

#endif
