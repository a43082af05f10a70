package evidence_test

import (
	"errors"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	. "github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

const ms = uint64(testkit.NowMS)

func TestVectorsEvidence(t *testing.T) { vectors.Test(t, "testdata/evidence.json") }

// exchange signs a receipt and a review of it.
func exchange(t *testing.T, receipt Receipt, review Review, signer, reviewer *identity.Controller) (SignedReceipt, SignedReview) {
	t.Helper()
	wire, id, err := SignReceipt(signer, receipt)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseReceipt(wire)
	if err != nil || r.ID() != id {
		t.Fatalf("ParseReceipt = %+v, %v", r, err)
	}
	if review.ReceiptCID == "" {
		review.ReceiptCID = id
	}
	if wire, _, err = SignReview(reviewer, review); err != nil {
		t.Fatal(err)
	}
	v, err := ParseReview(wire)
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

func TestInterlock(t *testing.T) {
	provider, requester, stranger := testkit.Agent(t, 1), testkit.Agent(t, 2), testkit.Agent(t, 3)
	rotated := testkit.Rotated(t, requester, testkit.Now)
	receipt := Receipt{"ix", requester.AID(), provider.AID(), codec.CID([]byte("q")), codec.CID([]byte("a")), ms}
	review := Review{Interaction: "ix", Subject: provider.AID(), Reviewer: requester.AID(), Rating: 5, CreatedAt: ms}
	with := func(change func(*Review)) Review { v := review; change(&v); return v }
	for _, tt := range []struct {
		name             string
		review           Review
		signer, reviewer *identity.Controller
		history          *identity.History
		want             string
	}{
		{"as it should be", review, provider, requester, requester.History(), ""},
		{"rating 0", with(func(v *Review) { v.Rating = 0 }), provider, requester, requester.History(), "rating_out_of_range"},
		{"rating 6", with(func(v *Review) { v.Rating = 6 }), provider, requester, requester.History(), "rating_out_of_range"},
		{"another interaction", with(func(v *Review) { v.Interaction = "iy" }), provider, requester, requester.History(), "review_other_interaction"},
		{"a stranger reviews", with(func(v *Review) { v.Reviewer = stranger.AID() }), provider, stranger, stranger.History(), "reviewer_not_requester"},
		{"about a stranger", with(func(v *Review) { v.Subject = stranger.AID() }), provider, requester, requester.History(), "subject_not_provider"},
		{"another receipt", with(func(v *Review) { v.ReceiptCID = codec.CID(nil) }), provider, requester, requester.History(), "review_other_receipt"},
		{"receipt signed by the requester", review, requester, requester, requester.History(), "receipt_wrong_signer"},
		{"review signed by a stranger", review, provider, stranger, stranger.History(), "review_wrong_signer"},
		{"reviewer's key retired by then", review, provider, requester, rotated.History(), "review_bad_signature"},
		{"reviewer's history unknown", review, provider, requester, nil, "review_bad_signature"},
	} {
		r, v := exchange(t, receipt, tt.review, tt.signer, tt.reviewer)
		if got := testkit.Reason(Interlock(r, v, provider.History(), tt.history)); got != tt.want {
			t.Errorf("%s: reason = %q, want %q", tt.name, got, tt.want)
		}
	}
	r, v := exchange(t, receipt, review, provider, requester)
	if got := testkit.Reason(Interlock(r, v, nil, requester.History())); got != "receipt_bad_signature" {
		t.Errorf("provider's history unknown: reason = %q", got)
	}
}

func TestMatchContent(t *testing.T) {
	r := Receipt{RequestCID: codec.CID([]byte("q")), ResultCID: codec.CID([]byte("a"))}
	for _, tt := range []struct{ name, request, result, want string }{
		{"both", "q", "a", ""},
		{"another request", "x", "a", "receipt_other_request"},
		{"another result", "q", "x", "receipt_other_result"},
	} {
		if got := testkit.Reason(r.MatchContent([]byte(tt.request), []byte(tt.result))); got != tt.want {
			t.Errorf("%s: reason = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// chain makes a chain of n records, read back as they travel.
func chain(t testing.TB, c *identity.Controller, n int) []Record {
	t.Helper()
	var head Head
	var records []Record
	for i := range n {
		made, err := Append(c, head, "test", map[string]int{"n": i, "": 1}, testkit.Now)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := made.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseRecord(wire)
		if err != nil {
			t.Fatal(err)
		}
		records, head = append(records, r), r.Head()
	}
	return records
}

func TestVerifyChain(t *testing.T) {
	c, other := testkit.Agent(t, 1), testkit.Agent(t, 2)
	history := func(aid string) (*identity.History, error) {
		switch aid {
		case c.AID():
			return c.History(), nil
		case other.AID():
			return other.History(), nil
		}
		return nil, errors.New("unknown")
	}
	for _, tt := range []struct {
		name   string
		change func(rs []Record) []Record
		ok     bool
	}{
		{"whole", func(rs []Record) []Record { return rs }, true},
		{"cut off behind", func(rs []Record) []Record { return rs[:2] }, true},
		{"no record", func([]Record) []Record { return nil }, true},
		{"beginning missing", func(rs []Record) []Record { return rs[1:] }, false},
		{"one missing", func(rs []Record) []Record { return append(rs[:1], rs[2:]...) }, false},
		{"payload changed", func(rs []Record) []Record { rs[1].Payload = codec.RawMessage{0}; return rs }, false},
		{"payload written longer", func(rs []Record) []Record {
			rs[1].Payload = codec.RawMessage("\xa2\x60\x18\x01\x61n\x01")
			return rs
		}, true},
		{"id changed", func(rs []Record) []Record { rs[2].ID = rs[1].ID; return rs }, false},
		{"signature of another record", func(rs []Record) []Record { rs[1].Sig = rs[0].Sig; return rs }, false},
		{"another chain's record", func(rs []Record) []Record { rs[2] = chain(t, other, 3)[2]; return rs }, false},
		{"unsigned members changed", func(rs []Record) []Record { rs[0].Minor, rs[0].Corr = 7, "x"; return rs }, true},
		{"unknown signer", func([]Record) []Record { return chain(t, testkit.Agent(t, 3), 1) }, false},
	} {
		rs := tt.change(chain(t, c, 3))
		head, err := VerifyChain(Head{}, rs, history)
		if (err == nil) != tt.ok || tt.ok && head.Seq != uint64(len(rs)) {
			t.Errorf("%s: head = %+v, error = %v, want ok %v", tt.name, head, err, tt.ok)
		}
	}
	rs := chain(t, c, 3)
	if _, err := VerifyChain(rs[1].Head(), rs[2:], history); err != nil {
		t.Errorf("going on from a known head: %v", err)
	}
}

func TestAttestation(t *testing.T) {
	ledger, witness := testkit.Agent(t, 1), testkit.Agent(t, 2)
	seen := Attestation{Chain: ledger.AID(), Seq: 1, HeadID: codec.CID(nil), ObservedAt: ms}
	wire, _, err := Attest(witness, seen)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAttestation(wire)
	if err != nil || a.Attestation != seen {
		t.Fatalf("ParseAttestation = %+v, %v", a, err)
	}
	own, empty := a, a
	own.Env.Signer, empty.Seq = ledger.AID(), 0
	for _, tt := range []struct {
		name  string
		a     SignedAttestation
		chain string
		by    *identity.History
		want  string
	}{
		{"as it should be", a, ledger.AID(), witness.History(), ""},
		{"another chain", a, "else", witness.History(), "attestation_other_chain"},
		{"its own chain", own, ledger.AID(), ledger.History(), "attestation_own_chain"},
		{"an empty chain", empty, ledger.AID(), witness.History(), "attestation_empty_chain"},
		{"a witness nobody knows", a, ledger.AID(), nil, "attestation_bad_signature"},
	} {
		if got := testkit.Reason(tt.a.Verify(tt.chain, tt.by)); got != tt.want {
			t.Errorf("%s: reason = %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, _, err := Attest(ledger, seen); testkit.Reason(err) != "attestation_own_chain" {
		t.Errorf("Attest of the own chain: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	c := testkit.Agent(f, 1)
	wire, _, err := SignReceipt(c, Receipt{Interaction: "ix", Provider: c.AID()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	record, err := chain(f, c, 1)[0].Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	vectors.Seeds(f, "testdata/evidence.json")
	f.Fuzz(func(t *testing.T, wire []byte) {
		if r, err := ParseReceipt(wire); err == nil {
			_ = r.Verify(c.History())
		}
		if v, err := ParseReview(wire); err == nil && v.ID() == "" {
			t.Fatal("a review without an id")
		}
		if a, err := ParseAttestation(wire); err == nil {
			_ = a.Verify(a.Chain, c.History())
		}
		if r, err := ParseRecord(wire); err == nil {
			known := func(string) (*identity.History, error) { return c.History(), nil }
			_, _ = VerifyChain(Head{}, []Record{r}, known)
		}
	})
}
