-- +goose Up

-- Which programs may still serve after a migration: those that know the schema
-- up to min_program. A migration that says nothing here is for programs that know
-- it themselves, and the others refuse the database.
CREATE TABLE schema_compat (
    version     bigint NOT NULL,
    min_program bigint NOT NULL,
    CONSTRAINT schema_compat_pk PRIMARY KEY (version),
    CONSTRAINT schema_compat_order_ck CHECK (min_program <= version)
);
