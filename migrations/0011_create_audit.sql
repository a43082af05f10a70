-- +goose Up

-- What operators did, written in the transaction that did it. Nothing here is
-- ever changed or a secret.
CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY,
    at      timestamptz NOT NULL,
    who     text NOT NULL,
    how     text NOT NULL,
    what    text NOT NULL,
    target  text NOT NULL,
    why     text NOT NULL,
    detail  jsonb NOT NULL,
    CONSTRAINT audit_pk PRIMARY KEY (id)
);
CREATE INDEX audit_at ON audit (at, id);

INSERT INTO schema_compat (version, min_program) VALUES (11, 4);
