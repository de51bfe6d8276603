/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statements of SQL in the tables of a durable actor (store/sql.h): they read tables, or change
 * them if that is allowed.
 */
#ifndef OBSERVE_TABLES_H
#define OBSERVE_TABLES_H

#include "observe/visitor.h"

void tr__verb_sql(struct visitor *visitor, const struct control_request *request);

#endif
