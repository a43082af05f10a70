-- +goose Up
-- locks: agent ACCESS EXCLUSIVE, moment
-- locks: agent_seen ACCESS EXCLUSIVE, moment

-- Who was not heard of for so long that lists leave it out is away: its rows of
-- agent_cap are gone and agent.listed is false until it polls again. It stands
-- beside last_seen, so that the statement that notes a poll finds who comes back.
ALTER TABLE agent_seen ADD COLUMN away boolean NOT NULL DEFAULT false;

-- Whether lists may show the agent at all, whatever it offers.
ALTER TABLE agent ADD COLUMN shown boolean NOT NULL DEFAULT true;

-- The last sign of life of the hub itself, and when it had none: the age of
-- agents does not grow meanwhile. Before this was written down, the last poll of
-- anybody tells.
CREATE TABLE hub_presence (
    one     boolean NOT NULL DEFAULT true,
    beat_at timestamptz NOT NULL,
    CONSTRAINT hub_presence_pk PRIMARY KEY (one),
    CONSTRAINT hub_presence_one_ck CHECK (one)
);
INSERT INTO hub_presence (beat_at) SELECT max(last_seen) FROM agent_seen HAVING max(last_seen) IS NOT NULL;
CREATE TABLE hub_absence (
    began_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    CONSTRAINT hub_absence_pk PRIMARY KEY (ended_at),
    CONSTRAINT hub_absence_order_ck CHECK (began_at < ended_at)
);

-- How far the tour over all agents has come that finds who is away. It stands
-- here for all processes: any of them takes the next step.
CREATE TABLE directory_tour (
    one      boolean NOT NULL DEFAULT true,
    began_at timestamptz NOT NULL,
    after    text COLLATE "C" NOT NULL,
    CONSTRAINT directory_tour_pk PRIMARY KEY (one),
    CONSTRAINT directory_tour_one_ck CHECK (one)
);
INSERT INTO directory_tour (began_at, after) VALUES ('1970-01-01Z', '');

-- A program that does not know this lists somebody who is back a little later:
-- the tour of one that does sees to it.
INSERT INTO schema_compat (version, min_program) VALUES (20, 12);
