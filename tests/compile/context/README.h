/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of README.md take for granted; see tests/compile/blocks. */
TR_MESSAGE(charged, (u64, receipts));
TR_REQUEST(charge, charged, (u64, cents));
TR_ACTOR(card, charge);
