-- +goose Up

-- A row for every AID that ever registered here. It outlives a deregistration,
-- so that the AID can only come back with an extension of this history, and so
-- do the marks of its cards: a lower sequence stays refused (wire 2, H.4, I.3).
CREATE TABLE member (
    aid           text COLLATE "C" NOT NULL,
    kel           bytea NOT NULL,
    first_seen_at timestamptz NOT NULL,
    card_seq      bigint,
    card_hash     bytea,
    adp_seq       bigint,
    CONSTRAINT member_pk PRIMARY KEY (aid)
);

-- A registration in force. view is the agent as lists show it, rendered when
-- the row is written; search is the lower-cased text ?q= looks into. answered
-- is what the registration with the body body_hash was told: until body_until
-- the same body gets the same answer without being worked through again.
CREATE TABLE agent (
    aid           text COLLATE "C" NOT NULL,
    name          text NOT NULL,
    tags          text[] NOT NULL,
    card_name     text NOT NULL DEFAULT '',
    skills        text[] NOT NULL DEFAULT '{}',
    summary       text NOT NULL DEFAULT '',
    readme        text NOT NULL DEFAULT '',
    pricing       text NOT NULL DEFAULT '',
    visibility    text NOT NULL DEFAULT 'hub-local',
    registered_at timestamptz NOT NULL,
    rating_sum    bigint NOT NULL DEFAULT 0,
    rating_count  bigint NOT NULL DEFAULT 0,
    rank_rating   integer NOT NULL DEFAULT 0,
    rank_reviews  integer NOT NULL DEFAULT 0,
    listed        boolean NOT NULL,
    view          bytea NOT NULL,
    search        text NOT NULL,
    body_hash     bytea,
    body_until    timestamptz,
    answered      bytea,
    CONSTRAINT agent_pk PRIMARY KEY (aid),
    CONSTRAINT agent_member_fk FOREIGN KEY (aid) REFERENCES member (aid),
    CONSTRAINT agent_visibility_ck CHECK (visibility IN ('hub-local', 'federated', 'public'))
);

-- The order of every list, ascending: the ranks are negated, so that one row
-- comparison says "after this place" and one index range is a page.
CREATE INDEX agent_listed ON agent (rank_rating, rank_reviews, registered_at, aid) WHERE listed;

-- What ?cap= answers from: one row for each capability of each agent, with
-- the agent's place in the key, and one row with the empty id for every
-- agent that offers anything, which is what a lone * asks for.
CREATE TABLE agent_cap (
    aid           text COLLATE "C" NOT NULL,
    cap           text COLLATE "C" NOT NULL,
    skill         boolean NOT NULL,
    rank_rating   integer NOT NULL,
    rank_reviews  integer NOT NULL,
    registered_at timestamptz NOT NULL,
    CONSTRAINT agent_cap_pk PRIMARY KEY (aid, cap)
);
CREATE INDEX agent_cap_order ON agent_cap (cap, rank_rating, rank_reviews, registered_at, aid);
CREATE INDEX agent_cap_skill ON agent_cap (cap, aid) WHERE skill;

-- The last sign of life, apart from the wide rows because it changes with every
-- batch of polls.
CREATE TABLE agent_seen (
    aid       text COLLATE "C" NOT NULL,
    last_seen timestamptz,
    CONSTRAINT agent_seen_pk PRIMARY KEY (aid)
) WITH (fillfactor = 70);

-- The admitted network card, byte for byte as it was submitted.
CREATE TABLE agent_card (
    aid         text COLLATE "C" NOT NULL,
    card        bytea NOT NULL,
    verified_at timestamptz NOT NULL,
    tags        text[] NOT NULL,
    search      text NOT NULL,
    CONSTRAINT agent_card_pk PRIMARY KEY (aid)
);
CREATE TABLE agent_card_tag (
    tag text COLLATE "C" NOT NULL,
    aid text COLLATE "C" NOT NULL,
    CONSTRAINT agent_card_tag_pk PRIMARY KEY (tag, aid)
);

-- The older signed directory card (wire 2, H.6).
CREATE TABLE agent_adp_card (
    aid  text COLLATE "C" NOT NULL,
    card bytea NOT NULL,
    CONSTRAINT agent_adp_card_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_keyset (
    aid    text COLLATE "C" NOT NULL,
    keyset bytea NOT NULL,
    CONSTRAINT agent_keyset_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_address (
    aid  text COLLATE "C" NOT NULL,
    addr text NOT NULL,
    at   timestamptz NOT NULL,
    CONSTRAINT agent_address_pk PRIMARY KEY (aid)
);

-- What /stats reads. Each count is spread over one row a connection, so that
-- registrations do not queue for one.
CREATE TABLE directory_count (
    name  text NOT NULL,
    shard smallint NOT NULL,
    n     bigint NOT NULL,
    CONSTRAINT directory_count_pk PRIMARY KEY (name, shard)
) WITH (fillfactor = 30);
