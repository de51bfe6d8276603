/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of durable actors in C++: values of every type, rows, a schema.
 */
#include <troupe/troupe.h>

TR_MESSAGE(shelf_state, (u64, books));
TR_REQUEST(put, tr_done, (str, title), (u64, pages), (f64, price), (bytes, cover), (bool, is_new));
TR_ACTOR(shelf, put);

enum color { RED, GREEN };

static tr_next on_put(tr_self *self, struct shelf_state *state, const struct put *message)
{
    char letter = 'a';
    const signed char tiny = -1;
    unsigned short small = 2;
    float real = 0.5f;
    char title[] = "text";
    enum color color = GREEN;
    tr_sql_result result;
    tr_error error;
    tr_sql(self,
           "INSERT INTO book VALUES (?, ?, ?, ?, ?)",
           message->title,
           message->pages,
           message->price,
           message->cover,
           message->is_new);
    tr_sql(self,
           "INSERT INTO other VALUES (?, ?, ?, ?, ?, ?, ?)",
           letter,
           tiny,
           small,
           real,
           title,
           color,
           RED);
    tr_sql(
        self, "SELECT ?, ?, ?", TR_SQL_NULL, TR_SQL_BYTES("a\0b", 3), tr_sql_one(self, "SELECT 1"));
    TR_SQL_EACH(row, tr_sql(self, "SELECT * FROM book"))
    {
        TR_SQL_EACH(other, tr_sql(self, "SELECT ?", row[0].integer))
        state->books += (uint64_t)other[0].integer;
        if (row[1].type == TR_SQL_TYPE_NULL)
            break;
    }
    if (tr_try_sql(self, &result, &error, "DELETE FROM book WHERE title = ?", title) != TR_OK)
        return tr_fail(self, error.status, "%s", error.text);
    if (tr_try_sql(self, NULL, NULL, "DELETE FROM book") == TR_CONSTRAINT)
        return tr_refuse(self, 1, "it holds");
    TR_SQL_EACH(row, result)
    state->books -= row->bytes.size;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(shelf, struct shelf_state, TR_ON(put, on_put));
TR_DURABLE(shelf, shelf_state,
           .sql_schema = TR_SQL_SCHEMA("CREATE TABLE book (title TEXT)", "CREATE TABLE other (x)"),
           .sql_steps_max = 1000);
