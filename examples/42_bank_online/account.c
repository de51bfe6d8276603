/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An account. Money leaves it in one commit and arrives elsewhere in another, and in between the process may die. So a
 * payment is always in exactly one place on disk:
 *
 *   1. pay: the money leaves the account and the payment enters its queue, in one commit.
 *   2. The run handler moves the payment from the queue into `paying`, in one commit, and asks the receiver.
 *   3. credit: the receiver adds the money and notes the number of the payment, in one commit.
 *   4. The payer clears `paying`.
 *
 * If the process dies between 3 and 4 the payer asks again when it wakes. The receiver knows the number, because payments
 * of one payer come one after the other with rising numbers, and adds nothing.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "bank.h"

const char *const account_names[ACCOUNTS] = {
    "anna", "ben",  "cleo", "dora", "emil", "fay",  "gus",  "hana", "ivan", "jana", "karl",
    "lena", "max",  "nora", "otto", "paul", "quin", "rosa", "sven", "tina", "udo",  "vera",
    "will", "xena", "yuri", "zoe",  "adam", "bea",  "carl", "dina", "erik", "finn"};

int account_number(const char *name)
{
    for (int i = 0; name && i < ACCOUNTS; i++) {
        if (strcmp(name, account_names[i]) == 0)
            return i;
    }
    return -1;
}

/* What is stored of an account. `under_way` has left it and is not known to have arrived. */
TR_MESSAGE(account_state, (u32, number), (bool, is_open), (u64, cents), (u64, under_way),
           (u64, payments), (u32, paying_to), (u64, paying_cents), (u64, paying_number));
/* A payment that waits in the queue. */
TR_MESSAGE(payment, (u32, to), (u64, cents), (u64, number));

static const tr_time RETRY_NS = 20 * TR_MILLISECOND;

/* Where accounts publish what they do. It leaves when it is on disk: the auditor never sees what a crash can undo. */
static books_topic books_of(tr_self *self)
{
    return tr_topic_open(self, books, "books");
}

/* Anybody can ask for any key by HTTP. Those that are not in the list are accounts without money. */
static tr_next on_created(tr_self *self, struct account_state *account)
{
    int number = account_number(tr_key(self).data);
    if (number < 0)
        return TR_SAME;
    account->number = (uint32_t)number;
    account->is_open = true;
    account->cents = OPENING_CENTS;
    return TR_SAME;
}

static tr_next on_look(tr_self *self, struct account_state *account)
{
    return tr_reply(self,
                    account_is,
                    .name = tr_key(self).data,
                    .cents = account->cents,
                    .under_way = account->under_way);
}

static tr_next on_pay(tr_self *self, struct account_state *account, const struct pay *message)
{
    int to = account_number(message->to);
    if (!account->is_open || to < 0)
        return tr_refuse(self, 1, "there is no account of this name");
    if ((uint32_t)to == account->number)
        return tr_refuse(self, 2, "this is the account itself");
    if (message->cents == 0 || message->cents > account->cents)
        return tr_refuse(self, 3, "from 1 to %" PRIu64 " cents can be paid", account->cents);
    account->cents -= message->cents;
    account->under_way += message->cents;
    account->payments++;
    tr_queue_push(self,
                  "payments",
                  payment,
                  .to = (uint32_t)to,
                  .cents = message->cents,
                  .number = account->payments);
    tr_publish(self,
               books_of(self),
               debited,
               .account = account->number,
               .left = account->cents,
               .number = account->payments,
               .cents = message->cents);
    return tr_reply(self, paid, .number = account->payments, .left = account->cents);
}

static tr_next on_credit(tr_self *self, struct account_state *account, const struct credit *message)
{
    tr_bytes from = {&message->from, sizeof message->from};
    tr_bytes stored;
    uint64_t last = 0;
    if (tr_kv_get(self, from, &stored) && stored.size == sizeof last)
        memcpy(&last, stored.data, sizeof last);
    if (message->number > last) {
        tr_kv_put(self, from, (tr_bytes){&message->number, sizeof message->number});
        account->cents += message->cents;
        tr_publish(self,
                   books_of(self),
                   credited,
                   .account = account->number,
                   .left = account->cents,
                   .from = message->from,
                   .number = message->number,
                   .cents = message->cents);
    }
    return tr_reply(self, tr_done);
}

/* Gets the next payment from the queue into the state. Returns false if the actor has to sleep. */
static bool take_payment(tr_self *self, struct account_state *account)
{
    const struct payment *payment;
    tr_status status;
    do
        status = tr_queue_receive(self, "payments", payment, TR_HOUR, &payment);
    while (status == TR_TIMEOUT);
    if (status != TR_OK)
        return false;
    account->paying_to = payment->to;
    account->paying_cents = payment->cents;
    account->paying_number = payment->number;
    return true;
}

/* Runs beside the other handlers, from each start to each sleep. */
static tr_next on_run(tr_self *self, struct account_state *account)
{
    while (!tr_is_aborted(self)) {
        if (account->paying_number == 0 && !take_payment(self, account))
            break;
        credit_ask asked = tr_ask_key(self,
                                      account,
                                      account_names[account->paying_to % ACCOUNTS],
                                      credit,
                                      .from = account->number,
                                      .number = account->paying_number,
                                      .cents = account->paying_cents);
        if (tr_try_await(self, asked, NULL) == TR_OK) {
            account->under_way -= account->paying_cents;
            account->paying_number = 0;
        } else if (tr_sleep(self, RETRY_NS) != TR_OK) {
            break;
        }
    }
    return TR_SAME;
}

/* The money that this throws away is there again after the restart: nothing of a turn that fails is stored. */
static tr_next on_fail(tr_self *self, struct account_state *account)
{
    account->cents = 0;
    return tr_fail(self, TR_BAD_DATA, "somebody has pressed the button");
}

/* Blocks its thread, against all rules. The worker gets another one: handoff_after_ns in main.c. */
static tr_next on_block(tr_self *self, const struct block *message)
{
    uint32_t ms = message->ms < BLOCK_MS_MAX ? message->ms : BLOCK_MS_MAX;
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0)
        continue;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(account, struct account_state, TR_ON(tr_created, on_created), TR_ON(look, on_look),
            TR_ON(pay, on_pay), TR_ON(credit, on_credit), TR_ON(tr_run, on_run),
            TR_ON(fail, on_fail), TR_ON(block, on_block));
TR_DURABLE(account, account_state, .idle_ns = 3 * TR_SECOND, .answers_ns = TR_HOUR);
