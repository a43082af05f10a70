package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// A hub that is restored forgets what was paid since the backup. It moves nothing
// until its books were audited, and then takes the forgotten payment once more: the
// payee, who holds the receipt of it, is not the one who loses.
func TestARestoredHubIsAuditedBeforeItPays(t *testing.T) {
	s := newStocked(t, false)
	s.granted(s.alice)
	s.granted(s.bob)
	if _, err := operator(t, s.url).BackupFile(t.Context(), s.file, true, false, audit.By{Who: "tester"}, none); err != nil {
		t.Fatal(err)
	}
	p := ledgertest.Pay(s.alice.Key, s.bob.AID(), s.hub, 25, time.Now()).For("a task")
	first := s.post("200", "/x402/settle", p.Request(t)).body

	url := pgtest.Empty(t)
	if err := restore(t, url, s.file, false); err != nil {
		t.Fatal(err)
	}
	a := startWith(t, url, func(*Config) {})
	again := &visitor{t: t, doc: s.doc, seen: sightings{}, base: "http://" + a.Addr(), hub: a.AID(), url: url}
	if got := again.post("200", "/x402/settle", p.Request(t)).body; got["errorReason"] != payment.SettlementPending {
		t.Errorf("before the audit: %v", got)
	}
	op := operator(t, url)
	report, err := op.Credits.Audit(t.Context())
	if err != nil || len(report.Wrong) > 0 || report.ReadOnly.IsZero() || report.Settlements != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := op.Credits.Reopen(t.Context(), byTester); err != nil {
		t.Fatal(err)
	}
	if got := again.post("200", "/x402/settle", p.Request(t)).body; got["success"] != true || got["transaction"] != first["transaction"] {
		t.Errorf("after the audit: %v", got)
	}
	testkit.Until(t, "requests signed since the restore are taken", func() bool {
		return again.do(again.signed(s.alice, "/agents/"+s.alice.AID()+"/balance", "")).status == http.StatusOK
	})
	for n, want := range map[*directorytest.Node]float64{s.alice: 75, s.bob: 125} {
		if got := again.credits(n); got != want {
			t.Errorf("%v credits, want %v", got, want)
		}
	}
	if acts, err := op.Audit.Acts(t.Context(), audit.Question{Limit: 1}); err != nil || len(acts) != 1 || acts[0].What != "credit.reopen" {
		t.Errorf("the audit log: %v, %v", acts, err)
	}
}
