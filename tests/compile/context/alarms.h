/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of docs/guide/alarms.md take for granted; see tests/compile/blocks. */
TR_REQUEST(add_item, tr_done, (u32, count));
TR_MESSAGE(expire);
TR_MESSAGE(cart, (u32, count));
TR_MESSAGE(account, (u64, billed), (u64, rate), (u64, reserved), (u64, last_id),
           (u64, last_occurrence));
TR_REQUEST(print_bill, tr_done, (u64, number));
TR_REQUEST(transfer, tr_done, (u64, id), (u64, number), (u64, cents));
TR_ACTOR(printer, print_bill);
TR_ACTOR(bank, transfer);
extern printer_ref printer;
extern bank_ref bank;
