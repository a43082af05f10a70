package app

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/shared/errs"
)

// operatorsOwn are codes of these packages that an operator is told when typing,
// with what to do in the sentence.
var operatorsOwn = []string{
	"peer_unknown", "peer_known", "peer_endpoint_taken", "peer_name_taken", "peer_name_invalid", "peer_aid_invalid",
	"peer_endpoint_invalid", "peer_is_self", "peer_unchanged", "peer_in_file", "peer_in_debt", "more_than_owed", "peers_file_invalid", "hub_identity_missing",
}

// The page on federation says what to do about every failure between hubs: what
// calls of peers fail with, what entries are refused for, and each label.
func TestThePageOnFederationKnowsEveryFailure(t *testing.T) {
	raw, err := os.ReadFile("../../docs/federation.md")
	if err != nil {
		t.Fatal(err)
	}
	page, wanted := string(raw), map[string]bool{}
	failures(t, []string{"../internal/outbound", "../internal/peers", "../internal/learned"}, func(_ string, _ errs.Kind, code string) {
		wanted[code] = true
	})
	for _, o := range apitest.Load(t).Operations() {
		for _, status := range o.Statuses() {
			codes, _ := o.Codes(status)
			for _, code := range codes {
				wanted[code] = wanted[code] || strings.HasPrefix(o.Path, "/fed/")
			}
		}
	}
	for code := range maps.Keys(wanted) {
		if wanted[code] && !slices.Contains(operatorsOwn, code) && !strings.Contains(page, "`"+code+"`") {
			t.Errorf("docs/federation.md says nothing of %s", code)
		}
	}
}
