package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// stall is an agent that sells through the hub's gateway and takes vouchers at an
// address of its own: a program of anybody's with an identity, and no node.
type stall struct {
	key     *identity.Controller
	hub     wire.Identity
	history *identity.History // of the hub
	server  *http.Server
	address string

	mu    sync.Mutex
	spent map[string]bool // vouchers, claimed before the work
}

const (
	stallSells = "text.digest"
	stallPrice = 3
)

// openStall registers it with the card that names its price.
func openStall(ctx context.Context, hubURL string) (*stall, error) {
	key, err := identity.NewController(rand.Reader, time.Now())
	if err != nil {
		return nil, err
	}
	s := &stall{key: key, spent: map[string]bool{}}
	if err := ask(ctx, http.MethodGet, hubURL+"/hub/identity", nil, nil, &s.hub); err != nil {
		return nil, err
	}
	var kept wire.KEL
	if err := ask(ctx, http.MethodGet, hubURL+"/agents/"+s.hub.AID+"/kel", nil, nil, &kept); err != nil {
		return nil, err
	}
	if s.history, err = identity.Replay(kept.KEL); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = "http://" + listener.Addr().String() + "/redeem"
	s.server = &http.Server{Handler: http.HandlerFunc(s.redeem), ReadHeaderTimeout: 10 * time.Second}
	go s.server.Serve(listener)
	return s, s.register(ctx, hubURL)
}

func (s *stall) register(ctx context.Context, hubURL string) error {
	card, err := adp.Offer{Name: "stall", RedeemAt: s.address, Prices: map[string]uint64{stallSells: stallPrice}}.Sign(s.key, 0, time.Now())
	if err != nil {
		return err
	}
	body, err := json.Marshal(wire.Register{AID: s.key.AID(), Name: "stall", Caps: []string{"stall"}, KEL: s.key.KEL(), Card: card})
	if err != nil {
		return err
	}
	sign := func(r *http.Request) {
		relayauth.Sign(s.key, wire.ActionRegister, s.hub.AID, r, body, uint64(time.Now().UnixMilli()))
	}
	return ask(ctx, http.MethodPost, hubURL+"/register", body, sign, &wire.Registered{})
}

// ask asks the hub and reads its answer.
func ask(ctx context.Context, method, url string, body []byte, sign func(*http.Request), answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if sign != nil {
		sign(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// redeem takes a voucher and does what it paid for.
func (s *stall) redeem(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Voucher    []byte
		Capability string
		Args       struct{ Text string }
	}
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&q) != nil {
		http.Error(w, `{"error":"this is no order"}`, http.StatusBadRequest)
		return
	}
	v, err := s.good(q.Voucher, q.Capability)
	switch {
	case err != nil:
		http.Error(w, `{"error":"the voucher does not hold"}`, http.StatusPaymentRequired)
	case !s.claim(v.ID()):
		http.Error(w, `{"error":"the voucher is spent"}`, http.StatusConflict)
	default:
		sum := sha256.Sum256([]byte(q.Args.Text))
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"capability": v.Capability, "voucher_id": v.ID(), "payer": v.Payer, "status": "OK",
			"sha256": hex.EncodeToString(sum[:])})
	}
}

func (s *stall) good(raw []byte, capability string) (payment.SignedVoucher, error) {
	v, err := payment.ParseVoucher(raw)
	if err != nil {
		return v, err
	}
	if v.PayTo != s.key.AID() || v.Capability != capability || v.Amount < stallPrice || v.Network != payment.Network(s.hub.AID) ||
		v.NotAfter < uint64(time.Now().UnixMilli()) {
		return v, fmt.Errorf("the voucher is for something else")
	}
	return v, v.Verify(s.history)
}

func (s *stall) claim(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.spent[id]
	s.spent[id] = true
	return !was
}
