package cli

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/postgres"
)

const lab = "bafyreigtala4crn2jjs7fzyuaxsknhnstc7joihe6n6gw6tg42ujzc2qbe"

// owes has a hub that is a peer owe this one credits, and be owed some.
func (o *operator) owes(aid string, owed, due int) {
	o.t.Helper()
	db, err := postgres.Open(o.t.Context(), postgres.Options{URL: o.env[app.EnvDatabaseURL]})
	if err != nil {
		o.t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Pool.Exec(o.t.Context(), `INSERT INTO clearing (aid, is_open, most, owed, due) VALUES ($1, true, 100, $2, $3)`, aid, owed, due)
	if err != nil {
		o.t.Fatal(err)
	}
}

// Nobody can clear what a hub owes that is no peer: it is shown, kept from getting lost
// unnoticed, and shown again afterwards.
func TestAPeerIsNotRemovedWithItsDebts(t *testing.T) {
	o := newOperator(t)
	o.wants(0, "peer", "add", "https://127.0.0.1:1", "--peer-allow-range", "127.0.0.0/8", "--name", "lab", "--aid", lab)
	var v struct {
		Name      string
		Owed, Due uint64
	}
	if o.read(&v, 0, "peer", "remove", "lab", "--dry-run"); v.Name != "lab" || v.Owed != 0 || v.Due != 0 {
		t.Errorf("without debts: %+v", v)
	}
	o.owes(lab, 30, 12)
	if o.read(&v, 0, "peer", "remove", "lab", "--dry-run"); v.Owed != 30 || v.Due != 12 {
		t.Errorf("what goes with it: %+v", v)
	}
	if _, said := o.wants(1, "peer", "remove", "lab", "--yes"); !strings.Contains(said, "owes this hub 30 credits, and is owed 12") {
		t.Errorf("the refusal says %s", said)
	}
	o.wants(0, "peer", "show", "lab")
	if _, said := o.wants(2, "peer", "remove", "lab", "--leave-debt"); !strings.Contains(said, "nobody can clear it") {
		t.Errorf("the question says %s", said)
	}
	o.wants(0, "peer", "remove", "lab", "--leave-debt", "--yes")
	if out, _ := o.wants(0, "credit", "due"); !strings.Contains(out, "30") || !strings.Contains(out, lab) {
		t.Errorf("what stays owed is not shown:\n%s", out)
	}
	if out, _ := o.wants(0, "audit", "--json"); !strings.Contains(out, `"owed": 30`) {
		t.Errorf("the act does not say what was left:\n%s", out)
	}
	o.wants(0, "peer", "add", "https://127.0.0.1:1", "--peer-allow-range", "127.0.0.0/8", "--name", "lab", "--aid", lab)
	if out, _ := o.wants(0, "credit", "due"); !strings.Contains(out, "lab") {
		t.Errorf("a peer again, it can be cleared with:\n%s", out)
	}
}
