package budget

import (
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

func TestTake(t *testing.T) {
	tests := []struct {
		name string
		held int64
		take int64
		want bool
	}{
		{"an empty budget gives", 0, 60, true},
		{"up to the last byte", 40, 60, true},
		{"and no further", 40, 61, false},
		{"nothing is always there", 100, 0, true},
		{"more than all of it, alone", 0, 500, true},
		{"more than all of it, beside others", 1, 500, false},
	}
	for _, tt := range tests {
		b := New(100)
		if _, err := b.Take(tt.held); err != nil {
			t.Fatal(err)
		}
		release, err := b.Take(tt.take)
		if (err == nil) != tt.want {
			t.Errorf("%s: Take(%d) = %v, want success %v", tt.name, tt.take, err, tt.want)
		}
		if err == nil {
			release()
		} else if e := errs.As(err); e == nil || e.Kind != errs.Unavailable || e.RetryAfter != time.Second {
			t.Errorf("%s: %v, want unavailable with a time to try again", tt.name, err)
		}
		if b.Used() != tt.held {
			t.Errorf("%s: %d bytes in use afterwards, want %d", tt.name, b.Used(), tt.held)
		}
	}
}

func TestReleaseTwiceGivesBackOnce(t *testing.T) {
	b := New(100)
	release, _ := b.Take(10)
	release()
	release()
	if b.Used() != 0 {
		t.Errorf("%d bytes in use, want 0", b.Used())
	}
}

func TestTakeFromManySides(t *testing.T) {
	b := New(100)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 1000 {
				if release, err := b.Take(7); err == nil {
					if used := b.Used(); used > 100+50*7 {
						t.Errorf("%d of 100 bytes in use", used)
					}
					release()
				}
			}
		})
	}
	wg.Wait()
	if b.Used() != 0 {
		t.Errorf("%d bytes in use when all is done", b.Used())
	}
}
