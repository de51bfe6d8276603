/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One program on 1, 2, 4 and 8 workers, on kits with actors that stay and that move, and on
 * threads: it gives the same text each time.
 *
 * The program is a bank and a count of words. Actors of the pool find each other by name alone. A
 * clerk moves money from account to account, each time after the last one was done, and accounts
 * refuse what they have not got, so a single answer that is wrong changes all that follow. Readers
 * run side by side and tell each word to the actor of its name, which they spawn as they meet it;
 * it adds up what does not depend on who was first, and checks that what one reader says comes in
 * order. A visitor asks for answers that do not come, and writes down why.
 */
#include "support/stage.h"

enum { ACCOUNTS = 40, TRANSFERS = 300, READERS = 7, WORDS_EACH = 200, VOCABULARY = 60 };
enum { TEXT_MAX = 1 << 14 };

/* The program's own dice: the same for the same seed, wherever actors are. */
static uint32_t dice(uint64_t *bits, uint32_t sides)
{
    *bits = *bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*bits >> 33) % sides;
}

/* ---- The bank. ---- */

TR_MESSAGE(receipt, (i64, balance), (bool, is_done));
TR_REQUEST(pay_in, receipt, (i64, amount));
TR_REQUEST(pay_out, receipt, (i64, amount));
TR_REQUEST(show, receipt);
TR_ACTOR(account, pay_in, pay_out, show);
TR_MESSAGE(page, (str, text));
TR_REQUEST(open_bank, page);
TR_ACTOR(clerk, open_bank);

struct account {
    int64_t balance;
    int64_t refused;
};

static tr_next on_pay_in(tr_self *self, struct account *account, const struct pay_in *message)
{
    account->balance += message->amount;
    return tr_reply(self, receipt, .balance = account->balance, .is_done = true);
}

static tr_next on_pay_out(tr_self *self, struct account *account, const struct pay_out *message)
{
    bool is_done = account->balance >= message->amount;
    account->balance -= is_done ? message->amount : 0;
    account->refused += !is_done;
    return tr_reply(self, receipt, .balance = account->balance, .is_done = is_done);
}

static tr_next on_show(tr_self *self, struct account *account)
{
    return tr_reply(self, receipt, .balance = account->balance * 1000 + account->refused);
}
TR_BEHAVIOR(account, struct account, TR_ON(pay_in, on_pay_in), TR_ON(pay_out, on_pay_out),
            TR_ON(show, on_show), TR_OPTIONS(.balances = true));

static account_ref account_of(tr_self *self, uint32_t number)
{
    return tr_pool_spawn(self, account, tr_format(self, "account-%u", (unsigned)number));
}

static tr_next on_open_bank(tr_self *self)
{
    uint64_t bits = 42;
    char *text = tr_alloc(self, TEXT_MAX);
    size_t length = 0;
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        tr_await(self, tr_ask(self, account_of(self, i), pay_in, .amount = 100));
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t from = dice(&bits, ACCOUNTS);
        uint32_t to = dice(&bits, ACCOUNTS);
        int64_t amount = 1 + dice(&bits, 90);
        const struct receipt *receipt =
            tr_await(self, tr_ask(self, account_of(self, from), pay_out, .amount = amount));
        if (receipt->is_done)
            tr_await(self, tr_ask(self, account_of(self, to), pay_in, .amount = amount));
        else
            bits += (uint64_t)receipt->balance; /* what comes next depends on it */
    }
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        const struct receipt *receipt = tr_await(self, tr_ask(self, account_of(self, i), show));
        length += (size_t)snprintf(
            text + length, TEXT_MAX - length, "%" PRId64 " ", (int64_t)receipt->balance);
    }
    return tr_reply(self, page, .text = text);
}
TR_BEHAVIOR(clerk, void, TR_ON(open_bank, on_open_bank));

/* ---- The words. ---- */

TR_MESSAGE(seen, (u32, reader), (u32, position));
TR_MESSAGE(tally, (u64, count), (u64, sum), (u64, disorder));
TR_REQUEST(how_often, tally);
TR_ACTOR(word, seen, how_often);
TR_MESSAGE(reader_done, (u32, reader));
TR_REQUEST(read_part, reader_done, (u32, reader));
TR_ACTOR(reader, read_part);
TR_REQUEST(open_library, page);
TR_ACTOR(librarian, open_library);

struct word {
    uint64_t count;
    uint64_t sum;      /* of all positions */
    uint64_t disorder; /* a reader's position that was not after its last one */
    uint32_t last[READERS];
};

