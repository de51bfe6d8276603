/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For bench/http/run: commits DIRECTORY SECONDS. Changes one row of a database of SQLite and commits, again and again, with the
 * journal and the safety of the store (WAL, synchronous = FULL). Prints how many commits there were, and in how many seconds.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(sqlite3 *base, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE)
        return;
    fprintf(stderr, "commits: %s\n", sqlite3_errmsg(base));
    exit(1);
}

int main(int argc, char **argv)
{
    char path[4096];
    sqlite3 *base;
    sqlite3_stmt *statement;
    if (argc != 3)
        return 2;
    snprintf(path, sizeof path, "%s/commits.db", argv[1]);
    must(NULL, sqlite3_open(path, &base));
    must(base,
         sqlite3_exec(base,
                      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                      "CREATE TABLE counters(key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;"
                      "INSERT INTO counters VALUES('visits', zeroblob(8))",
                      NULL,
                      NULL,
                      NULL));
    must(base,
         sqlite3_prepare_v2(
             base, "UPDATE counters SET value = ?1 WHERE key = 'visits'", -1, &statement, NULL));
    double since = now();
    double until = since + atof(argv[2]);
    long long count = 0;
    while (now() < until) {
        must(base, sqlite3_bind_blob(statement, 1, &count, sizeof count, SQLITE_TRANSIENT));
        must(base, sqlite3_step(statement));
        must(base, sqlite3_reset(statement));
        count++;
    }
    printf("%lld %.6f\n", count, now() - since);
    sqlite3_finalize(statement);
    sqlite3_close(base);
    return 0;
}
