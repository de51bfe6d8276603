/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A ledger with tables: a durable actor that keeps its accounts in SQL.
 *
 *     23_ledger            pays in, transfers, and prints the accounts of "acme"
 *     23_ledger show       prints them again
 *
 * Each company is an actor, and has tables of its own. What a transfer changes in them is stored as a whole, with
 * the state beside it, before its reply leaves. They are in the directory clerk.data, or where --store says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(account, (str, name), (i64, cents), (i64, transfers));
TR_MESSAGE(accounts, (list(message(account)), list), (u64, transfers));
TR_REQUEST(pay_in, tr_done, (str, to), (u64, cents));
TR_REQUEST(transfer, tr_done, (str, from), (str, to), (u64, cents));
TR_REQUEST(report, accounts);
TR_ACTOR(ledger, pay_in, transfer, report);
TR_DURABLE_DECLARE(ledger);

TR_MESSAGE(ledger_state, (u64, transfers));

enum { TOO_LITTLE = 1 };

static void add(tr_self *self, const char *to, uint64_t cents)
{
    tr_sql(
        self,
        "INSERT INTO account VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET cents = cents + ?2",
        to,
        cents);
}

static tr_next on_pay_in(tr_self *self, struct ledger_state *ledger, const struct pay_in *message)
{
    (void)ledger;
    add(self, message->to, message->cents);
    return tr_reply(self, tr_done);
}

static tr_next on_transfer(tr_self *self, struct ledger_state *ledger,
                           const struct transfer *message)
{
    tr_sql_result taken = {0};
    tr_status status = tr_try_sql(self,
                                  &taken,
                                  NULL,
                                  "UPDATE account SET cents = cents - ? WHERE name = ?",
                                  message->cents,
                                  message->from);
    if (status == TR_CONSTRAINT || (status == TR_OK && taken.changes == 0))
        return tr_refuse(self, TOO_LITTLE, "%s has too little", message->from);
    if (status != TR_OK)
        return tr_fail(self, status, "the transfer failed");
    add(self, message->to, message->cents);
    tr_sql(self,
           "INSERT INTO transfer (source, target, cents) VALUES (?, ?, ?)",
           message->from,
           message->to,
           message->cents);
    ledger->transfers++;
    return tr_reply(self, tr_done);
}

static tr_next on_report(tr_self *self, struct ledger_state *ledger)
{
    tr_sql_result found = tr_sql(self,
                                 "SELECT name, cents, (SELECT count(*) FROM transfer "
                                 "WHERE source = name OR target = name) "
                                 "FROM account ORDER BY name");
    struct account *list = tr_scratch(self, (found.count + 1) * sizeof *list);
    size_t count = 0;
    TR_SQL_EACH(row, found)
    list[count++] =
        (struct account){.name = row[0].text, .cents = row[1].integer, .transfers = row[2].integer};
    return tr_reply(self, accounts, .list = {list, count}, .transfers = ledger->transfers);
}

TR_BEHAVIOR(ledger, struct ledger_state, TR_ON(pay_in, on_pay_in), TR_ON(transfer, on_transfer),
            TR_ON(report, on_report));
TR_DURABLE(ledger, ledger_state,
           .sql_schema = TR_SQL_SCHEMA(
               "CREATE TABLE account (name TEXT PRIMARY KEY, cents INTEGER CHECK (cents >= 0))",
               "CREATE TABLE transfer (id INTEGER PRIMARY KEY, source TEXT, target TEXT, "
               "cents INTEGER)"));

/* ---- The clerk. ---- */

static void show(tr_self *self, const char *company)
{
    ledger_ref ledger = tr_durable(self, ledger, company);
    const struct accounts *accounts = tr_await(self, tr_ask(self, ledger, report));
    printf("%s: %" PRIu64 " transfers\n", company, accounts->transfers);
    for (size_t i = 0; i < accounts->list.count; i++) {
        const struct account *account = &accounts->list.items[i];
        printf("  %-6s %6" PRId64 " cents, in %" PRId64 " transfers\n",
               account->name,
               account->cents,
               account->transfers);
    }
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    if (args->argv.count > 1 && strcmp(args->argv.items[1], "show") == 0) {
        show(self, "acme");
        return TR_STOP;
    }
    ledger_ref acme = tr_durable(self, ledger, "acme");
    tr_await(self, tr_ask(self, acme, pay_in, .to = "cash", .cents = 1000));
    tr_await(self, tr_ask(self, acme, transfer, .from = "cash", .to = "rent", .cents = 700));
    const struct tr_done *done;
    transfer_ask more = tr_ask(self, acme, transfer, .from = "cash", .to = "travel", .cents = 400);
    if (tr_try_await(self, more, &done) == TR_REFUSED)
        printf("refused: cash has too little\n");
    tr_await(self, tr_ask(self, acme, transfer, .from = "cash", .to = "travel", .cents = 300));
    show(self, "acme");
    show(self, "other");
    return TR_STOP;
}

TR_BEHAVIOR(clerk, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, clerk, .durable = TR_DURABLES(ledger));
}