static tr_next on_seen(struct word *word, const struct seen *message)
{
    word->count++;
    word->sum += (uint64_t)(message->reader + 1) * message->position;
    word->disorder += message->position <= word->last[message->reader];
    word->last[message->reader] = message->position;
    return TR_SAME;
}

static tr_next on_how_often(tr_self *self, struct word *word)
{
    return tr_reply(
        self, tally, .count = word->count, .sum = word->sum, .disorder = word->disorder);
}
TR_BEHAVIOR(word, struct word, TR_ON(seen, on_seen), TR_ON(how_often, on_how_often),
            TR_OPTIONS(.balances = true));

static tr_next on_read_part(tr_self *self, const struct read_part *message)
{
    uint64_t bits = 1000 + message->reader;
    for (uint32_t i = 1; i <= WORDS_EACH; i++) {
        uint32_t n = dice(&bits, VOCABULARY);
        n = n < VOCABULARY / 2 ? n / 5 : n; /* some are much more frequent */
        word_ref word = tr_pool_spawn(self, word, tr_format(self, "word-%u", (unsigned)n));
        tr_tell(self, word, seen, .reader = message->reader, .position = i);
    }
    return tr_reply(self, reader_done, .reader = message->reader);
}
TR_BEHAVIOR(reader, void, TR_ON(read_part, on_read_part));

static tr_next on_open_library(tr_self *self)
{
    read_part_ask asks[READERS];
    char *text = tr_alloc(self, TEXT_MAX);
    size_t length = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < READERS; i++) {
        reader_ref reader = tr_pool_spawn(self, reader, tr_format(self, "reader-%u", (unsigned)i));
        asks[i] = tr_ask(self, reader, read_part, .reader = i);
    }
    for (uint32_t i = 0; i < READERS; i++)
        tr_await(self, asks[i]);
    /* What the readers said is in the mailboxes of the words before this asks. */
    for (uint32_t i = 0; i < VOCABULARY; i++) {
        word_ref word = tr_pool_find(self, word, tr_format(self, "word-%u", (unsigned)i));
        if (tr_is_nobody(word))
            continue;
        const struct tally *tally = tr_await(self, tr_ask(self, word, how_often));
        total += tally->count;
        length += (size_t)snprintf(text + length,
                                   TEXT_MAX - length,
                                   "%u:%u/%u ",
                                   (unsigned)i,
                                   (unsigned)tally->count,
                                   (unsigned)tally->sum);
        if (tally->disorder)
            length += (size_t)snprintf(text + length, TEXT_MAX - length, "OUT OF ORDER ");
    }
    (void)snprintf(text + length, TEXT_MAX - length, "in all %u", (unsigned)total);
    return tr_reply(self, page, .text = text);
}
TR_BEHAVIOR(librarian, void, TR_ON(open_library, on_open_library));

/* ---- Answers that do not come. ---- */

TR_MESSAGE(answer);
TR_REQUEST(ask_well, answer);
TR_REQUEST(ask_silent, answer);
TR_REQUEST(ask_later, answer);
TR_REQUEST(ask_failing, answer);
TR_REQUEST(ask_ending, answer);
TR_REQUEST(ask_unknown, answer);
TR_ACTOR(oracle, ask_well, ask_silent, ask_later, ask_failing, ask_ending, ask_unknown);
TR_REQUEST(visit, page);
TR_ACTOR(visitor, visit);

static tr_next on_ask_well(tr_self *self)
{
    return tr_reply(self, answer);
}

static tr_next on_ask_silent(void)
{
    return TR_SAME;
}

/* It means to, but never does. */
static tr_next on_ask_later(tr_self *self)
{
    (void)tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_ask_failing(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "it cannot be");
}

static tr_next on_ask_ending(void)
{
    return TR_STOP;
}
TR_BEHAVIOR(oracle, void, TR_ON(ask_well, on_ask_well), TR_ON(ask_silent, on_ask_silent),
            TR_ON(ask_failing, on_ask_failing), TR_ON(ask_ending, on_ask_ending),
            TR_ON(ask_later, on_ask_later), TR_OPTIONS(.balances = true));

#define NOTE(what, ask)                                                                            \
    do {                                                                                           \
        const struct answer *answer_ = NULL;                                                       \
        tr_status status_ = tr_try_await(self, ask, &answer_);                                     \
        length += (size_t)snprintf(                                                                \
            text + length, TEXT_MAX - length, what " %s; ", tr_status_name(status_));              \
    } while (0)

