-- The schema that all migrations together make, to read and to review.
-- Written by "make golden"; never applied.

CREATE TABLE account (
    aid text COLLATE "C" NOT NULL,
    balance bigint DEFAULT 0 NOT NULL,
    entries bigint DEFAULT 0 NOT NULL,
    granted_at timestamp with time zone,
    CONSTRAINT account_balance_ck CHECK ((balance >= 0)),
    CONSTRAINT account_entries_ck CHECK ((entries >= 0)),
    CONSTRAINT account_pk PRIMARY KEY (aid)
) WITH (fillfactor=70);

CREATE TABLE account_entry (
    aid text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    delta bigint NOT NULL,
    reason text NOT NULL,
    auth_id text COLLATE "C",
    at timestamp with time zone NOT NULL,
    CONSTRAINT account_entry_delta_ck CHECK ((delta <> 0)),
    CONSTRAINT account_entry_n_ck CHECK ((n >= 1)),
    CONSTRAINT account_entry_pk PRIMARY KEY (aid, n)
);

CREATE TABLE acme_cache (
    name text COLLATE "C" NOT NULL,
    data bytea NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT acme_cache_pk PRIMARY KEY (name)
);

CREATE TABLE acme_turn (
    one boolean DEFAULT true NOT NULL,
    who text NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT acme_turn_one_ck CHECK (one),
    CONSTRAINT acme_turn_pk PRIMARY KEY (one)
);

CREATE TABLE agent (
    aid text COLLATE "C" NOT NULL,
    name text NOT NULL,
    tags text[] NOT NULL,
    card_name text DEFAULT ''::text NOT NULL,
    skills text[] DEFAULT '{}'::text[] NOT NULL,
    summary text DEFAULT ''::text NOT NULL,
    readme text DEFAULT ''::text NOT NULL,
    pricing text DEFAULT ''::text NOT NULL,
    visibility text DEFAULT 'hub-local'::text NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    rating_sum bigint DEFAULT 0 NOT NULL,
    rating_count bigint DEFAULT 0 NOT NULL,
    rank_rating integer DEFAULT 0 NOT NULL,
    rank_reviews integer DEFAULT 0 NOT NULL,
    listed boolean NOT NULL,
    view bytea NOT NULL,
    search text NOT NULL,
    body_hash bytea,
    body_until timestamp with time zone,
    answered bytea,
    shown boolean DEFAULT true NOT NULL,
    CONSTRAINT agent_pk PRIMARY KEY (aid),
    CONSTRAINT agent_visibility_ck CHECK ((visibility = ANY (ARRAY['hub-local'::text, 'federated'::text, 'public'::text])))
);

