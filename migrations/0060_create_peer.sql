-- +goose Up

-- The hubs this one federates with, in the order in which they are asked. kel is
-- the history that a peer proved its AID with; null until it did. A peer is
-- fetched again when next_try_at is over: whoever does so moves it on first, so
-- that of many processes one does. revision counts the changes of what processes
-- hold in memory. An id is never given out twice.
CREATE TABLE peer (
    id               integer GENERATED ALWAYS AS IDENTITY,
    position         integer NOT NULL,
    aid              text COLLATE "C" NOT NULL,
    endpoint         text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    delivery         boolean NOT NULL,
    discovery        boolean NOT NULL,
    paused           boolean NOT NULL DEFAULT false,
    from_file        boolean NOT NULL DEFAULT false,
    kel              bytea,
    revision         bigint NOT NULL DEFAULT 1,
    added_at         timestamptz NOT NULL,
    proved_at        timestamptz,
    tried_at         timestamptz,
    next_try_at      timestamptz NOT NULL,
    last_success_at  timestamptz,
    last_refused_at  timestamptz,
    last_refusal     text COLLATE "C" NOT NULL DEFAULT '',
    last_refusal_why text NOT NULL DEFAULT '',
    CONSTRAINT peer_pk PRIMARY KEY (id),
    CONSTRAINT peer_aid_uq UNIQUE (aid),
    CONSTRAINT peer_endpoint_uq UNIQUE (endpoint),
    CONSTRAINT peer_name_uq UNIQUE (name),
    CONSTRAINT peer_proved_ck CHECK ((kel IS NULL) = (proved_at IS NULL))
);

INSERT INTO schema_compat (version, min_program) VALUES (60, 4);
