package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/hub/pgtest"
)

const whatToDo = `see "An endpoint of the hub" in CONTRIBUTING.md`

// Every route is documented, and what is documented is served.
func TestRoutesAreThoseOfTheDocument(t *testing.T) {
	a := startWith(t, pgtest.URL(t), func(c *Config) { c.P2PPeers = true })
	served := map[string]bool{}
	if err := a.hub.api.Walk(func(method, pattern string) { served[method+" "+pattern] = true }); err != nil {
		t.Fatal(err)
	}
	for _, o := range apitest.Load(t).Operations() {
		if !served[o.String()] {
			t.Errorf("api/openapi.yaml documents %s, which is not served: take it out, or serve it in hub/internal/httpapi", o)
		}
		delete(served, o.String())
	}
	for _, page := range pages {
		delete(served, page)
	}
	for route := range served {
		method, path, _ := strings.Cut(route, " ")
		t.Errorf("%s is served and not documented. Describe it in api/openapi.yaml:\n%s\nthen call it in hub/app/calls_test.go; %s",
			route, skeleton(method, path), whatToDo)
	}
}

// pages are for people and no part of the API: httpapi.TestPages shows them.
var pages = []string{"GET /a/{aid}", "GET /hub", "GET /peers", "GET /assets/{name}"}

// skeleton is what a new operation begins with.
func skeleton(method, path string) string {
	above, refusal, body := "", "WireTooNew", ""
	if strings.Contains(path, "{aid}") {
		above, refusal = "\n    parameters:\n      - {$ref: '#/components/parameters/AID'}", "BadAID"
	}
	if method == "POST" {
		body = `
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/…'}
            example: {…}`
	}
	return fmt.Sprintf(`
  %s:%s
    %s:
      operationId: …
      tags: [directory]
      summary: …%s
      responses:
        '200':
          description: …
          content:
            application/json:
              schema: {$ref: '#/components/schemas/…'}
              example: {…}
        '400': {$ref: '#/components/responses/%s'}
        '500': {$ref: '#/components/responses/Internal'}
        '503': {$ref: '#/components/responses/Unavailable'}
`, path, above, strings.ToLower(method), body, refusal)
}

// A running hub answers every operation well, and refuses in every way the
// document knows for that operation; each answer is held to its schema as it
// comes. What operations have in common has to be seen once.
func TestAnswersAreThoseOfTheDocument(t *testing.T) {
	v := newVisitor(t)
	v.visit(func(c *Config) {
		c.P2PPeers, c.Envelope, c.Memory = true, 64<<10, 64<<20
		c.RegisterRate, c.ReviewRate = 0.01, 0.01
	})
	t.Run("hub", v.in(askHub))
	t.Run("registration", v.in(register))
	t.Run("what an agent says", v.in(say))
	t.Run("directory", v.in(find))
	t.Run("reviews", v.in(review))
	t.Run("keys and cards", v.in(prove))
	t.Run("mailboxes", v.in(mail))
	t.Run("payments", v.in(trade))
	t.Run("signatures", v.in(signWrongly))
	t.Run("versions", v.in(speakWrongly))
	t.Run("rates", v.in(hurry))
	t.Run("a small hub", v.in(crowd))
	t.Run("a hub by invite", v.in(invited))
	t.Run("between hubs", v.in(between))
	t.Run("a hub that tells", v.in(telling))
	for _, o := range v.doc.Operations() {
		v.complete(o)
	}
	v.sharedCodesSeen()
}

// in runs a part as a subtest.
func (v *visitor) in(part func(*visitor)) func(*testing.T) {
	return func(t *testing.T) {
		whole := v.t
		defer func() { v.t = whole }()
		v.t = t
		part(v)
	}
}

// unseen are codes that no client can bring about at will. The tests named hold
// them to the document, or prove them further inside.
var unseen = map[string]string{
	"not_ready":                "httpapi.TestRareRefusalsAreDocumented",
	"hub_identity_missing":     "httpapi.TestRareRefusalsAreDocumented",
	"hub_busy":                 "httpapi.TestRareRefusalsAreDocumented",
	"database_unavailable":     "httpapi.TestRareRefusalsAreDocumented",
	"internal":                 "httpapi.TestRareRefusalsAreDocumented",
	"body_incomplete":          "httpapi.TestRareRefusalsOfBodiesAreDocumented",
	"BUSY":                     "httpapi.TestFederationIsBusy",
	"INTERNAL":                 "httpapi.TestFederationFails",
	"review_conflict":          "postgres.TestOneReviewOfAnInteraction",
	"settlement_pending":       "httpapi.TestAnUnknownOutcomeIsNoRefusal",
	"seller_card_invalid":      "httpapi.TestTheGatewayReadsTheSellersCard",
	"seller_blocked":           "httpapi.TestTheGatewayReadsTheSellersCard",
	"attestation_own_chain":    "evidence.TestAttestation",
	"replay_memory_full":       "replay.TestAdmit",
	"replay_memory_busy":       "replay.TestAdmit",
	"replay_memory_restarting": "postgres.TestReplayOnAServerThatEnds",
	"signed_before_restart":    "postgres.TestReplayOnAServerThatEnds",
}

// complete reports what of an operation was never answered.
func (v *visitor) complete(o apitest.Operation) {
	v.t.Helper()
	for _, status := range o.Statuses() {
		codes, shared := o.Codes(status)
		if len(codes) == 0 && !v.seen[o.String()][strconv.Itoa(status)] {
			v.t.Errorf("%s documents %d, and no call in hub/app/calls_test.go is answered so: add one; %s", o, status, whatToDo)
		}
		for _, code := range codes {
			if answer := fmt.Sprint(status, " ", code); !shared && unseen[code] == "" && !v.seen[o.String()][answer] {
				v.t.Errorf("%s documents %s, and no call in hub/app/calls_test.go is answered so: add one, or take the code out; %s", o, answer, whatToDo)
			}
		}
	}
}

// sharedCodesSeen reports which code of the answers that operations share was
// never seen at any of them.
func (v *visitor) sharedCodesSeen() {
	var all []string
	for _, answers := range v.seen {
		for answer := range answers {
			_, code, _ := strings.Cut(answer, " ")
			all = append(all, code)
		}
	}
	components, _ := v.doc.Root().Child("components")
	responses, _ := components.Child("responses")
	for _, name := range responses.Names() {
		n, _ := responses.Child(name)
		for _, code := range apitest.CodesOf(n) {
			if unseen[code] == "" && !slices.Contains(all, code) {
				v.t.Errorf("the shared answer %s has the code %s, which nothing answered", name, code)
			}
		}
	}
}
