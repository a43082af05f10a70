-- +goose Up
-- locks: member ACCESS EXCLUSIVE, moment

-- A suspended member's requests are refused, it is in no list, and it gets no
-- mail. What it had stays, for the day the suspension is lifted. A program that
-- does not know this would let it act, so nothing is said in schema_compat.
ALTER TABLE member ADD COLUMN suspended_at timestamptz;
