package postgres

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// changes are what a registration writes. What did not change is not rewritten,
// above all not the rows of agent_cap with their indexes.
func changes(rec directory.Record, ch directory.Change, now time.Time) (*pgx.Batch, error) {
	var b pgx.Batch
	args, err := agentArgs(ch.Agent)
	if err != nil {
		return nil, err
	}
	queueMember(&b, rec, ch)
	queueGrant(&b, rec, ch.Agent.AID, now)
	if ch.Repeat != nil {
		args["body_hash"], args["body_until"], args["answered"] = ch.Body[:], orNull(ch.Until), ch.Repeat
	}
	b.Queue(upsertAgentSQL, args)
	queueHome(&b, rec, ch.Agent)
	queueCaps(&b, rec.Agent, ch.Agent)
	queueListed(&b, rec.Agent != nil && rec.Agent.InLists(), ch.Agent.InLists())
	queueCard(&b, ch.Agent.AID, len(rec.Card) > 0, ch.Card)
	queueParts(&b, ch)
	if retold(rec, ch) {
		queueMark(&b, ch.Agent.AID)
	}
	switch {
	case rec.Agent == nil:
		b.Queue(`INSERT INTO agent_seen (aid) VALUES (@aid)`, pgx.NamedArgs{"aid": ch.Agent.AID})
		queueRedeem(&b, ch.Redeem, ch.Agent.AID, now)
		queueMailbox(&b, ch.Agent.AID, now)
	case rec.Agent.Away:
		b.Queue(`UPDATE agent_seen SET away = false, last_seen = greatest(last_seen, @now) WHERE aid = @aid`,
			pgx.NamedArgs{"aid": ch.Agent.AID, "now": now})
	}
	return &b, nil
}

// queueHome has an agent that was known from peers be one of this hub: its own
// word takes the place of theirs in lists, before its capabilities come there, and
// what was said of it here is said of a member.
func queueHome(b *pgx.Batch, rec directory.Record, a directory.Agent) {
	if rec.Elsewhere.Shown {
		queueChange(b, []string{a.AID}, func() {})
	}
	if r := rec.Elsewhere.Rating; r.Count > 0 {
		args := pgx.NamedArgs{"aid": a.AID, "sum": r.Sum, "count": r.Count}
		b.Queue(`UPDATE member SET rating_sum = rating_sum + @sum, rating_count = rating_count + @count WHERE aid = @aid`, args)
		b.Queue(`UPDATE known_elsewhere SET rating_sum = 0, rating_count = 0 WHERE aid = @aid`, args)
	}
}

// queueMember moves what outlives the registration.
func queueMember(b *pgx.Batch, rec directory.Record, ch directory.Change) {
	if bytes.Equal(rec.KEL, ch.KEL) && ch.Card.Store == nil && ch.ADP == nil {
		return
	}
	args := pgx.NamedArgs{"aid": ch.Agent.AID, "kel": ch.KEL, "card_seq": nil, "card_hash": nil, "adp_seq": nil}
	if c := ch.Card.Store; c != nil {
		args["card_seq"], args["card_hash"] = c.Mark.Seq, c.Mark.Hash[:]
	}
	if ch.ADP != nil {
		args["adp_seq"] = ch.ADP.Seq
	}
	b.Queue(`
		UPDATE member SET kel = @kel, card_seq = COALESCE(@card_seq, card_seq),
			card_hash = COALESCE(@card_hash, card_hash), adp_seq = COALESCE(@adp_seq, adp_seq)
		WHERE aid = @aid`, args)
}

// queueGrant notes that an AID that was never here has its grant to come. Booked
// here, registrations would queue for the end of the chain.
func queueGrant(b *pgx.Batch, rec directory.Record, aid string, now time.Time) {
	if rec.New {
		b.Queue(`INSERT INTO grant_due (aid, at) VALUES (@aid, @now)`, pgx.NamedArgs{"aid": aid, "now": now})
	}
}

// queueCaps brings the index of capabilities to what the agent offers now.
func queueCaps(b *pgx.Batch, before *directory.Agent, a directory.Agent) {
	if before != nil && sameIndex(*before, a) {
		return
	}
	caps := indexed(a)
	skills := make([]bool, len(caps), len(caps)+1)
	for i, c := range caps {
		skills[i] = a.IsSkill(c)
	}
	if len(caps) > 0 {
		caps, skills = append(caps, ""), append(skills, false) // what a lone * finds
	}
	place := a.Place()
	args := pgx.NamedArgs{"aid": a.AID, "caps": list(caps), "skills": skills,
		"rating": place.Rating, "reviews": place.Reviews, "registered_at": a.RegisteredAt}
	if before == nil || !before.Shown() {
		b.Queue(insertCapsSQL, args)
		return
	}
	b.Queue(`DELETE FROM agent_cap WHERE aid = @aid AND cap <> ALL (@caps)`, args)
	b.Queue(insertCapsSQL+`
		ON CONFLICT (aid, cap) DO UPDATE SET
			skill = EXCLUDED.skill, rank_rating = EXCLUDED.rank_rating, rank_reviews = EXCLUDED.rank_reviews
		WHERE (agent_cap.skill, agent_cap.rank_rating, agent_cap.rank_reviews)
		   <> (EXCLUDED.skill, EXCLUDED.rank_rating, EXCLUDED.rank_reviews)`, args)
}

