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
-- was given for it. A settlement with the hub itself is a redemption; one with an
-- agent of a peer credits nobody here, and is owed to the peer.
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
    due_to      text COLLATE "C",
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

-- Hubs whose payments are taken here, by their AID: an entry outlives the peer it is
-- about, as debts do. owed is what it owes this hub, at most most; due is what this
-- hub owes it.
CREATE TABLE clearing (
    aid     text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    most    bigint NOT NULL,
    owed    bigint NOT NULL DEFAULT 0,
    due     bigint NOT NULL DEFAULT 0,
    CONSTRAINT clearing_pk PRIMARY KEY (aid),
    CONSTRAINT clearing_sums_ck CHECK (most >= 0 AND owed >= 0 AND due >= 0)
);

-- Payments on the ledgers of others that were credited here, once each, on the
-- strength of their receipts. answer is what the other hub said.
CREATE TABLE peer_payment (
    auth_id text COLLATE "C" NOT NULL,
    hub     text COLLATE "C" NOT NULL,
    payer   text COLLATE "C" NOT NULL,
    pay_to  text COLLATE "C" NOT NULL,
    amount  bigint NOT NULL,
    signed  bytea NOT NULL,
    receipt bytea NOT NULL,
    answer  bytea NOT NULL,
    at      timestamptz NOT NULL,
    CONSTRAINT peer_payment_pk PRIMARY KEY (auth_id),
    CONSTRAINT peer_payment_amount_ck CHECK (amount >= 1)
);

-- Statements that a debt was paid off (wire 2, J.6): by a peer to this hub, or by
-- this hub to a peer, where it counts from done_at on.
CREATE TABLE discharge (
    auth_id text COLLATE "C" NOT NULL,
    hub     text COLLATE "C" NOT NULL,
    ours    boolean NOT NULL,
    amount  bigint NOT NULL,
    receipt bytea NOT NULL,
    at      timestamptz NOT NULL,
    done_at timestamptz,
    CONSTRAINT discharge_pk PRIMARY KEY (auth_id),
    CONSTRAINT discharge_amount_ck CHECK (amount >= 1)
);
CREATE UNIQUE INDEX discharge_under_way ON discharge (hub) WHERE ours AND done_at IS NULL;

-- What this hub saw at the end of others' chains, and when it looks again: whoever
-- moves next_at on looks.
CREATE TABLE witnessed (
    hub         text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL DEFAULT 0,
    head_id     text COLLATE "C" NOT NULL DEFAULT '',
    signed      bytea,
    observed_at timestamptz,
    next_at     timestamptz NOT NULL,
    CONSTRAINT witnessed_pk PRIMARY KEY (hub)
);
