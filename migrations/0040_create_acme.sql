-- +goose Up

-- What autocert keeps: the account key, certificates with their keys, and answers
-- to challenges while they are open. Every process of the hub reads them here, so
-- that one obtains what all of them serve, and any may answer a challenge.
CREATE TABLE acme_cache (
    name       text COLLATE "C" NOT NULL,
    data       bytea NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT acme_cache_pk PRIMARY KEY (name)
);

-- Whose turn it is to ask the certificate authority, and until when: it counts
-- what all processes ask for together.
CREATE TABLE acme_turn (
    one   boolean NOT NULL DEFAULT true,
    who   text NOT NULL,
    until timestamptz NOT NULL,
    CONSTRAINT acme_turn_pk PRIMARY KEY (one),
    CONSTRAINT acme_turn_one_ck CHECK (one)
);

INSERT INTO schema_compat (version, min_program) VALUES (40, 4);
