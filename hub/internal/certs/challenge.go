package certs

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
)

// ChallengePath is where an authority asks for the answer to a challenge over
// HTTP (RFC 8555, 8.3).
const ChallengePath = "/.well-known/acme-challenge/"

const maxToken = 256 // far above what authorities send

// Challenge is the answer to an open challenge for a name, of whichever process
// of the hub put it there.
func (k *Keeper) Challenge(ctx context.Context, name, token string) (answer []byte, ok bool) {
	if !isToken(token) {
		return nil, false
	}
	ask := &http.Request{Method: http.MethodGet, Host: name, URL: &url.URL{Path: ChallengePath + token}}
	said := &reply{status: http.StatusOK}
	k.challenges.ServeHTTP(said, ask.WithContext(ctx))
	return said.body.Bytes(), said.status == http.StatusOK
}

// isToken reports whether it is of the alphabet of tokens.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if digit := '0' <= c && c <= '9'; !letter && !digit && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

// reply takes autocert's answer, whose words of refusal are not for clients.
type reply struct {
	status int
	body   bytes.Buffer
	header http.Header
}

func (r *reply) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *reply) WriteHeader(status int) { r.status = status }

func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }
