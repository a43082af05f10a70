package monitoring

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

// catalog is what can be asked for: the labels of every series by its name.
type catalog map[string][]string

// targetLabels are what Prometheus adds to every series of a target.
var targetLabels = []string{"job", "instance"}

// theirs are Prometheus' own.
func theirs() catalog {
	return catalog{"up": targetLabels, "ALERTS": {"alertname", "alertstate", "severity"}}
}

// offered is what a running hub offers, and what Prometheus adds.
func offered(t *testing.T) catalog {
	t.Helper()
	reg, types := hub(t)
	all := theirs()
	for name, labels := range described(t, reg) {
		labels = append(labels, targetLabels...)
		if types[name] != "histogram" {
			all[name] = labels
			continue
		}
		all[name+"_sum"], all[name+"_count"] = labels, labels
		all[name+"_bucket"] = append([]string{"le"}, labels...)
	}
	return all
}

// hub starts one that does its own TLS, so that it has every metric, and scrapes
// another that answers by HTTP for the types.
func hub(t *testing.T) (reg *prometheus.Registry, types map[string]string) {
	t.Helper()
	reg = app.NewRegistry()
	run(t, reg, func(c *app.Config) {
		c.Domains, c.ListenHTTP, c.ACMEDirectory = []string{"hub.example.org"}, "off", "https://127.0.0.1:1/directory"
		c.PublicURL = "https://hub.example.org"
	})
	plain := run(t, app.NewRegistry(), func(*app.Config) {})
	scrape(t, plain, "/agents") // a vector has no type before its first value
	return reg, typesOf(scrape(t, plain, "/metrics"))
}

func run(t *testing.T, reg *prometheus.Registry, change func(*app.Config)) *app.App {
	t.Helper()
	cfg := app.Defaults()
	cfg.Listen, cfg.DatabaseURL = "127.0.0.1:0", pgtest.URL(t)
	change(&cfg)
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), reg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the hub ends with %v", err)
		}
	})
	return a
}

func scrape(t *testing.T, a *app.App, path string) string {
	t.Helper()
	resp, err := http.Get("http://" + a.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", path, resp.Status, err)
	}
	return string(text)
}

// typesOf reads the lines # TYPE name type.
func typesOf(text string) map[string]string {
	types := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 4 && f[1] == "TYPE" {
			types[f[2]] = f[3]
		}
	}
	return types
}

var descriptor = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// described reads what collectors say of themselves, before a first value too.
func described(t *testing.T, reg *prometheus.Registry) map[string][]string {
	t.Helper()
	out, all := make(chan *prometheus.Desc), map[string][]string{}
	go func() { reg.Describe(out); close(out) }()
	for d := range out {
		m := descriptor.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("not as descriptors were: %s", d)
		}
		all[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
	}
	return all
}

// values are what labels may hold, where that is known: a matcher that names
// another would be silent for ever.
func values(t *testing.T) map[string][]string {
	t.Helper()
	known := map[string][]string{
		"job": {"anet-hub"}, "class": {"2xx", "3xx", "4xx", "5xx"}, "check": {"database", "schema", "identity"},
		"alertstate": {"pending", "firing"}, "outcome": {"queued", "attested", "went_back", "settlement_pending"},
	}
	routes := map[string]bool{}
	for _, o := range apitest.Load(t).Operations() {
		routes[o.Path] = true
	}
	known["route"] = slices.Sorted(maps.Keys(routes))
	for k := errs.Internal; k <= errs.Full; k++ {
		known["kind"] = append(known["kind"], k.String())
	}
	known["outcome"] = append(known["outcome"], known["kind"]...)
	for _, a := range alerts(t) {
		known["alertname"] = append(known["alertname"], a.Alert)
	}
	return known
}
