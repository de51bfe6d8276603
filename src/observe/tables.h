/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQL statements in the tables of a durable actor (store/sql.h). A statement reads tables. If the
 * request allows it, a statement may also change tables.
 */
#ifndef OBSERVE_TABLES_H
#define OBSERVE_TABLES_H

#include "observe/visitor.h"

void tr__verb_sql(struct visitor *visitor, const struct control_request *request);

#endif
