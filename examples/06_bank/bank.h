/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a bank says: the messages of accounts and tellers.
 */
#ifndef BANK_H
#define BANK_H

#include <troupe/troupe.h>

/* An account holds money and never owes any. */
TR_MESSAGE(open_account, (u64, cents));
TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(paid_out, (u64, cents)); /* 0: there was not enough */
TR_REQUEST(withdraw, paid_out, (u64, cents));
TR_REQUEST(deposit, tr_done, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_ACTOR(account, withdraw, deposit, get_balance);

/* A teller moves money from account to account, all day long. */
TR_MESSAGE(open_desk, (list(ref_of(account)), accounts));
TR_MESSAGE(report, (u64, transfers), (u64, refusals), (u32, in_flight));
TR_REQUEST(get_report, report);
TR_REQUEST(close_desk, report); /* answered when nothing is in flight any more */
TR_ACTOR(teller, paid_out, tr_done, get_report, close_desk);

#endif
