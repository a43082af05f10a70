package ledgertest

import (
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/identity"
)

// Alone is a hub without peers.
type Alone struct{ ledger.Peers }

// All implements ledger.Peers.
func (Alone) All() []string { return nil }

// History implements ledger.Peers.
func (Alone) History(string) (*identity.History, bool) { return nil, false }

// Name implements ledger.Peers.
func (Alone) Name(string) string { return "" }

// Endpoint implements ledger.Peers.
func (Alone) Endpoint(string) string { return "" }
