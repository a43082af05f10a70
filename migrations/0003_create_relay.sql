-- +goose Up

-- Signed requests that were accepted, by the minute in which they expire. The
-- sixteen partitions are a ring: a minute goes to partition minute mod 16, at
-- most twelve of them are live (a request may be dated five minutes ahead and is
-- remembered until five minutes after its date), and a partition whose minutes
-- are over is truncated whole. Nothing is created or dropped while the hub runs.
--
-- The partitions are unlogged: they survive a clean restart of the server and
-- are empty after a crash. replay_epoch tells the two apart.
CREATE TABLE replay (
    slot smallint NOT NULL,
    key  uuid NOT NULL,
    CONSTRAINT replay_pk PRIMARY KEY (slot, key)
) PARTITION BY LIST (slot);

CREATE UNLOGGED TABLE replay_00 PARTITION OF replay FOR VALUES IN (0);
CREATE UNLOGGED TABLE replay_01 PARTITION OF replay FOR VALUES IN (1);
CREATE UNLOGGED TABLE replay_02 PARTITION OF replay FOR VALUES IN (2);
CREATE UNLOGGED TABLE replay_03 PARTITION OF replay FOR VALUES IN (3);
CREATE UNLOGGED TABLE replay_04 PARTITION OF replay FOR VALUES IN (4);
CREATE UNLOGGED TABLE replay_05 PARTITION OF replay FOR VALUES IN (5);
CREATE UNLOGGED TABLE replay_06 PARTITION OF replay FOR VALUES IN (6);
CREATE UNLOGGED TABLE replay_07 PARTITION OF replay FOR VALUES IN (7);
CREATE UNLOGGED TABLE replay_08 PARTITION OF replay FOR VALUES IN (8);
CREATE UNLOGGED TABLE replay_09 PARTITION OF replay FOR VALUES IN (9);
CREATE UNLOGGED TABLE replay_10 PARTITION OF replay FOR VALUES IN (10);
CREATE UNLOGGED TABLE replay_11 PARTITION OF replay FOR VALUES IN (11);
CREATE UNLOGGED TABLE replay_12 PARTITION OF replay FOR VALUES IN (12);
CREATE UNLOGGED TABLE replay_13 PARTITION OF replay FOR VALUES IN (13);
CREATE UNLOGGED TABLE replay_14 PARTITION OF replay FOR VALUES IN (14);
CREATE UNLOGGED TABLE replay_15 PARTITION OF replay FOR VALUES IN (15);

-- The row is there as long as the memory is whole. A crash, a failover or a
-- restore empties unlogged tables, this one with the memory; the next process
-- writes the row again, and requests dated before accept_from are refused.
CREATE UNLOGGED TABLE replay_epoch (
    one         boolean NOT NULL DEFAULT true,
    accept_from timestamptz NOT NULL,
    CONSTRAINT replay_epoch_pk PRIMARY KEY (one),
    CONSTRAINT replay_epoch_one_ck CHECK (one)
);
INSERT INTO replay_epoch (accept_from) VALUES ('1970-01-01Z');

-- The few requests dated further ahead than accept_from could cover: these
-- survive a crash.
CREATE TABLE replay_ahead (
    key        uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT replay_ahead_pk PRIMARY KEY (key)
);

-- How many entries each signer has, written in batches.
CREATE UNLOGGED TABLE replay_count (
    aid    text COLLATE "C" NOT NULL,
    minute bigint NOT NULL,
    n      bigint NOT NULL,
    CONSTRAINT replay_count_pk PRIMARY KEY (aid, minute)
);

-- A mailbox. Every change of what lies in it locks this row first: that orders
-- the ids as they commit, and makes count and bytes exact. The row outlives a
-- deregistration (is_open is false then), since an id is never given out twice.
CREATE TABLE mailbox (
    aid     text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    last_id bigint NOT NULL,
    count   bigint NOT NULL DEFAULT 0,
    bytes   bigint NOT NULL DEFAULT 0,
    CONSTRAINT mailbox_pk PRIMARY KEY (aid),
    CONSTRAINT mailbox_count_ck CHECK (count >= 0 AND bytes >= 0)
) WITH (fillfactor = 70);

-- Mail on its way. Nothing here tells who sent it (wire 2, I.4).
CREATE TABLE message (
    to_aid     text COLLATE "C" NOT NULL,
    id         bigint NOT NULL,
    size       integer NOT NULL,
    created_at timestamptz NOT NULL,
    envelope   bytea NOT NULL,
    CONSTRAINT message_pk PRIMARY KEY (to_aid, id)
);
-- Ciphertext does not compress.
ALTER TABLE message ALTER COLUMN envelope SET STORAGE EXTERNAL;
-- For expiry.
CREATE INDEX message_created ON message (created_at);
