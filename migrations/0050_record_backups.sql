-- +goose Up

-- What was backed up, and what of that was proven to restore. A row is a file,
-- wherever it is kept: its hash names it.
CREATE TABLE backup (
    sha256     bytea NOT NULL,
    taken_at   timestamptz NOT NULL,
    bytes      bigint NOT NULL,
    proven_at  timestamptz,
    CONSTRAINT backup_pk PRIMARY KEY (sha256)
);

INSERT INTO schema_compat (version, min_program) VALUES (50, 4);
