package journal

import (
	"fmt"
	"testing"
	"time"
)

// What transactions ask again is compiled once, and what cannot be compiled fails
// each time it is asked.
func TestStatementsAreKeptCompiled(t *testing.T) {
	j, _ := newJournal(t)
	for range 3 {
		err := j.Write(t.Context(), func(tx *Tx) error {
			if err := tx.exec(`SELECT nonsense`); err == nil {
				t.Error("nonsense was run")
			}
			_, err := tx.Remember("peer", []byte(time.Now().String()), time.Now().Add(time.Hour))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, left := len(j.writing.ready), len(j.writing.wanted); n != 1 || left != 0 {
			t.Errorf("%d statements are kept and %d wait, want 1 and none", n, left)
		}
	}
}

func TestStatementsAreBounded(t *testing.T) {
	j, _ := newJournal(t)
	for i := range 2 * maxStatements {
		err := j.Read(t.Context(), func(tx *Tx) error {
			var n int
			_, err := tx.one(fmt.Sprint(`SELECT `, i), nil, &n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(j.reading.ready); n != maxStatements {
		t.Errorf("%d statements are kept, want %d", n, maxStatements)
	}
}
