-- +goose Up

-- What this node said of work it asked for. It is signed once; until the hub has
-- taken it the same bytes are sent again.
CREATE TABLE review (
    task        TEXT PRIMARY KEY,
    rating      INTEGER NOT NULL,
    comment     TEXT NOT NULL,
    signed      BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL
) WITHOUT ROWID;
