#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast in a macro, which Swift does not import. These bind with it: SQLite copies the
// bytes before the call returns, so no Swift buffer has to outlive the statement. A null pointer would bind
// NULL, and an empty Swift buffer may have no address: both bind the empty value instead.
static inline int tally_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 length) {
    return sqlite3_bind_text64(statement, index, text ? text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int tally_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}
