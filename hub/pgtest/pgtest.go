// Package pgtest gives every test a PostgreSQL database of its own, migrated
// and empty.
//
// The server is the one TEST_DATABASE_URL names, else a private one from the
// programs installed here, shared by all test processes of this user, else a
// container. Without any of these the test fails: the rule is that no statement
// goes untested because a machine lacks something.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxConns is the size of a test's pool; all tests of a run share one server.
const maxConns = 10

// New is a pool on a database of the test's own, dropped when the test ends.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(URL(t))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	config.MaxConns = maxConns
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// URL is the connection URL of such a database, for what opens its own pool.
func URL(t testing.TB) string {
	t.Helper()
	return database(t, "TEMPLATE "+shared(t).template)
}

// Empty is the URL of a database without any schema, for tests of the
// migrations themselves.
func Empty(t testing.TB) string {
	t.Helper()
	return database(t, blank)
}

func database(t testing.TB, options string) string {
	t.Helper()
	s, name := shared(t), "anet_test_"+strings.ToLower(rand.Text()[:16])
	if err := s.exec("CREATE DATABASE " + name + " " + options); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return on(s.url, name)
}

// server is the PostgreSQL of this test process.
type server struct {
	url      string
	admin    *pgxpool.Pool
	template string
}

func (s *server) exec(sql string) error {
	if _, err := s.admin.Exec(context.Background(), sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

var connect = sync.OnceValues(func() (*server, error) {
	url, err := findServer()
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 4
	admin, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	s := &server{url: url, admin: admin}
	s.template, err = s.makeTemplate(context.Background())
	return s, err
})

func shared(t testing.TB) *server {
	t.Helper()
	s, err := connect()
	if err != nil {
		t.Fatalf("pgtest: no PostgreSQL to test against: %v", err)
	}
	return s
}

// on is the URL of another database on the same server.
func on(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}
