package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/card"
)

type netcardFile struct {
	Remarks
	Name      string       `json:"name"`
	Input     netcardInput `json:"input"`
	Canonical string       `json:"expect_canonical"`
	Hash      Hex          `json:"expect_canonical_sha256"`
	RelayURLs []struct {
		Hub string `json:"hub"`
		URL string `json:"url"`
	} `json:"relay_url"`
	JKUs []struct {
		Hub string `json:"hub"`
		AID string `json:"aid"`
		JKU string `json:"jku"`
	} `json:"jku"`
	Names []struct {
		AID    string `json:"aid"`
		Prefix string `json:"prefix"`
	} `json:"default_name"`
	RefuseExtension []jsontext.Value `json:"refuse_extension"`
	RefuseURL       []string         `json:"refuse_interface_url"`
}

type netcardInput struct {
	AID         string         `json:"aid"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	HubURL      string         `json:"hub_url"`
	Seq         string         `json:"seq"`
	IssuedAt    string         `json:"issuedAt"`
	NotBefore   string         `json:"notBefore"`
	Skills      jsontext.Value `json:"skills"`
	Extensions  jsontext.Value `json:"extra_extensions"`
	Interfaces  jsontext.Value `json:"extra_interfaces"`
}

// netcard pins the card a node builds, sections H.1 and H.2.
func netcard(data []byte) ([]Vector, error) {
	var f netcardFile
	err := decode(data, &f)
	vs := []Vector{{"build", f.build}, {"addresses", f.addresses}, {"default names", f.defaultNames}}
	for _, raw := range f.RefuseExtension {
		vs = append(vs, Vector{"refuse extension " + string(raw), func() error { return f.refuses(raw) }})
	}
	for _, url := range f.RefuseURL {
		vs = append(vs, Vector{"refuse " + url, func() error {
			p, s, err := f.Input.profile()
			p.Interfaces = []card.Interface{{URL: url, ProtocolBinding: card.P2PBinding, ProtocolVersion: "1.0", Tenant: p.AID}}
			_, refusal := p.Build(s)
			return all(err, outcome("the interface", refusal, false))
		}})
	}
	return vs, err
}

func (in netcardInput) profile() (card.Profile, card.Stamp, error) {
	p := card.Profile{AID: in.AID, HubURL: in.HubURL, Name: in.Name, Description: in.Description, Version: in.Version}
	var s card.Stamp
	errs := []error{
		json.Unmarshal(in.Skills, &p.Skills, json.RejectUnknownMembers(true)),
		json.Unmarshal(in.Extensions, &p.Extensions, json.RejectUnknownMembers(true)),
		json.Unmarshal(in.Interfaces, &p.Interfaces, json.RejectUnknownMembers(true)),
	}
	var err error
	for text, to := range map[string]*int64{in.Seq: &s.Seq, in.IssuedAt: &s.IssuedAt, in.NotBefore: &s.NotBefore} {
		*to, err = strconv.ParseInt(text, 10, 64)
		errs = append(errs, err)
	}
	return p, s, all(errs...)
}

func (f netcardFile) build() error {
	p, s, err := f.Input.profile()
	if err != nil {
		return err
	}
	built, err := p.Build(s)
	sum := sha256.Sum256(built)
	return all(err,
		same("card", string(built), f.Canonical),
		same("hash", hex.EncodeToString(sum[:]), hex.EncodeToString(f.Hash)))
}

func (f netcardFile) addresses() error {
	var errs []error
	for _, c := range f.RelayURLs {
		errs = append(errs, same("relay url", card.RelayURL(c.Hub), c.URL))
	}
	for _, c := range f.JKUs {
		errs = append(errs, same("jku", card.JWKSURL(c.Hub, c.AID), c.JKU))
	}
	return all(errs...)
}

func (f netcardFile) defaultNames() error {
	p, s, err := f.Input.profile()
	for _, c := range f.Names {
		p.Name, p.AID = "", c.AID
		var got card.Card
		built, buildErr := p.Build(s)
		err = all(err, buildErr, json.Unmarshal(built, &got), same("name", got.Name, c.Prefix))
	}
	return err
}

// refuses adds an extension to the profile or, when a profile has no place for
// what it holds, to the built card.
func (f netcardFile) refuses(raw jsontext.Value) error {
	p, s, err := f.Input.profile()
	if err != nil {
		return err
	}
	var e card.Extension
	if json.Unmarshal(raw, &e, json.RejectUnknownMembers(true)) == nil {
		p.Extensions = append(p.Extensions, e)
		_, refusal := p.Build(s)
		return outcome("the extension", refusal, false)
	}
	spoiled, err := f.withExtension(raw)
	return all(err, outcome("the card", card.CheckPublishForm(spoiled), false))
}

func (f netcardFile) withExtension(raw jsontext.Value) ([]byte, error) {
	var c map[string]any
	if err := json.Unmarshal([]byte(f.Canonical), &c); err != nil {
		return nil, err
	}
	capabilities, _ := c["capabilities"].(map[string]any)
	extensions, _ := capabilities["extensions"].([]any)
	capabilities["extensions"] = append(extensions, raw)
	return json.Marshal(c)
}
