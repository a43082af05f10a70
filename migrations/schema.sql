-- The schema that all migrations together make, to read and to review.
-- Written by "make golden"; never applied.

CREATE TABLE hub_identity (
    id boolean DEFAULT true NOT NULL,
    version bigint NOT NULL,
    blob bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT hub_identity_pkey PRIMARY KEY (id),
    CONSTRAINT hub_identity_single CHECK (id)
);

CREATE TABLE mailbox (
    aid text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    last_id bigint NOT NULL,
    count bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT mailbox_count_ck CHECK (((count >= 0) AND (bytes >= 0))),
    CONSTRAINT mailbox_pk PRIMARY KEY (aid)
) WITH (fillfactor=70);

CREATE TABLE message (
    to_aid text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    size integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    envelope bytea NOT NULL,
    CONSTRAINT message_pk PRIMARY KEY (to_aid, id)
);

CREATE TABLE replay (
    slot smallint NOT NULL,
    key uuid NOT NULL,
    CONSTRAINT replay_pk PRIMARY KEY (slot, key)
) PARTITION BY LIST (slot);

CREATE UNLOGGED TABLE replay_00 PARTITION OF replay FOR VALUES IN ('0');

CREATE UNLOGGED TABLE replay_01 PARTITION OF replay FOR VALUES IN ('1');

CREATE UNLOGGED TABLE replay_02 PARTITION OF replay FOR VALUES IN ('2');

CREATE UNLOGGED TABLE replay_03 PARTITION OF replay FOR VALUES IN ('3');

CREATE UNLOGGED TABLE replay_04 PARTITION OF replay FOR VALUES IN ('4');

CREATE UNLOGGED TABLE replay_05 PARTITION OF replay FOR VALUES IN ('5');

CREATE UNLOGGED TABLE replay_06 PARTITION OF replay FOR VALUES IN ('6');

CREATE UNLOGGED TABLE replay_07 PARTITION OF replay FOR VALUES IN ('7');

CREATE UNLOGGED TABLE replay_08 PARTITION OF replay FOR VALUES IN ('8');

CREATE UNLOGGED TABLE replay_09 PARTITION OF replay FOR VALUES IN ('9');

CREATE UNLOGGED TABLE replay_10 PARTITION OF replay FOR VALUES IN ('10');

CREATE UNLOGGED TABLE replay_11 PARTITION OF replay FOR VALUES IN ('11');

CREATE UNLOGGED TABLE replay_12 PARTITION OF replay FOR VALUES IN ('12');

CREATE UNLOGGED TABLE replay_13 PARTITION OF replay FOR VALUES IN ('13');

CREATE UNLOGGED TABLE replay_14 PARTITION OF replay FOR VALUES IN ('14');

CREATE UNLOGGED TABLE replay_15 PARTITION OF replay FOR VALUES IN ('15');

CREATE TABLE replay_ahead (
    key uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT replay_ahead_pk PRIMARY KEY (key)
);

CREATE UNLOGGED TABLE replay_count (
    aid text COLLATE "C" NOT NULL,
    minute bigint NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT replay_count_pk PRIMARY KEY (aid, minute)
);

CREATE UNLOGGED TABLE replay_epoch (
    one boolean DEFAULT true NOT NULL,
    accept_from timestamp with time zone NOT NULL,
    CONSTRAINT replay_epoch_one_ck CHECK (one),
    CONSTRAINT replay_epoch_pk PRIMARY KEY (one)
);

ALTER TABLE message ALTER COLUMN envelope SET STORAGE EXTERNAL;

CREATE INDEX message_created ON public.message USING btree (created_at);
