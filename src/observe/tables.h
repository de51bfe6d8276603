/* SPDX-License-Identifier: Apache-2.0 */
/** Statements of SQL in the tables of a durable actor (store/sql.h): they read, or, if that is allowed, change. */
#ifndef OBSERVE_TABLES_H
#define OBSERVE_TABLES_H

#include "observe/visitor.h"

void tr__verb_sql(struct visitor *visitor, const struct control_request *request);

#endif
