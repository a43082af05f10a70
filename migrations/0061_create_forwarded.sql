-- +goose Up

-- What peers brought, so that none of it is taken twice: the content id of each
-- payload, claimed in the transaction that puts it into a mailbox and forgotten
-- after fifteen days, when a forward of it would be too old. Nothing here tells who
-- sent it, or to whom.
CREATE TABLE forwarded (
    payload_cid text COLLATE "C" NOT NULL,
    claimed_at  timestamptz NOT NULL,
    CONSTRAINT forwarded_pk PRIMARY KEY (payload_cid)
);
-- For forgetting.
CREATE INDEX forwarded_claimed ON forwarded (claimed_at);

INSERT INTO schema_compat (version, min_program) VALUES (61, 4);
