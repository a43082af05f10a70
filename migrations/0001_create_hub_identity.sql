-- +goose Up

-- The hub's own identity: one row, shared by every process on this database.
-- The blob holds private keys; whoever reads this table can speak as the hub.
CREATE TABLE hub_identity (
    id          boolean PRIMARY KEY DEFAULT true CONSTRAINT hub_identity_single CHECK (id),
    version     bigint NOT NULL,
    blob        bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL
);