const insertCapsSQL = `
	INSERT INTO agent_cap (aid, cap, skill, rank_rating, rank_reviews, registered_at)
	SELECT @aid, cap, skill, @rating, @reviews, @registered_at
	FROM unnest(@caps::text[], @skills::boolean[]) AS offered (cap, skill)`

// indexed is what the agent is found by: nothing while lists do not show it.
func indexed(a directory.Agent) []string {
	if !a.Shown() {
		return nil
	}
	return a.Caps()
}

func sameIndex(a, b directory.Agent) bool {
	return a.Place() == b.Place() && slices.Equal(indexed(a), indexed(b)) &&
		slices.Equal(a.UnsignedCaps(), b.UnsignedCaps())
}

// queueCard replaces the network card and the tags it is found by.
func queueCard(b *pgx.Batch, aid string, stored bool, ch directory.CardChange) {
	if stored && (ch.Store != nil || ch.Drop) {
		dropCard(b, aid)
	}
	c := ch.Store
	if c == nil {
		return
	}
	args := pgx.NamedArgs{"aid": aid, "card": c.Raw, "verified_at": c.VerifiedAt, "tags": list(c.Tags), "search": c.Search}
	b.Queue(`
		INSERT INTO agent_card (aid, card, verified_at, tags, search)
		VALUES (@aid, @card, @verified_at, @tags, @search)`, args)
	b.Queue(`INSERT INTO agent_card_tag (tag, aid) SELECT tag, @aid FROM unnest(@tags::text[]) AS t (tag)`, args)
}

func dropCard(b *pgx.Batch, aid string) {
	args := pgx.NamedArgs{"aid": aid}
	b.Queue(`
		DELETE FROM agent_card_tag t USING (SELECT unnest(tags) AS tag FROM agent_card WHERE aid = @aid) AS had
		WHERE t.tag = had.tag AND t.aid = @aid`, args)
	b.Queue(`DELETE FROM agent_card WHERE aid = @aid`, args)
}

// queueParts stores the key set and the older card where they are new.
func queueParts(b *pgx.Batch, ch directory.Change) {
	if ch.Keyset != nil {
		b.Queue(putKeysetSQL, pgx.NamedArgs{"aid": ch.Agent.AID, "keyset": ch.Keyset})
	}
	if ch.ADP != nil {
		b.Queue(`
			INSERT INTO agent_adp_card (aid, card) VALUES (@aid, @card)
			ON CONFLICT (aid) DO UPDATE SET card = EXCLUDED.card`,
			pgx.NamedArgs{"aid": ch.Agent.AID, "card": ch.ADP.Raw})
	}
	queueOffers(b, ch)
}

// queueOffers lists what a new older card sells, in place of what the last one did.
func queueOffers(b *pgx.Batch, ch directory.Change) {
	if ch.ADP != nil || ch.Lapsed {
		b.Queue(`DELETE FROM gateway_offer WHERE aid = @aid`, pgx.NamedArgs{"aid": ch.Agent.AID})
	}
	if ch.ADP == nil {
		return
	}
	prices := ch.ADP.Prices
	ids, amounts := slices.Sorted(maps.Keys(prices)), make([]int64, len(prices))
	for i, id := range ids {
		amounts[i] = int64(prices[id])
	}
	args := pgx.NamedArgs{"aid": ch.Agent.AID, "ids": list(ids), "amounts": amounts, "from": ch.ADP.From}
	b.Queue(`
		INSERT INTO gateway_offer (aid, capability, price, at)
		SELECT @aid, id, price, @from FROM unnest(@ids::text[], @amounts::bigint[]) AS o (id, price)`, args)
}

const putKeysetSQL = `
	INSERT INTO agent_keyset (aid, keyset) VALUES (@aid, @keyset)
	ON CONFLICT (aid) DO UPDATE SET keyset = EXCLUDED.keyset`

// queueListed counts who is listed. Each connection has a row of its own, as no
// two of its transactions are open at once: registrations would queue for a
// shared one until the other's commit is on disk.
func queueListed(b *pgx.Batch, before, after bool) {
	if before == after {
		return
	}
	n := 1
	if before {
		n = -1
	}
	b.Queue(`
		INSERT INTO directory_count (name, shard, n) VALUES ('agents', pg_backend_pid() % 1024, @n)
		ON CONFLICT (name, shard) DO UPDATE SET n = directory_count.n + EXCLUDED.n`, pgx.NamedArgs{"n": n})
}
