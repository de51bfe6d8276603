/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bank on the web: what its actors say to each other. main.c tells what the program shows.
 */
#ifndef BANK_H
#define BANK_H

#include <troupe/troupe.h>

enum {
    ACCOUNTS = 32,
    OPENING_CENTS = 100000, /* of each account, when it is made */
    BLOCK_MS_MAX = 5000
};

/* The accounts, by number. Names are added at the end only, because numbers are on disk. */
extern const char *const account_names[ACCOUNTS];
/* Returns the number of an account; -1: there is none of this name. */
int account_number(const char *name);

/* ---- An account: a durable actor. What TR_EXPOSE in site.c lists can be asked by HTTP and WebSocket. ---- */

TR_MESSAGE(account_is, (str, name), (u64, cents), (u64, under_way));
TR_REQUEST(look, account_is);
TR_MESSAGE(paid, (u64, number), (u64, left));
TR_REQUEST(pay, paid, (str, to), (u64, cents));
TR_REQUEST(credit, tr_done, (u32, from), (u64, number), (u64, cents)); /* from another account */
TR_REQUEST(fail, tr_done);                                             /* its handler fails */
TR_REQUEST(block, tr_done, (u32, ms));                                 /* its handler blocks */
TR_ACTOR(account, look, pay, credit, fail, block);
TR_DURABLE_DECLARE(account);

/* ---- The auditor: has its own books, of what accounts say when it is on disk. ---- */

TR_MESSAGE(opened, (list(u64), cents)); /* what each account had when the program started */
TR_MESSAGE(debited, (u32, account), (u64, left), (u64, number), (u64, cents));
TR_MESSAGE(credited, (u32, account), (u64, left), (u32, from), (u64, number), (u64, cents));
TR_MESSAGE(served, (u64, ns)); /* a customer has paid, and this is how long it took */
TR_TOPIC(books, debited, credited, served);
TR_ACTOR(auditor, opened, debited, credited, served);

/* ---- What browsers see: JSON, four times a second. ---- */

TR_MESSAGE(card, (str, name), (u64, cents), (bool, awake));
TR_MESSAGE(incident, (u64, at_ms), (str, text));
TR_MESSAGE(board, (u64, sum), (u64, expected), (i64, under_way), (u64, transfers), (u32, rate),
           (u64, p99_us), (u32, awake), (u32, commits), (u64, failures), (u64, restarts),
           (u64, stalls), (u32, starts), (i64, pid), (list(message(card)), accounts),
           (list(message(incident)), incidents));
TR_MESSAGE(board_text, (str, json));
TR_TOPIC(live, board_text);

/* ---- A customer pays from some account to another, again and again. ---- */

TR_MESSAGE(habits, (u64, pause_ns));
TR_MESSAGE(shop);
TR_ACTOR(customer, shop);

TR_ACTOR(site, board_text);

#endif
