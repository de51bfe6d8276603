/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of docs/guide/supervision.md take for granted; see tests/compile/blocks. */
TR_MESSAGE(label, (str, text));
TR_ACTOR(worker, label);
tr_directive decide(tr_self *self, const tr_error *cause);
