-- +goose Up

-- What peers are told (wire 2, J.4): where an agent stands in a stream of cards, 1
-- or 2. Whatever changes its entry moves it to the head. Cards and keys are not
-- copied here: a page reads them where they are, and looks again whether the agent
-- may be told of. A row of the second stream stays when the agent is gone, for peers
-- that begin anew: it says why then.
CREATE TABLE feed (
    stream    smallint NOT NULL,
    aid       text COLLATE "C" NOT NULL,
    fed_seq   bigint NOT NULL,
    withdrawn text NOT NULL DEFAULT '',
    at        timestamptz NOT NULL,
    size      integer NOT NULL,
    CONSTRAINT feed_pk PRIMARY KEY (stream, aid),
    CONSTRAINT feed_order_uq UNIQUE (stream, fed_seq),
    CONSTRAINT feed_stream_ck CHECK (stream IN (1, 2))
);

-- The last number that was given out. Whoever gives out the next ones holds this
-- row until its commit: no number becomes visible after a higher one.
CREATE TABLE feed_head (
    one boolean NOT NULL DEFAULT true,
    seq bigint NOT NULL,
    CONSTRAINT feed_head_pk PRIMARY KEY (one),
    CONSTRAINT feed_head_one_ck CHECK (one)
);
INSERT INTO feed_head (seq) VALUES (0);

-- Agents whose entries changed and have no new number yet. A change adds a row in
-- its own transaction and waits for nobody; an agent may have several.
CREATE TABLE feed_dirty (
    id  bigint GENERATED ALWAYS AS IDENTITY,
    aid text COLLATE "C" NOT NULL,
    CONSTRAINT feed_dirty_pk PRIMARY KEY (id)
);
INSERT INTO feed_dirty (aid) SELECT aid FROM agent WHERE visibility <> 'hub-local';

-- A program that does not know this would change agents without a word to peers,
-- so nothing is said in schema_compat.
