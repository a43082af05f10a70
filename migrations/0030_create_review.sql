-- +goose Up
-- locks: member ACCESS EXCLUSIVE, moment

-- What reviews say of a member, which outlives its registration. An agent's
-- own copy is what lists are ordered by. A program that does not know this
-- would list an AID that comes back as one nobody reviewed, so nothing is said
-- in schema_compat.
ALTER TABLE member
    ADD COLUMN rating_sum bigint NOT NULL DEFAULT 0,
    ADD COLUMN rating_count bigint NOT NULL DEFAULT 0;

-- Every review with the receipt it is about: the signed objects, of which all
-- else here can be read again. No content of the work is among it. A review is
-- the requester's one word on one piece of a provider's work. The id of the work
-- alone is no key: a provider could use it up with a review by a friend. There are no foreign keys: to check one
-- locks a member, and two who review each other at once would wait for ever.
CREATE TABLE review (
    interaction text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,
    reviewer    text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL,
    rating      smallint NOT NULL,
    receipt     bytea NOT NULL,
    review      bytea NOT NULL,
    accepted_at timestamptz NOT NULL,
    CONSTRAINT review_pk PRIMARY KEY (interaction, subject, reviewer),
    CONSTRAINT review_seq_uq UNIQUE (seq),
    CONSTRAINT review_rating_ck CHECK (rating BETWEEN 1 AND 5)
);

-- The latest first. The number is negated so that only this index has the order:
-- for an agent with many reviews the planner would walk those of everybody.
CREATE INDEX review_subject ON review (subject, (-seq));

-- The counts over all of them. The row is locked by whoever adds a review until
-- its commit, so that seq grows in the order of commits: who reads on from one
-- misses none.
CREATE TABLE review_total (
    one        boolean NOT NULL DEFAULT true,
    seq        bigint NOT NULL,
    reviews    bigint NOT NULL,
    rating_sum bigint NOT NULL,
    CONSTRAINT review_total_pk PRIMARY KEY (one),
    CONSTRAINT review_total_one_ck CHECK (one)
) WITH (fillfactor = 30);
INSERT INTO review_total (seq, reviews, rating_sum) VALUES (0, 0, 0);
