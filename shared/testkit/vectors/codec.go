package vectors

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/shared/codec"
)

// cborCID pins sections A.1 and A.2.
func cborCID(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string      `json:"name"`
		Vectors []cidVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

type cidVector struct {
	Remarks
	Name   string  `json:"name"`
	Object string  `json:"object,omitzero"`
	CBOR   Hex     `json:"cbor_hex,omitzero"`
	CID    string  `json:"cid,omitzero"`
	Raw    *string `json:"raw_utf8,omitzero"`
	RawCID string  `json:"raw_cid,omitzero"`
}

func (v cidVector) check() error {
	if v.Raw != nil {
		return all(
			same("raw CID", codec.RawCID([]byte(*v.Raw)), v.RawCID),
			same("CBOR beside raw data", string(v.CBOR)+v.CID, ""),
		)
	}
	canonical, err := codec.Canonical(v.CBOR)
	if err != nil {
		return err
	}
	return all(
		sameBytes("canonical form", canonical, v.CBOR),
		same("CID", codec.CID(canonical), v.CID),
		same("raw CID beside CBOR", v.RawCID, ""),
	)
}

// jcs pins canonical JSON, section H.3.
func jcs(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string `json:"name"`
		Numbers []struct {
			Bits string `json:"bits"`
			Out  string `json:"out"`
		} `json:"numbers_ieee754"`
		Canonicalize []struct {
			Remarks
			Name string `json:"name"`
			In   Hex    `json:"input_hex"`
			Out  Hex    `json:"output_hex"`
		} `json:"canonicalize"`
		Reject []struct {
			Remarks
			Name string `json:"name"`
			In   Hex    `json:"input_hex"`
		} `json:"reject_all"`
		MaxDepth  int    `json:"max_depth"`
		DepthRule string `json:"depth_rule"`
	}
	err := decode(data, &f)
	vs := []Vector{{"depth", func() error { return depth(f.MaxDepth) }}}
	for _, v := range f.Numbers {
		vs = append(vs, Vector{"number " + v.Bits, func() error { return ieee754(v.Bits, v.Out) }})
	}
	for _, v := range f.Canonicalize {
		vs = append(vs, Vector{v.Name, func() error { return canonicalJSON(v.In, string(v.Out)) }})
	}
	for _, v := range f.Reject {
		vs = append(vs, Vector{v.Name, func() error {
			_, err := codec.CanonicalJSON(v.In)
			return outcome("the input", err, false)
		}})
	}
	return vs, err
}

func depth(limit int) error {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if limit != codec.MaxJSONDepth {
		return fmt.Errorf("nesting limit = %d, want %d", codec.MaxJSONDepth, limit)
	}
	_, within := codec.CanonicalJSON(nested(limit))
	_, beyond := codec.CanonicalJSON(nested(limit + 1))
	return all(within, outcome("deeper nesting", beyond, false))
}

func ieee754(bits, out string) error {
	n, err := strconv.ParseUint(bits, 16, 64)
	if err != nil || len(bits) != 16 {
		return fmt.Errorf("%q is no 64-bit pattern", bits)
	}
	text := strconv.FormatFloat(math.Float64frombits(n), 'e', -1, 64)
	return canonicalJSON([]byte(text), out)
}

func canonicalJSON(in []byte, out string) error {
	got, err := codec.CanonicalJSON(in)
	if err != nil {
		return err
	}
	return same("canonical form", string(got), out)
}

// jcsNumberTokens pins how number tokens are printed.
func jcsNumberTokens(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name  string `json:"name"`
		Cases []struct {
			Remarks
			In  string `json:"in"`
			Out string `json:"out"`
		} `json:"cases"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, c := range f.Cases {
		vs = append(vs, Vector{c.In, func() error { return canonicalJSON([]byte(c.In), c.Out) }})
	}
	return vs, err
}
