-- +goose Up

-- Vouchers of the hub's gateway that were spent here, by the payment that bought
-- them: a hub that was restored may have given another one for it. A row is written
-- before the work; without an outcome the node ended in the middle of it.
CREATE TABLE voucher (
    auth_id  TEXT PRIMARY KEY,
    voucher  BLOB NOT NULL,
    outcome  BLOB,
    spent_at INTEGER NOT NULL
) WITHOUT ROWID;

-- One payment buys one call, in a task or with a voucher.
CREATE INDEX sale_auth ON sale (auth_id);
