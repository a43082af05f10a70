-- +goose Up
-- locks: agent_adp_card SHARE ROW EXCLUSIVE, moment

-- What agents hold, in whole credits. An account is there from its first credit
-- on and stays, whatever becomes of the registration. The number of its entries
-- is their order as well. granted_at is when the registration grant was booked:
-- once for an AID, for ever.
CREATE TABLE account (
    aid        text COLLATE "C" NOT NULL,
    balance    bigint NOT NULL DEFAULT 0,
    entries    bigint NOT NULL DEFAULT 0,
    granted_at timestamptz,
    CONSTRAINT account_pk PRIMARY KEY (aid),
    CONSTRAINT account_balance_ck CHECK (balance >= 0),
    CONSTRAINT account_entries_ck CHECK (entries >= 0)
) WITH (fillfactor = 70);

-- Every movement, one line for each account it moves. The lines of an account
-- sum up to its balance.
CREATE TABLE account_entry (
    aid    text COLLATE "C" NOT NULL,
    n      bigint NOT NULL,
    delta  bigint NOT NULL,
    reason text NOT NULL,
    auth_id text COLLATE "C",
    at     timestamptz NOT NULL,
    CONSTRAINT account_entry_pk PRIMARY KEY (aid, n),
    CONSTRAINT account_entry_n_ck CHECK (n >= 1),
    CONSTRAINT account_entry_delta_ck CHECK (delta <> 0)
);

-- Authorizations that moved, each once: what the payer signed, and the receipt
-- that everybody gets who brings it again. A payer pays for one thing (its
-- interaction) once. What was bought at the gateway stands with the voucher that
-- was given for it. A settlement with the hub itself is a redemption.
CREATE TABLE settlement (
    auth_id     text COLLATE "C" NOT NULL,
    payer       text COLLATE "C" NOT NULL,
    pay_to      text COLLATE "C" NOT NULL,
    amount      bigint NOT NULL,
    interaction text COLLATE "C",
    signed      bytea NOT NULL,
    receipt     bytea NOT NULL,
    settled_at  timestamptz NOT NULL,
    capability  text COLLATE "C",
    voucher     bytea,
    CONSTRAINT settlement_pk PRIMARY KEY (auth_id),
    CONSTRAINT settlement_binding_uq UNIQUE (payer, interaction),
    CONSTRAINT settlement_amount_ck CHECK (amount >= 1),
    CONSTRAINT settlement_voucher_ck CHECK ((capability IS NULL) = (voucher IS NULL))
);

CREATE TABLE redemption (
    auth_id   text COLLATE "C" NOT NULL,
    aid       text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    amount    bigint NOT NULL,
    reference text NOT NULL,
    at        timestamptz NOT NULL,
    CONSTRAINT redemption_pk PRIMARY KEY (auth_id),
    CONSTRAINT redemption_aid_uq UNIQUE (aid, n),
    CONSTRAINT redemption_amount_ck CHECK (amount >= 1)
);

-- The chain of what came into circulation and what left it (wire 2, K.8), as it
-- was signed.
CREATE TABLE issuance (
    seq    bigint NOT NULL,
    id     text COLLATE "C" NOT NULL,
    kind   text NOT NULL,
    aid    text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    at     timestamptz NOT NULL,
    record bytea NOT NULL,
    CONSTRAINT issuance_pk PRIMARY KEY (seq),
    CONSTRAINT issuance_id_uq UNIQUE (id),
    CONSTRAINT issuance_amount_ck CHECK (amount >= 1)
);

-- The end of the chain and what it comes to. Who changes the sum of all balances
-- locks this row first and accounts after it, in the order of AIDs. A ledger that
-- was restored is read only until its books were audited.
CREATE TABLE ledger (
    one             boolean NOT NULL DEFAULT true,
    head_seq        bigint NOT NULL,
    head_id         text COLLATE "C" NOT NULL,
    issued          bigint NOT NULL,
    retired         bigint NOT NULL,
    read_only_since timestamptz,
    CONSTRAINT ledger_pk PRIMARY KEY (one),
    CONSTRAINT ledger_one_ck CHECK (one),
    CONSTRAINT ledger_supply_ck CHECK (retired BETWEEN 0 AND issued)
) WITH (fillfactor = 30);
INSERT INTO ledger (head_seq, head_id, issued, retired) VALUES (0, '', 0, 0);

-- AIDs that registered for the first time and wait for their grant. The row is
-- written with the registration; one worker books them in batches. Who came
-- before there was a ledger is granted the same. A program that does not know
-- this would let agents in without, so nothing is said in schema_compat.
CREATE TABLE grant_due (
    aid text COLLATE "C" NOT NULL,
    at  timestamptz NOT NULL,
    CONSTRAINT grant_due_pk PRIMARY KEY (aid)
);
INSERT INTO grant_due (aid, at) SELECT aid, first_seen_at FROM member;

-- What agents sell through the gateway, as their stored older card says. The
-- card decides at a sale; this is for lists.
CREATE TABLE gateway_offer (
    aid        text COLLATE "C" NOT NULL,
    capability text COLLATE "C" NOT NULL,
    price      bigint NOT NULL,
    at         timestamptz NOT NULL,
    CONSTRAINT gateway_offer_pk PRIMARY KEY (aid, capability),
    CONSTRAINT gateway_offer_card_fk FOREIGN KEY (aid) REFERENCES agent_adp_card (aid) ON DELETE CASCADE
);

-- What other hubs saw at the end of the chain (wire 2, B.4).
CREATE TABLE attestation (
    witness     text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL,
    head_id     text COLLATE "C" NOT NULL,
    observed_at timestamptz NOT NULL,
    signed      bytea NOT NULL,
    CONSTRAINT attestation_pk PRIMARY KEY (witness, seq)
);
CREATE INDEX attestation_latest ON attestation (seq DESC, witness);
