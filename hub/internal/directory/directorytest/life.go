package directorytest

import (
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// Usual judges by the usual ages, in a hub that was never away, and notes nothing.
type Usual struct{}

// Seen implements directory.Lives.
func (Usual) Seen(string, time.Time) {}

// Forget implements directory.Lives.
func (Usual) Forget(string) {}

// Ages implements directory.Lives.
func (Usual) Ages() directory.Ages { return directory.UsualAges }

// Horizon implements directory.Lives.
func (Usual) Horizon(now time.Time) directory.Horizon { return directory.UsualAges.Horizon(now) }
