-- +goose Up
-- locks: peer SHARE ROW EXCLUSIVE, moment

-- What is known of agents that peers told of. It outlives withdrawals and the
-- peers themselves: who once showed a newer card or a longer history is not
-- believed an older one. taught_by is who told first, by the number of a peer that
-- may be gone; what each brought in is counted. What reviews taken in here say of
-- an AID that never registered here stands here until it does.
CREATE TABLE known_elsewhere (
    aid          text COLLATE "C" NOT NULL,
    kel          bytea NOT NULL,
    card_seq     bigint,
    card_hash    bytea,
    adp_seq      bigint,
    taught_by    integer NOT NULL,
    since        timestamptz NOT NULL,
    rating_sum   bigint NOT NULL DEFAULT 0,
    rating_count bigint NOT NULL DEFAULT 0,
    CONSTRAINT known_elsewhere_pk PRIMARY KEY (aid)
);

-- A peer as a teacher: whether lists show what it taught, when it last answered,
-- and what all of it comes to. tour is how far its agents were brought to what
-- listed says; null where they are.
CREATE TABLE teacher (
    peer_id  integer NOT NULL,
    listed   boolean NOT NULL DEFAULT true,
    tour     text COLLATE "C",
    heard_at timestamptz NOT NULL,
    agents   bigint NOT NULL DEFAULT 0,
    marks    bigint NOT NULL DEFAULT 0,
    bytes    bigint NOT NULL DEFAULT 0,
    CONSTRAINT teacher_pk PRIMARY KEY (peer_id),
    CONSTRAINT teacher_peer_fk FOREIGN KEY (peer_id) REFERENCES peer (id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- How far each stream of a peer was read. Who reads holds the lease and moves it
-- on with every page: one that was lost is found out in the transaction of the
-- page. round counts those that came to the end, calm those since something was
-- new, pass the readings from the beginning; passing says that one of these is
-- under way.
CREATE TABLE pull (
    peer_id      integer NOT NULL,
    stream       text COLLATE "C" NOT NULL,
    read_to      bigint NOT NULL DEFAULT 0,
    round        integer NOT NULL DEFAULT 0,
    calm         integer NOT NULL DEFAULT 0,
    pass         integer NOT NULL DEFAULT 1,
    passing      boolean NOT NULL DEFAULT true,
    failures     integer NOT NULL DEFAULT 0,
    failure      text NOT NULL DEFAULT '',
    refused      bigint NOT NULL DEFAULT 0,
    refusal      text NOT NULL DEFAULT '',
    refused_at   timestamptz,
    next_at      timestamptz NOT NULL,
    leased_by    text COLLATE "C" NOT NULL DEFAULT '',
    leased_until timestamptz NOT NULL,
    last_ok_at   timestamptz,
    CONSTRAINT pull_pk PRIMARY KEY (peer_id, stream),
    CONSTRAINT pull_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher (peer_id) ON DELETE CASCADE,
    CONSTRAINT pull_stream_ck CHECK (stream IN ('adp-cards', 'cards', 'reviews'))
) WITH (fillfactor = 50);

-- Entries that are refused for now. The stream counts as read up to the first of
-- them, and what stands behind it is read all the same.
CREATE TABLE pull_held (
    peer_id  integer NOT NULL,
    stream   text COLLATE "C" NOT NULL,
    aid      text COLLATE "C" NOT NULL,
    fed_seq  bigint NOT NULL,
    reason   text NOT NULL,
    retry_at timestamptz,
    told     integer NOT NULL,
    CONSTRAINT pull_held_pk PRIMARY KEY (peer_id, stream, aid),
    CONSTRAINT pull_held_pull_fk FOREIGN KEY (peer_id, stream) REFERENCES pull (peer_id, stream) ON DELETE CASCADE
);

-- Agents of other hubs, one row for each peer and stream that teaches one. entry
-- is the hash of what was told; told is the last reading from the beginning in
-- which it was. Of the rows of an AID at most one is shown: the one lists show. It
-- has rows in agent_cap and agent_card_tag, with ranks behind those of all who are
-- registered here. A row that verified under a history that has grown since is
-- stale until it is told again.
CREATE TABLE learned (
    aid          text COLLATE "C" NOT NULL,
    peer_id      integer NOT NULL,
    stream       text COLLATE "C" NOT NULL,
    entry        bytea NOT NULL,
    card         bytea NOT NULL,
    keyset       bytea,
    home         text NOT NULL,
    fed_seq      bigint NOT NULL,
    seq          bigint NOT NULL,
    name         text NOT NULL,
    summary      text NOT NULL,
    caps         text[] NOT NULL,
    tags         text[] NOT NULL,
    search       text NOT NULL,
    card_search  text NOT NULL,
    view         bytea NOT NULL,
    listed       boolean NOT NULL,
    rating_sum   bigint NOT NULL,
    rating_count bigint NOT NULL,
    rank_rating  integer NOT NULL,
    rank_reviews integer NOT NULL,
    taught_at    timestamptz NOT NULL,
    verified_at  timestamptz NOT NULL,
    told         integer NOT NULL,
    size         integer NOT NULL,
    shown        boolean NOT NULL DEFAULT false,
    stale        boolean NOT NULL DEFAULT false,
    CONSTRAINT learned_pk PRIMARY KEY (aid, peer_id, stream),
    CONSTRAINT learned_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher (peer_id) ON DELETE CASCADE,
    CONSTRAINT learned_stream_ck CHECK (stream IN ('adp-cards', 'cards'))
);
CREATE INDEX learned_peer ON learned (peer_id, aid);
CREATE UNIQUE INDEX learned_shown ON learned (aid) WHERE shown;
CREATE INDEX learned_cards ON learned (aid) WHERE shown AND stream = 'cards';
CREATE INDEX learned_order ON learned (rank_rating, rank_reviews, taught_at, aid) WHERE shown AND listed;

-- Reviews that peers took in: the signed objects, verified here.
CREATE TABLE learned_review (
    subject     text COLLATE "C" NOT NULL,
    interaction text COLLATE "C" NOT NULL,
    reviewer    text COLLATE "C" NOT NULL,
    peer_id     integer NOT NULL,
    rating      smallint NOT NULL,
    receipt     bytea NOT NULL,
    review      bytea NOT NULL,
    fed_seq     bigint NOT NULL,
    told        integer NOT NULL,
    size        integer NOT NULL,
    CONSTRAINT learned_review_pk PRIMARY KEY (subject, interaction, reviewer, peer_id),
    CONSTRAINT learned_review_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher (peer_id) ON DELETE CASCADE,
    CONSTRAINT learned_review_rating_ck CHECK (rating BETWEEN 1 AND 5)
);
CREATE INDEX learned_review_peer ON learned_review (peer_id);

INSERT INTO schema_compat (version, min_program) VALUES (63, 4);
