/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of docs/guide/blocking.md take for granted; see tests/compile/blocks. */
TR_MESSAGE(digest, (u64, value));
TR_REQUEST(get_digest, digest, (str, path));
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents));
TR_ACTOR(account, withdraw);
struct teller {
    uint64_t cents;
};
uint64_t hash_of_file(const char *path);
extern account_ref alice;
