-- +goose Up

-- What a task costs: as this node offered it where it is the provider, as it was
-- offered to this node where it asked. Refused are the answers to payments that
-- came to nothing, which go with every later one.
CREATE TABLE quote (
    task     TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    required BLOB NOT NULL,
    refused  BLOB NOT NULL,
    exp      INTEGER NOT NULL
) WITHOUT ROWID;

-- A payment that this node was given. While it is being settled no other is
-- taken; once it is, the work is owed. It outlives its task.
CREATE TABLE sale (
    task       TEXT PRIMARY KEY,
    peer       TEXT NOT NULL,
    capability TEXT NOT NULL,
    auth_id    TEXT NOT NULL,
    amount     INTEGER NOT NULL,
    network    TEXT NOT NULL,
    wanted     BLOB NOT NULL,
    payload    BLOB NOT NULL,
    settlement BLOB,
    attempts   INTEGER NOT NULL,
    error      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    settled_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sale_open ON sale (created_at) WHERE settled_at = 0;

-- What this node signed to others. A row is written before anybody can see the
-- signature, and counts against the limits until it is certain that nothing moved.
CREATE TABLE spend (
    auth_id    TEXT PRIMARY KEY,
    task       TEXT NOT NULL,
    payee      TEXT NOT NULL,
    amount     INTEGER NOT NULL,
    network    TEXT NOT NULL,
    tier       TEXT NOT NULL,
    accepted   BLOB NOT NULL,
    signed     BLOB NOT NULL,
    not_after  INTEGER NOT NULL,
    state      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    receipt    BLOB,
    unverified BLOB,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX spend_task ON spend (task);
CREATE INDEX spend_day ON spend (created_at);
CREATE INDEX spend_open ON spend (not_after) WHERE state = 'open';

-- What a person agreed to pay when the task was sent, until its quote has come.
CREATE TABLE consent (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    tier TEXT NOT NULL,
    most INTEGER NOT NULL
) WITHOUT ROWID;

-- Credits of this node's own that it took out of circulation. Signed once; the
-- same bytes are brought again until the hub has said what became of them.
CREATE TABLE redemption (
    auth_id    TEXT PRIMARY KEY,
    amount     INTEGER NOT NULL,
    reference  TEXT NOT NULL,
    payload    BLOB NOT NULL,
    receipt    BLOB,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL
) WITHOUT ROWID;

-- Extended cards of others as they were fetched, and the newest statement seen of
-- each variant, which outlives the card (wire 2, H.7).
CREATE TABLE extended_card (
    aid        TEXT NOT NULL,
    variant    TEXT NOT NULL,
    card       BLOB,
    seq        INTEGER NOT NULL,
    hash       BLOB NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (aid, variant)
) WITHOUT ROWID;
