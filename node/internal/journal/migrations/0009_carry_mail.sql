-- +goose Up

-- Mail that was fetched from a hub this node left, and that it has not received
-- yet.
CREATE TABLE carried (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    envelope BLOB NOT NULL
);