static tr_next on_visit(tr_self *self)
{
    char *text = tr_alloc(self, TEXT_MAX);
    size_t length = 0;
    for (unsigned i = 0; i < 9; i++) { /* so many that they are on all workers */
        oracle_ref oracle = tr_pool_spawn(self, oracle, tr_format(self, "oracle-%u", i));
        NOTE("well", tr_ask(self, oracle, ask_well));
        NOTE("silent", tr_ask(self, oracle, ask_silent));
        NOTE("late", tr_ask_within(self, TR_MILLISECOND, oracle, ask_later));
        NOTE("unknown", tr_ask(self, oracle, ask_unknown));
        NOTE("failing", tr_ask(self, oracle, ask_failing));
        NOTE("again", tr_ask(self, oracle, ask_well));
        NOTE("ending", tr_ask(self, oracle, ask_ending));
        NOTE("ended", tr_ask(self, oracle, ask_well));
    }
    return tr_reply(self, page, .text = text);
}
TR_BEHAVIOR(visitor, void, TR_ON(visit, on_visit));

/* ---- All of it. ---- */

static char expected[TEXT_MAX * 3];

/* Runs the program; the three parts run at the same time. */
static void program_run(tr_client *client, const char *where)
{
    static char text[sizeof expected];
    const struct page *bank;
    const struct page *library;
    const struct page *visits;
    clerk_ref clerk;
    librarian_ref librarian;
    visitor_ref visitor;
    ck_assert_int_eq(tr_try_pool_spawn(client, &clerk, clerk, "clerk"), TR_OK);
    ck_assert_int_eq(tr_try_pool_spawn(client, &librarian, librarian, "librarian"), TR_OK);
    ck_assert_int_eq(tr_try_pool_spawn(client, &visitor, visitor, "visitor"), TR_OK);
    open_bank_ask one = tr_ask_within(client, STAGE_PATIENCE, clerk, open_bank);
    open_library_ask two = tr_ask_within(client, STAGE_PATIENCE, librarian, open_library);
    visit_ask three = tr_ask_within(client, STAGE_PATIENCE, visitor, visit);
    ck_assert_int_eq(tr_try_await(client, one, &bank), TR_OK);
    size_t length = (size_t)snprintf(text, sizeof text, "%s\n", bank->text);
    ck_assert_int_eq(tr_try_await(client, two, &library), TR_OK);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", library->text);
    ck_assert_int_eq(tr_try_await(client, three, &visits), TR_OK);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", visits->text);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_ptr_null(strstr(text, "OUT OF ORDER"));
    if (!expected[0])
        memcpy(expected, text, length + 1);
    ck_assert_msg(
        strcmp(text, expected) == 0, "%s it gave\n%s\nand not\n%s", where, text, expected);
}

static void kit_run(int workers, uint64_t seed, bool moves)
{
    char where[64];
    const tr_kit_options options = {
        .size = sizeof options, .workers = workers, .seed = seed, .moves = moves};
    snprintf(where, sizeof where, "on %d workers with seed %d", workers, (int)seed);
    tr_kit *kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    program_run(tr_kit_client(kit), where);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(a_program_gives_the_same_on_kits_of_any_size, "P-02", "P-05", "A-01", "D-07")
{
    for (int workers = 1; workers <= 8; workers *= 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(8); seed++)
            kit_run(workers, seed, seed % 2 == 0);
    }
}

TEST(a_program_gives_the_same_on_any_number_of_threads, "P-02", "P-05", "A-01", "D-07")
{
    kit_run(1, 1, false); /* says what is expected */
    static const tr_balance balances[] = {TR_BALANCE_ON, TR_BALANCE_OFF, TR_BALANCE_RESTLESS};
    for (int workers = 1; workers <= 8; workers *= 2) {
        for (int i = 0; i < 3; i++) {
            char where[64];
            struct theatre theatre;
            const tr_system_options options = {.size = sizeof options,
                                               .workers = workers,
                                               .balance = balances[i],
                                               .on_log = theatre_no_log};
            snprintf(where, sizeof where, "on %d threads, balance %d", workers, (int)balances[i]);
            ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
            ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
            ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
            program_run(theatre.client, where);
            theatre_close(&theatre);
        }
    }
}

SUITE("api same results", a_program_gives_the_same_on_kits_of_any_size,
      a_program_gives_the_same_on_any_number_of_threads)
