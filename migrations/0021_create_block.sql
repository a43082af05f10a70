-- +goose Up
-- locks: hub_presence ACCESS EXCLUSIVE, moment
-- locks: member ACCESS EXCLUSIVE, moment

-- Who is refused: an AID, registered here or not, or the addresses of a range. A
-- block outlives registrations. One that has ended is deleted by the sweep;
-- requests look at expires_at and do not wait for that.
CREATE TABLE block (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    aid        text COLLATE "C",
    host       cidr,
    why        text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    CONSTRAINT block_pk PRIMARY KEY (id),
    CONSTRAINT block_aid_uq UNIQUE (aid),
    CONSTRAINT block_host_uq UNIQUE (host),
    CONSTRAINT block_target_ck CHECK (num_nonnulls(aid, host) = 1)
);
CREATE INDEX block_hosts ON block USING gist (host inet_ops);

-- A hidden member is in no list, and works.
ALTER TABLE member ADD COLUMN hidden_at timestamptz;

-- What the hub is set to, for operators' commands: they are no processes of it.
ALTER TABLE hub_presence ADD COLUMN quiet_after interval, ADD COLUMN hidden_after interval;

-- A suspended member is a blocked one. No release had this column; a program that
-- knows it does not know blocks, and must not serve, so nothing is said in
-- schema_compat.
INSERT INTO block (aid, why, created_at) SELECT aid, '', suspended_at FROM member WHERE suspended_at IS NOT NULL;
UPDATE agent a SET shown = false FROM member m WHERE m.aid = a.aid AND m.suspended_at IS NOT NULL;
ALTER TABLE member DROP COLUMN suspended_at;
