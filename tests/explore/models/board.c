/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The board of a group: senders that come while it opens keep their order, and one that is late reads
 * nothing of the next tenant, and leaves nothing to it.
 */
#include "models/office.h"

#include "queue/board.h"

enum {
    RIGHT,
    OPENS_AT_ONCE,  /* trap: it opens although somebody is announced */
    LEAVES_EARLY,   /* trap: an announcement is taken back before its message is passed on */
    READS_ONCE,     /* trap: a reader does not look at the ref behind the word */
    KEEPS_NUMBER,   /* trap: the next tenant has those who were announced at the last one */
    LEAVES_ANOTHERS /* trap: an announcement at the last tenant is taken back at the next */
};

static struct board board;

/* ---- Opening. ---- */

enum { SENDERS = 2, LETTERS = 2, LETTERS_MAX = 3, LOOKS = 3 };

static struct door crew;
static struct door member;
static struct letter letters[SENDERS][LETTERS_MAX];

static void opening_setup(void)
{
    board_init(&board);
    board_let(&board, 1);
    explore_name(&board.ref, "board's ref");
    explore_name(&board.state, "state");
    door_init(&crew);
    door_open(&crew, 1, 0, true);
    door_init(&member);
    door_open(&member, 2, 0, true);
    explore_name(&crew.inbox, "crew");
    explore_name(&member.inbox, "member");
    for (int sender = 0; sender < SENDERS; sender++)
        for (int i = 0; i < LETTERS_MAX; i++)
            letter_init(&letters[sender][i], sender, i, 1);
}

static void send_to(uint64_t ref, int index, int count)
{
    for (int i = 0; i < count; i++) {
        struct letter *letter = &letters[index][i];
        uint64_t stay;
        explore_plain_write(letter);
        enum board_way way = board_enter(&board, ref, &stay);
        EXPLORE_CHECK(way != BOARD_STRANGE, "the tenant is not there");
        (void)door_push(way == BOARD_OPEN ? &member : &crew, &letter->mail);
    }
}

static void sender(int index)
{
    send_to(1, index, LETTERS);
}

