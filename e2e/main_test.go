package e2e

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m) }
