-- +goose Up
-- locks: peer ACCESS EXCLUSIVE, moment

-- Whether another hub was met at a peer's address: nothing is sent there, and
-- nothing read, until the peer proves itself again.
ALTER TABLE peer ADD COLUMN astray boolean NOT NULL DEFAULT false;

INSERT INTO schema_compat (version, min_program) VALUES (64, 4);