/* Passes on what is there. */
static void pass_on(void)
{
    struct door_mail *mail = door_reverse(door_take_early(&crew));
    while (mail) {
        struct letter *letter = (struct letter *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        if (explore_variant() == LEAVES_EARLY)
            board_leave(&board, board_stay(&board));
        if (explore_variant() == LEAVES_EARLY)
            (void)board_open(&board);
        explore_plain_write(letter);
        (void)door_push(&member, &letter->mail);
        if (explore_variant() != LEAVES_EARLY)
            board_leave(&board, board_stay(&board));
        (void)board_open(&board);
    }
}

static void crew_thread(int index)
{
    (void)index;
    if (explore_variant() == OPENS_AT_ONCE)
        atom64_fetch_or(&board.state, BOARD_IS_OPEN, ATOM_ACQ_REL);
    (void)board_open(&board);
    for (int i = 0; i < LOOKS; i++)
        pass_on();
}

/* What arrived is in order. */
static void member_check(void)
{
    int next[SENDERS] = {0};
    struct door_mail *mail = door_reverse(door_take_early(&member));
    for (; mail; mail = mail->next) {
        struct letter *letter = (struct letter *)(void *)mail;
        letter_end(letter, "arrived");
        EXPLORE_CHECK(letter->number == next[letter->sender],
                      "letter %c%d has been overtaken",
                      'a' + letter->sender,
                      next[letter->sender]);
        next[letter->sender]++;
    }
}

static void opening_check(void)
{
    pass_on(); /* it would have looked again */
    EXPLORE_CHECK(board_is_open(&board), "it never opens");
    member_check();
    for (int i = 0; i < SENDERS; i++)
        for (int j = 0; j < LETTERS; j++)
            letter_check_end(&letters[i][j]);
}

#define OPENING                                                                                    \
    .setup = opening_setup, .check = opening_check,                                                \
    .threads = {{"sender a", sender}, {"sender b", sender}, {"crew", crew_thread}}

EXPLORE_MODEL(board, .about = "a group that opens: what took the long way is not overtaken",
              .ids = "M-01", .variant = RIGHT, OPENING);
EXPLORE_MODEL(board_opens_at_once, .about = "trap: it opens although somebody is announced",
              .ids = "M-01", .is_wrong = true, .variant = OPENS_AT_ONCE, OPENING);
EXPLORE_MODEL(board_leaves_early, .about = "trap: a message is passed on after its announcement",
              .ids = "M-01", .is_wrong = true, .variant = LEAVES_EARLY, OPENING);

/* ---- The next tenant. ---- */

enum { WORDS = 2 };

static atom64 words[WORDS]; /* ten times the ref of their tenant, and more */
static atom32 announced;    /* the tenant that the second reader knows */

static void words_write(uint64_t ref)
{
    for (uint64_t i = 0; i < WORDS; i++)
        board_write(&words[i], 10 * ref + i);
}

static void reuse_setup(void)
{
    board_init(&board);
    explore_name(&board.ref, "board's ref");
    explore_name(&board.state, "state");
    for (int i = 0; i < WORDS; i++)
        atom64_init(&words[i], 10 + (uint64_t)i);
    explore_name(&words[0], "word 0");
    explore_name(&words[1], "word 1");
    atom32_init(&announced, 0);
    explore_name(&announced, "announced");
    board_let(&board, 1);
    (void)board_open(&board);
}

static void read_of(uint64_t ref, bool must_be_there)
{
    uint64_t stay;
    enum board_way way = board_enter(&board, ref, &stay);
    EXPLORE_CHECK(way != BOARD_STRANGE || !must_be_there, "the tenant is not there");
    if (way == BOARD_HOLDS)
        board_leave(&board, stay);
    if (way != BOARD_OPEN)
        return;
    for (int i = 0; i < WORDS; i++) {
        uint64_t value;
        bool is_there = board_read(&board, ref, &words[i], &value);
        if (explore_variant() == READS_ONCE)
            is_there = true;
        EXPLORE_CHECK(is_there || !must_be_there, "the tenant is gone");
        if (!is_there)
            return;
        EXPLORE_CHECK(value == 10 * ref + (uint64_t)i,
                      "a word of %d is taken for one of %d",
                      (int)(value / 10),
                      (int)ref);
    }
}

static void early_reader(int index)
{
    (void)index;
    read_of(1, false);
    read_of(1, false);
}

static void late_reader(int index)
{
    (void)index;
    read_of(1, false);
    if (atom32_load(&announced, ATOM_ACQUIRE))
        read_of(2, true);
}

static void writer(int index)
{
    (void)index;
    board_clear(&board, 1);
    words_write(2);
    board_let(&board, 2);
    (void)board_open(&board);
    atom32_store(&announced, 2, ATOM_RELEASE);
    board_clear(&board, 1); /* somebody stops the first one again */
}

static void reuse_check(void)
{
    (void)board_open(&board); /* with the next message at the latest */
    EXPLORE_CHECK(board_is_open(&board), "a sender stays announced forever");
    EXPLORE_CHECK(board_is_of(&board, 2), "the second tenant was put out");
}

#define REUSE                                                                                      \
    .setup = reuse_setup, .check = reuse_check,                                                    \
    .threads = {{"early reader", early_reader}, {"late reader", late_reader}, {"writer", writer}}

EXPLORE_MODEL(board_reuse, .about = "a board changes its tenant: nobody reads a word of another",
              .ids = "LC-14", .variant = RIGHT, REUSE);
EXPLORE_MODEL(board_reads_once, .about = "trap: a reader does not look at the ref again",
              .ids = "LC-14", .is_wrong = true, .variant = READS_ONCE, REUSE);

/* ---- A tenant that is put out while messages are on the long way. ---- */

static void burial_setup(void)
{
    opening_setup();
    atom32_init(&announced, 0);
    explore_name(&announced, "announced");
}

/* One message is buried with the tenant; the other finds nobody, and is taken back. */
static void mourner(int index)
{
    uint64_t stay;
    (void)index;
    (void)board_enter(&board, 1, &stay);
    if (board_enter(&board, 1, &stay) == BOARD_HOLDS)
        board_leave(&board, stay);
}

static void successor_sender(int index)
{
    if (atom32_load(&announced, ATOM_ACQUIRE))
        send_to(2, index, LETTERS_MAX);
}

static void successor(int index)
{
    board_clear(&board, 1);
    if (explore_variant() == KEEPS_NUMBER) {
        atom64_fetch_and(&board.state, ~BOARD_IS_OPEN, ATOM_RELEASE);
        atom64_store(&board.ref, 2, ATOM_RELEASE);
    } else {
        board_let(&board, 2);
    }
    atom32_store(&announced, 2, ATOM_RELEASE);
    crew_thread(index);
}

static void burial_check(void)
{
    pass_on();
    EXPLORE_CHECK(board_is_open(&board), "it never opens");
    member_check();
}

#define BURIAL                                                                                     \
    .setup = burial_setup, .check = burial_check,                                                  \
    .threads = {{"mourner", mourner}, {"sender", successor_sender}, {"successor", successor}}

EXPLORE_MODEL(board_burial,
              .about = "a tenant dies with announced mail: the next one opens, and in order",
              .ids = "M-01", .variant = RIGHT, BURIAL);
EXPLORE_MODEL(board_keeps_number, .about = "trap: those announced at the last tenant still count",
              .ids = "M-01", .is_wrong = true, .variant = KEEPS_NUMBER, BURIAL);

/* The next one is there, and somebody has not taken back yet what he announced at the last. */
static uint64_t last_stay;

static void late_setup(void)
{
    opening_setup();
    (void)board_enter(&board, 1, &last_stay);
    board_clear(&board, 1);
    board_let(&board, 2);
}

static void late_leaver(int index)
{
    (void)index;
    board_leave(&board, explore_variant() == LEAVES_ANOTHERS ? board_stay(&board) : last_stay);
}

static void late_sender(int index)
{
    send_to(2, index, LETTERS_MAX);
}

#define LATE                                                                                       \
    .setup = late_setup, .check = burial_check,                                                    \
    .threads = {{"sender", late_sender}, {"crew", crew_thread}, {"leaver", late_leaver}}

EXPLORE_MODEL(board_late, .about = "an announcement at the last tenant is taken back: in order",
              .ids = "M-01", .variant = RIGHT, LATE);
EXPLORE_MODEL(board_leaves_anothers, .about = "trap: it is taken back at the next tenant",
              .ids = "M-01", .is_wrong = true, .variant = LEAVES_ANOTHERS, LATE);
