//! The schema of the database, and its migrations.
//!
//! `user_version` counts the applied steps. A released step is never changed; a
//! new one is added.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::StoreError;

/// The steps, in order.
const STEPS: &[&str] = &[FIRST, PARENTS, REPLIES];

const FIRST: &str = "
CREATE TABLE session (
    seq       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    project   TEXT NOT NULL,
    directory TEXT NOT NULL,
    front_end TEXT NOT NULL,
    runtime   TEXT NOT NULL,
    pid       INTEGER NOT NULL,
    version   TEXT NOT NULL,
    title     TEXT NOT NULL DEFAULT '',
    logs      TEXT,
    created   INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    ended     INTEGER
);
CREATE INDEX session_open ON session (runtime) WHERE ended IS NULL;

CREATE TABLE message (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    role    TEXT NOT NULL,
    created INTEGER NOT NULL
);
CREATE INDEX message_of ON message (session, seq);

CREATE TABLE part (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    message TEXT NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    status  TEXT NOT NULL,
    body    TEXT NOT NULL,
    output  TEXT
);
CREATE INDEX part_of ON part (message, seq);
CREATE INDEX part_open ON part (session) WHERE status IN ('pending', 'running');

CREATE TABLE said (
    seq     INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    message TEXT NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    text    TEXT,
    payload TEXT NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX said_of ON said (session, seq);

CREATE TABLE permission (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    session  TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    request  TEXT NOT NULL,
    decision TEXT,
    asked    INTEGER NOT NULL,
    decided  INTEGER
);
CREATE INDEX permission_of ON permission (session, seq);

CREATE TABLE rule (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    directory  TEXT NOT NULL,
    permission TEXT NOT NULL,
    pattern    TEXT NOT NULL,
    action     TEXT NOT NULL,
    created    INTEGER NOT NULL,
    UNIQUE (project, permission, pattern)
);

CREATE TABLE notice (
    session   TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    notice    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    delivered INTEGER,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
";

/// Sessions that work for another one.
const PARENTS: &str = "ALTER TABLE session ADD COLUMN parent TEXT;";

/// Replies of a conversation, as references to the parts of their calls. Older
/// rows have them in `payload`.
const REPLIES: &str = "ALTER TABLE said ADD COLUMN replies TEXT;";

/// Applies the missing steps. Two processes may do so at the same time.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == STEPS.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let taken = version(&transaction)?;
    let Some(missing) = STEPS.get(taken..) else {
        return Err(StoreError::Newer {
            version: taken,
            known: STEPS.len(),
        });
    };
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", STEPS.len().cast_signed())?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
