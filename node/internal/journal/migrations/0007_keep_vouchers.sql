-- +goose Up

-- Vouchers of the hub's gateway that were spent here. A row is written before the
-- work; without an outcome the node ended in the middle of it.
CREATE TABLE voucher (
    id       TEXT PRIMARY KEY,
    voucher  BLOB NOT NULL,
    outcome  BLOB,
    spent_at INTEGER NOT NULL
) WITHOUT ROWID;
