package forward

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

var testNow = time.UnixMilli(1_767_225_600_000)

func newHub(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
