/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of docs/guide/events.md take for granted; see tests/compile/blocks. */
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(deposit, balance, (u64, cents));
TR_ACTOR(account, deposit);
TR_MESSAGE(deposited_v1, (u64, euros));
struct deposited;
tr_status to_cents(tr_self *self, const struct deposited_v1 *from, struct deposited *to);
extern uint64_t sum;
