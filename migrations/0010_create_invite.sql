-- +goose Up
-- locks: member SHARE ROW EXCLUSIVE, moment

-- What lets AIDs in that the hub does not know. The token itself is kept
-- nowhere. uses counts the rows of invite_use, under the lock of this one.
CREATE TABLE invite (
    id          text COLLATE "C" NOT NULL,
    token_hash  text COLLATE "C" NOT NULL,
    label       text NOT NULL,
    max_uses    integer NOT NULL,
    uses        integer NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz,
    revoked_at  timestamptz,
    CONSTRAINT invite_pk PRIMARY KEY (id),
    CONSTRAINT invite_token_uq UNIQUE (token_hash),
    CONSTRAINT invite_uses_ck CHECK (uses >= 0 AND max_uses >= 0 AND (max_uses = 0 OR uses <= max_uses))
);

-- Who came in by which. A row outlives the registration, so that nobody who
-- leaves or is removed gives a use back.
CREATE TABLE invite_use (
    invite_id  text COLLATE "C" NOT NULL,
    aid        text COLLATE "C" NOT NULL,
    at         timestamptz NOT NULL,
    CONSTRAINT invite_use_pk PRIMARY KEY (invite_id, aid),
    CONSTRAINT invite_use_invite_fk FOREIGN KEY (invite_id) REFERENCES invite (id) ON DELETE CASCADE,
    CONSTRAINT invite_use_member_fk FOREIGN KEY (aid) REFERENCES member (aid)
);

INSERT INTO schema_compat (version, min_program) VALUES (10, 4);