CREATE TABLE agent_address (
    aid text COLLATE "C" NOT NULL,
    addr text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT agent_address_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_adp_card (
    aid text COLLATE "C" NOT NULL,
    card bytea NOT NULL,
    CONSTRAINT agent_adp_card_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_cap (
    aid text COLLATE "C" NOT NULL,
    cap text COLLATE "C" NOT NULL,
    skill boolean NOT NULL,
    rank_rating integer NOT NULL,
    rank_reviews integer NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_cap_pk PRIMARY KEY (aid, cap)
);

CREATE TABLE agent_card (
    aid text COLLATE "C" NOT NULL,
    card bytea NOT NULL,
    verified_at timestamp with time zone NOT NULL,
    tags text[] NOT NULL,
    search text NOT NULL,
    CONSTRAINT agent_card_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_card_tag (
    tag text COLLATE "C" NOT NULL,
    aid text COLLATE "C" NOT NULL,
    CONSTRAINT agent_card_tag_pk PRIMARY KEY (tag, aid)
);

CREATE TABLE agent_keyset (
    aid text COLLATE "C" NOT NULL,
    keyset bytea NOT NULL,
    CONSTRAINT agent_keyset_pk PRIMARY KEY (aid)
);

CREATE TABLE agent_seen (
    aid text COLLATE "C" NOT NULL,
    last_seen timestamp with time zone,
    away boolean DEFAULT false NOT NULL,
    CONSTRAINT agent_seen_pk PRIMARY KEY (aid)
) WITH (fillfactor=70);

CREATE TABLE attestation (
    witness text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    head_id text COLLATE "C" NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    signed bytea NOT NULL,
    CONSTRAINT attestation_pk PRIMARY KEY (witness, seq)
);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    at timestamp with time zone NOT NULL,
    who text NOT NULL,
    how text NOT NULL,
    what text NOT NULL,
    target text NOT NULL,
    why text NOT NULL,
    detail jsonb NOT NULL,
    CONSTRAINT audit_pk PRIMARY KEY (id)
);

CREATE TABLE backup (
    sha256 bytea NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    bytes bigint NOT NULL,
    proven_at timestamp with time zone,
    CONSTRAINT backup_pk PRIMARY KEY (sha256)
);

CREATE TABLE block (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    aid text COLLATE "C",
    host cidr,
    why text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT block_aid_uq UNIQUE (aid),
    CONSTRAINT block_host_uq UNIQUE (host),
    CONSTRAINT block_pk PRIMARY KEY (id),
    CONSTRAINT block_target_ck CHECK ((num_nonnulls(aid, host) = 1))
);

CREATE TABLE clearing (
    aid text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    most bigint NOT NULL,
    owed bigint DEFAULT 0 NOT NULL,
    due bigint DEFAULT 0 NOT NULL,
    CONSTRAINT clearing_pk PRIMARY KEY (aid),
    CONSTRAINT clearing_sums_ck CHECK (((most >= 0) AND (owed >= 0) AND (due >= 0)))
);

CREATE TABLE directory_count (
    name text NOT NULL,
    shard smallint NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT directory_count_pk PRIMARY KEY (name, shard)
) WITH (fillfactor=30);

CREATE TABLE directory_tour (
    one boolean DEFAULT true NOT NULL,
    began_at timestamp with time zone NOT NULL,
    after text COLLATE "C" NOT NULL,
    CONSTRAINT directory_tour_one_ck CHECK (one),
    CONSTRAINT directory_tour_pk PRIMARY KEY (one)
);

CREATE TABLE discharge (
    auth_id text COLLATE "C" NOT NULL,
    hub text COLLATE "C" NOT NULL,
    ours boolean NOT NULL,
    amount bigint NOT NULL,
    receipt bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    done_at timestamp with time zone,
    CONSTRAINT discharge_amount_ck CHECK ((amount >= 1)),
    CONSTRAINT discharge_pk PRIMARY KEY (auth_id)
);

CREATE TABLE feed (
    stream smallint NOT NULL,
    aid text COLLATE "C" NOT NULL,
    fed_seq bigint NOT NULL,
    withdrawn text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL,
    size integer NOT NULL,
    CONSTRAINT feed_order_uq UNIQUE (stream, fed_seq),
    CONSTRAINT feed_pk PRIMARY KEY (stream, aid),
    CONSTRAINT feed_stream_ck CHECK ((stream = ANY (ARRAY[1, 2])))
);

CREATE TABLE feed_dirty (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    aid text COLLATE "C" NOT NULL,
    CONSTRAINT feed_dirty_pk PRIMARY KEY (id)
);

CREATE TABLE feed_head (
    one boolean DEFAULT true NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT feed_head_one_ck CHECK (one),
    CONSTRAINT feed_head_pk PRIMARY KEY (one)
);

CREATE TABLE forwarded (
    payload_cid text COLLATE "C" NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    CONSTRAINT forwarded_pk PRIMARY KEY (payload_cid)
);

CREATE TABLE gateway_offer (
    aid text COLLATE "C" NOT NULL,
    capability text COLLATE "C" NOT NULL,
    price bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT gateway_offer_pk PRIMARY KEY (aid, capability)
);

CREATE TABLE grant_due (
    aid text COLLATE "C" NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT grant_due_pk PRIMARY KEY (aid)
);

CREATE TABLE hub_absence (
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    CONSTRAINT hub_absence_order_ck CHECK ((began_at < ended_at)),
    CONSTRAINT hub_absence_pk PRIMARY KEY (ended_at)
);

CREATE TABLE hub_identity (
    id boolean DEFAULT true NOT NULL,
    version bigint NOT NULL,
    blob bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT hub_identity_pkey PRIMARY KEY (id),
    CONSTRAINT hub_identity_single CHECK (id)
);

CREATE TABLE hub_presence (
    one boolean DEFAULT true NOT NULL,
    beat_at timestamp with time zone NOT NULL,
    quiet_after interval,
    hidden_after interval,
    CONSTRAINT hub_presence_one_ck CHECK (one),
    CONSTRAINT hub_presence_pk PRIMARY KEY (one)
);

CREATE TABLE invite (
    id text COLLATE "C" NOT NULL,
    token_hash text COLLATE "C" NOT NULL,
    label text NOT NULL,
    max_uses integer NOT NULL,
    uses integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT invite_pk PRIMARY KEY (id),
    CONSTRAINT invite_token_uq UNIQUE (token_hash),
    CONSTRAINT invite_uses_ck CHECK (((uses >= 0) AND (max_uses >= 0) AND ((max_uses = 0) OR (uses <= max_uses))))
);

CREATE TABLE invite_use (
    invite_id text COLLATE "C" NOT NULL,
    aid text COLLATE "C" NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT invite_use_pk PRIMARY KEY (invite_id, aid)
);

CREATE TABLE issuance (
    seq bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    aid text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone NOT NULL,
    record bytea NOT NULL,
    CONSTRAINT issuance_amount_ck CHECK ((amount >= 1)),
    CONSTRAINT issuance_id_uq UNIQUE (id),
    CONSTRAINT issuance_pk PRIMARY KEY (seq)
);

CREATE TABLE known_elsewhere (
    aid text COLLATE "C" NOT NULL,
    kel bytea NOT NULL,
    card_seq bigint,
    card_hash bytea,
    adp_seq bigint,
    taught_by integer NOT NULL,
    since timestamp with time zone NOT NULL,
    rating_sum bigint DEFAULT 0 NOT NULL,
    rating_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT known_elsewhere_pk PRIMARY KEY (aid)
);

CREATE TABLE learned (
    aid text COLLATE "C" NOT NULL,
    peer_id integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    entry bytea NOT NULL,
    card bytea NOT NULL,
    keyset bytea,
    home text NOT NULL,
    fed_seq bigint NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    summary text NOT NULL,
    caps text[] NOT NULL,
    tags text[] NOT NULL,
    search text NOT NULL,
    card_search text NOT NULL,
    view bytea NOT NULL,
    listed boolean NOT NULL,
    rating_sum bigint NOT NULL,
    rating_count bigint NOT NULL,
    rank_rating integer NOT NULL,
    rank_reviews integer NOT NULL,
    taught_at timestamp with time zone NOT NULL,
    verified_at timestamp with time zone NOT NULL,
    told integer NOT NULL,
    size integer NOT NULL,
    shown boolean DEFAULT false NOT NULL,
    stale boolean DEFAULT false NOT NULL,
    CONSTRAINT learned_pk PRIMARY KEY (aid, peer_id, stream),
    CONSTRAINT learned_stream_ck CHECK ((stream = ANY (ARRAY['adp-cards'::text, 'cards'::text])))
);

CREATE TABLE learned_review (
    subject text COLLATE "C" NOT NULL,
    interaction text COLLATE "C" NOT NULL,
    reviewer text COLLATE "C" NOT NULL,
    peer_id integer NOT NULL,
    rating smallint NOT NULL,
    receipt bytea NOT NULL,
    review bytea NOT NULL,
    fed_seq bigint NOT NULL,
    told integer NOT NULL,
    size integer NOT NULL,
    CONSTRAINT learned_review_pk PRIMARY KEY (subject, interaction, reviewer, peer_id),
    CONSTRAINT learned_review_rating_ck CHECK (((rating >= 1) AND (rating <= 5)))
);

CREATE TABLE ledger (
    one boolean DEFAULT true NOT NULL,
    head_seq bigint NOT NULL,
    head_id text COLLATE "C" NOT NULL,
    issued bigint NOT NULL,
    retired bigint NOT NULL,
    read_only_since timestamp with time zone,
    CONSTRAINT ledger_one_ck CHECK (one),
    CONSTRAINT ledger_pk PRIMARY KEY (one),
    CONSTRAINT ledger_supply_ck CHECK (((retired >= 0) AND (retired <= issued)))
) WITH (fillfactor=30);

CREATE TABLE mailbox (
    aid text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    last_id bigint NOT NULL,
    count bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT mailbox_count_ck CHECK (((count >= 0) AND (bytes >= 0))),
    CONSTRAINT mailbox_pk PRIMARY KEY (aid)
) WITH (fillfactor=70);

CREATE TABLE member (
    aid text COLLATE "C" NOT NULL,
    kel bytea NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    card_seq bigint,
    card_hash bytea,
    adp_seq bigint,
    hidden_at timestamp with time zone,
    rating_sum bigint DEFAULT 0 NOT NULL,
    rating_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT member_pk PRIMARY KEY (aid)
);

CREATE TABLE message (
    to_aid text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    size integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    envelope bytea NOT NULL,
    CONSTRAINT message_pk PRIMARY KEY (to_aid, id)
);

CREATE TABLE peer (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    "position" integer NOT NULL,
    aid text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    delivery boolean NOT NULL,
    discovery boolean NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    from_file boolean DEFAULT false NOT NULL,
    kel bytea,
    revision bigint DEFAULT 1 NOT NULL,
    added_at timestamp with time zone NOT NULL,
    proved_at timestamp with time zone,
    tried_at timestamp with time zone,
    next_try_at timestamp with time zone NOT NULL,
    last_success_at timestamp with time zone,
    last_refused_at timestamp with time zone,
    last_refusal text COLLATE "C" DEFAULT ''::text NOT NULL,
    last_refusal_why text DEFAULT ''::text NOT NULL,
    astray boolean DEFAULT false NOT NULL,
    CONSTRAINT peer_aid_uq UNIQUE (aid),
    CONSTRAINT peer_endpoint_uq UNIQUE (endpoint),
    CONSTRAINT peer_name_uq UNIQUE (name),
    CONSTRAINT peer_pk PRIMARY KEY (id),
    CONSTRAINT peer_proved_ck CHECK (((kel IS NULL) = (proved_at IS NULL)))
);

CREATE TABLE peer_payment (
    auth_id text COLLATE "C" NOT NULL,
    hub text COLLATE "C" NOT NULL,
    payer text COLLATE "C" NOT NULL,
    pay_to text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    signed bytea NOT NULL,
    receipt bytea NOT NULL,
    answer bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT peer_payment_amount_ck CHECK ((amount >= 1)),
    CONSTRAINT peer_payment_pk PRIMARY KEY (auth_id)
);

CREATE TABLE pull (
    peer_id integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    read_to bigint DEFAULT 0 NOT NULL,
    round integer DEFAULT 0 NOT NULL,
    calm integer DEFAULT 0 NOT NULL,
    pass integer DEFAULT 1 NOT NULL,
    passing boolean DEFAULT true NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    refusal text DEFAULT ''::text NOT NULL,
    refused_at timestamp with time zone,
    next_at timestamp with time zone NOT NULL,
    leased_by text COLLATE "C" DEFAULT ''::text NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    last_ok_at timestamp with time zone,
    CONSTRAINT pull_pk PRIMARY KEY (peer_id, stream),
    CONSTRAINT pull_stream_ck CHECK ((stream = ANY (ARRAY['adp-cards'::text, 'cards'::text, 'reviews'::text])))
) WITH (fillfactor=50);

CREATE TABLE pull_held (
    peer_id integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    aid text COLLATE "C" NOT NULL,
    fed_seq bigint NOT NULL,
    reason text NOT NULL,
    retry_at timestamp with time zone,
    told integer NOT NULL,
    CONSTRAINT pull_held_pk PRIMARY KEY (peer_id, stream, aid)
);

CREATE TABLE redemption (
    auth_id text COLLATE "C" NOT NULL,
    aid text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    amount bigint NOT NULL,
    reference text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT redemption_aid_uq UNIQUE (aid, n),
    CONSTRAINT redemption_amount_ck CHECK ((amount >= 1)),
    CONSTRAINT redemption_pk PRIMARY KEY (auth_id)
);

CREATE TABLE replay (
    slot smallint NOT NULL,
    key uuid NOT NULL,
    CONSTRAINT replay_pk PRIMARY KEY (slot, key)
) PARTITION BY LIST (slot);

CREATE UNLOGGED TABLE replay_00 PARTITION OF replay FOR VALUES IN ('0');

CREATE UNLOGGED TABLE replay_01 PARTITION OF replay FOR VALUES IN ('1');

CREATE UNLOGGED TABLE replay_02 PARTITION OF replay FOR VALUES IN ('2');

CREATE UNLOGGED TABLE replay_03 PARTITION OF replay FOR VALUES IN ('3');

CREATE UNLOGGED TABLE replay_04 PARTITION OF replay FOR VALUES IN ('4');

CREATE UNLOGGED TABLE replay_05 PARTITION OF replay FOR VALUES IN ('5');

CREATE UNLOGGED TABLE replay_06 PARTITION OF replay FOR VALUES IN ('6');

CREATE UNLOGGED TABLE replay_07 PARTITION OF replay FOR VALUES IN ('7');

CREATE UNLOGGED TABLE replay_08 PARTITION OF replay FOR VALUES IN ('8');

CREATE UNLOGGED TABLE replay_09 PARTITION OF replay FOR VALUES IN ('9');

CREATE UNLOGGED TABLE replay_10 PARTITION OF replay FOR VALUES IN ('10');

CREATE UNLOGGED TABLE replay_11 PARTITION OF replay FOR VALUES IN ('11');

CREATE UNLOGGED TABLE replay_12 PARTITION OF replay FOR VALUES IN ('12');

CREATE UNLOGGED TABLE replay_13 PARTITION OF replay FOR VALUES IN ('13');

CREATE UNLOGGED TABLE replay_14 PARTITION OF replay FOR VALUES IN ('14');

CREATE UNLOGGED TABLE replay_15 PARTITION OF replay FOR VALUES IN ('15');

CREATE TABLE replay_ahead (
    key uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT replay_ahead_pk PRIMARY KEY (key)
);

CREATE UNLOGGED TABLE replay_count (
    aid text COLLATE "C" NOT NULL,
    minute bigint NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT replay_count_pk PRIMARY KEY (aid, minute)
);

CREATE UNLOGGED TABLE replay_epoch (
    one boolean DEFAULT true NOT NULL,
    accept_from timestamp with time zone NOT NULL,
    CONSTRAINT replay_epoch_one_ck CHECK (one),
    CONSTRAINT replay_epoch_pk PRIMARY KEY (one)
);

CREATE TABLE review (
    interaction text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    reviewer text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    rating smallint NOT NULL,
    receipt bytea NOT NULL,
    review bytea NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    CONSTRAINT review_pk PRIMARY KEY (interaction, subject, reviewer),
    CONSTRAINT review_rating_ck CHECK (((rating >= 1) AND (rating <= 5))),
    CONSTRAINT review_seq_uq UNIQUE (seq)
);

CREATE TABLE review_total (
    one boolean DEFAULT true NOT NULL,
    seq bigint NOT NULL,
    reviews bigint NOT NULL,
    rating_sum bigint NOT NULL,
    CONSTRAINT review_total_one_ck CHECK (one),
    CONSTRAINT review_total_pk PRIMARY KEY (one)
) WITH (fillfactor=30);

CREATE TABLE schema_compat (
    version bigint NOT NULL,
    min_program bigint NOT NULL,
    CONSTRAINT schema_compat_order_ck CHECK ((min_program <= version)),
    CONSTRAINT schema_compat_pk PRIMARY KEY (version)
);

CREATE TABLE settlement (
    auth_id text COLLATE "C" NOT NULL,
    payer text COLLATE "C" NOT NULL,
    pay_to text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    interaction text COLLATE "C",
    signed bytea NOT NULL,
    receipt bytea NOT NULL,
    settled_at timestamp with time zone NOT NULL,
    capability text COLLATE "C",
    voucher bytea,
    due_to text COLLATE "C",
    CONSTRAINT settlement_amount_ck CHECK ((amount >= 1)),
    CONSTRAINT settlement_binding_uq UNIQUE (payer, interaction),
    CONSTRAINT settlement_pk PRIMARY KEY (auth_id),
    CONSTRAINT settlement_voucher_ck CHECK (((capability IS NULL) = (voucher IS NULL)))
);

CREATE TABLE teacher (
    peer_id integer NOT NULL,
    listed boolean DEFAULT true NOT NULL,
    tour text COLLATE "C",
    heard_at timestamp with time zone NOT NULL,
    agents bigint DEFAULT 0 NOT NULL,
    marks bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    reviews bigint,
    CONSTRAINT teacher_pk PRIMARY KEY (peer_id)
) WITH (fillfactor=50);

CREATE TABLE witnessed (
    hub text COLLATE "C" NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    head_id text COLLATE "C" DEFAULT ''::text NOT NULL,
    signed bytea,
    observed_at timestamp with time zone,
    next_at timestamp with time zone NOT NULL,
    CONSTRAINT witnessed_pk PRIMARY KEY (hub)
);

ALTER TABLE message ALTER COLUMN envelope SET STORAGE EXTERNAL;

CREATE INDEX agent_cap_order ON public.agent_cap USING btree (cap, rank_rating, rank_reviews, registered_at, aid);

CREATE INDEX agent_cap_skill ON public.agent_cap USING btree (cap, aid) WHERE skill;

CREATE INDEX agent_listed ON public.agent USING btree (rank_rating, rank_reviews, registered_at, aid) WHERE listed;

CREATE INDEX attestation_latest ON public.attestation USING btree (seq DESC, witness);

CREATE INDEX audit_at ON public.audit USING btree (at, id);

CREATE INDEX block_hosts ON public.block USING gist (host inet_ops);

CREATE UNIQUE INDEX discharge_under_way ON public.discharge USING btree (hub) WHERE (ours AND (done_at IS NULL));

CREATE INDEX forwarded_claimed ON public.forwarded USING btree (claimed_at);

CREATE INDEX learned_cards ON public.learned USING btree (aid) WHERE (shown AND (stream = 'cards'::text));

CREATE INDEX learned_order ON public.learned USING btree (rank_rating, rank_reviews, taught_at, aid) WHERE (shown AND listed);

CREATE INDEX learned_peer ON public.learned USING btree (peer_id, aid);

CREATE INDEX learned_review_peer ON public.learned_review USING btree (peer_id);

CREATE UNIQUE INDEX learned_shown ON public.learned USING btree (aid) WHERE shown;

CREATE INDEX message_created ON public.message USING btree (created_at);

CREATE INDEX review_subject ON public.review USING btree (subject, ((- seq)));

ALTER TABLE agent ADD CONSTRAINT agent_member_fk FOREIGN KEY (aid) REFERENCES member(aid);

ALTER TABLE gateway_offer ADD CONSTRAINT gateway_offer_card_fk FOREIGN KEY (aid) REFERENCES agent_adp_card(aid) ON DELETE CASCADE;

ALTER TABLE invite_use ADD CONSTRAINT invite_use_invite_fk FOREIGN KEY (invite_id) REFERENCES invite(id) ON DELETE CASCADE;

ALTER TABLE invite_use ADD CONSTRAINT invite_use_member_fk FOREIGN KEY (aid) REFERENCES member(aid);

ALTER TABLE learned ADD CONSTRAINT learned_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher(peer_id) ON DELETE CASCADE;

ALTER TABLE learned_review ADD CONSTRAINT learned_review_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher(peer_id) ON DELETE CASCADE;

ALTER TABLE pull ADD CONSTRAINT pull_teacher_fk FOREIGN KEY (peer_id) REFERENCES teacher(peer_id) ON DELETE CASCADE;

ALTER TABLE pull_held ADD CONSTRAINT pull_held_pull_fk FOREIGN KEY (peer_id, stream) REFERENCES pull(peer_id, stream) ON DELETE CASCADE;

ALTER TABLE teacher ADD CONSTRAINT teacher_peer_fk FOREIGN KEY (peer_id) REFERENCES peer(id) ON DELETE CASCADE;
