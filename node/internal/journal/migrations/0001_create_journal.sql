-- +goose Up

-- A task of either role. Blobs are kept as they travelled: content ids are
-- taken over exactly these bytes.
CREATE TABLE task (
    id               TEXT PRIMARY KEY,
    role             TEXT NOT NULL,
    peer             TEXT NOT NULL,
    context_id       TEXT NOT NULL,
    capability       TEXT NOT NULL,
    args             BLOB,
    goal             TEXT NOT NULL,
    doc              BLOB,
    request_cid      TEXT NOT NULL,
    trust            TEXT NOT NULL,
    state            TEXT NOT NULL,
    effect           TEXT NOT NULL,
    reason           TEXT NOT NULL,
    note             TEXT NOT NULL,
    retry_after_ms   INTEGER NOT NULL,
    deliverable      BLOB,
    receipt          BLOB,
    result_cid       TEXT NOT NULL,
    peer_kel         BLOB,
    peer_keys        BLOB,
    started          INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    late_result      INTEGER NOT NULL,
    sent_at          INTEGER NOT NULL,
    heard_at         INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    ended_at         INTEGER NOT NULL,
    version          INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX task_version ON task (version);
CREATE INDEX task_open ON task (role, state) WHERE ended_at = 0;
CREATE INDEX task_ended ON task (ended_at) WHERE ended_at > 0;

CREATE TABLE message (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    task     TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    id       TEXT NOT NULL,
    sender   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    body     TEXT NOT NULL,
    metadata BLOB,
    at       INTEGER NOT NULL,
    UNIQUE (task, sender, id)
);

-- An attachment belongs to a message, or with message 0 to the delegation.
CREATE TABLE attachment (
    task    TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    message INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    name    TEXT NOT NULL,
    mime    TEXT NOT NULL,
    size    INTEGER NOT NULL,
    cid     TEXT NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (task, message, n)
);

-- Accepted messages, so that a second copy is told from a first (wire 2, L.6).
CREATE TABLE replay (
    sender TEXT NOT NULL,
    mid    BLOB NOT NULL,
    exp    INTEGER NOT NULL,
    PRIMARY KEY (sender, mid)
) WITHOUT ROWID;
CREATE INDEX replay_exp ON replay (exp);

-- Refused delegations, and per sender the time up to which what was pushed out
-- stays refused.
CREATE TABLE refusal (
    sender TEXT NOT NULL,
    mid    BLOB NOT NULL,
    ts     INTEGER NOT NULL,
    exp    INTEGER NOT NULL,
    PRIMARY KEY (sender, mid)
) WITHOUT ROWID;
CREATE INDEX refusal_ts ON refusal (sender, ts);
CREATE INDEX refusal_exp ON refusal (exp);
CREATE TABLE refusal_floor (
    sender TEXT PRIMARY KEY,
    ts     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX refusal_floor_ts ON refusal_floor (ts);

-- Messages on their way out. A row is a draft until the recipient's key is
-- known; from then on its sealed bytes never change. An answer stays after it
-- was sent, so that it can be sent again.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    task       TEXT NOT NULL,
    peer       TEXT NOT NULL,
    mid        BLOB NOT NULL UNIQUE,
    type       TEXT NOT NULL,
    body       BLOB,
    sealed     BLOB,
    exp        INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    uncertain  INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    error      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER NOT NULL
);
CREATE INDEX outbox_lane ON outbox (task, peer, id) WHERE sent_at = 0;
CREATE INDEX outbox_task ON outbox (task);

-- Identities kept for good: only those wire 2, E.10 allows.
CREATE TABLE peer (
    aid        TEXT PRIMARY KEY,
    kel        BLOB NOT NULL,
    keys       BLOB,
    checked_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Receipts outlive their tasks.
CREATE TABLE evidence (
    task        TEXT NOT NULL,
    role        TEXT NOT NULL,
    peer        TEXT NOT NULL,
    capability  TEXT NOT NULL,
    request_cid TEXT NOT NULL,
    result_cid  TEXT NOT NULL,
    receipt     BLOB NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (task, role)
) WITHOUT ROWID;

-- Cancellations that came before their delegation.
CREATE TABLE early_cancel (
    task TEXT NOT NULL,
    peer TEXT NOT NULL,
    exp  INTEGER NOT NULL,
    PRIMARY KEY (task, peer)
) WITHOUT ROWID;

-- Written to make everything before it durable.
CREATE TABLE mark (n INTEGER NOT NULL);
INSERT INTO mark (n) VALUES (0);
