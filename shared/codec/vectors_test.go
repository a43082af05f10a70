package codec

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	gocid "github.com/ipfs/go-cid"
)

func load(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsCBORCID(t *testing.T) {
	var f struct {
		Vectors []struct {
			Name    string
			CBORHex string `json:"cbor_hex"`
			CID     string
			RawUTF8 string `json:"raw_utf8"`
			RawCID  string `json:"raw_cid"`
		}
	}
	load(t, "cbor-cid.json", &f)
	for _, v := range f.Vectors {
		got, want := RawCID([]byte(v.RawUTF8)), v.RawCID
		if v.CBORHex != "" {
			raw := unhex(t, v.CBORHex)
			if c, err := Canonical(raw); err != nil || hex.EncodeToString(c) != v.CBORHex {
				t.Errorf("%s: Canonical = %x, %v, want it unchanged", v.Name, c, err)
			}
			got, want = CID(raw), v.CID
		}
		if got != want {
			t.Errorf("%s: id = %s, want %s", v.Name, got, want)
		}
		if c, err := gocid.Decode(got); err != nil || c.String() != got || !ValidCID(got) {
			t.Errorf("%s: %s is not read back alike: %v", v.Name, got, err)
		}
	}
}

func TestValidCID(t *testing.T) {
	good := CID(nil)
	for _, tt := range []struct {
		name, s string
		want    bool
	}{
		{"CBOR", good, true},
		{"raw", RawCID(nil), true},
		{"stray trailing bits", good[:58] + "b", false},
		{"upper case", strings.ToUpper(good), false},
		{"short", good[:58], false},
		{"line break", good[:57] + "\n" + good[58:], false},
		{"another codec", "bafybei" + good[7:], false},
		{"empty", "", false},
	} {
		if got := ValidCID(tt.s); got != tt.want {
			t.Errorf("%s: ValidCID(%q) = %v, want %v", tt.name, tt.s, got, tt.want)
		}
	}
}

func TestVectorsJCS(t *testing.T) {
	var f struct {
		Numbers []struct{ Bits, Out string } `json:"numbers_ieee754"`
		Cases   []struct {
			Name string
			In   string `json:"input_hex"`
			Out  string `json:"output_hex"`
		} `json:"canonicalize"`
		Reject []struct {
			Name string
			In   string `json:"input_hex"`
		} `json:"reject_all"`
		MaxDepth int `json:"max_depth"`
	}
	load(t, "jcs.json", &f)
	for _, n := range f.Numbers {
		bits, err := strconv.ParseUint(n.Bits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		wantCanonical(t, n.Bits, strconv.FormatFloat(math.Float64frombits(bits), 'e', -1, 64), n.Out)
	}
	for _, c := range f.Cases {
		wantCanonical(t, c.Name, string(unhex(t, c.In)), string(unhex(t, c.Out)))
	}
	for _, r := range f.Reject {
		if got, err := CanonicalJSON(unhex(t, r.In)); err == nil {
			t.Errorf("%s: CanonicalJSON = %s, want a refusal", r.Name, got)
		}
	}
	if f.MaxDepth != MaxJSONDepth {
		t.Errorf("MaxJSONDepth = %d, want %d", MaxJSONDepth, f.MaxDepth)
	}
}

func TestVectorsJCSNumberTokens(t *testing.T) {
	var f struct{ Cases []struct{ In, Out string } }
	load(t, "jcs-number-tokens.json", &f)
	for _, c := range f.Cases {
		wantCanonical(t, c.In, c.In, c.Out)
	}
}

func wantCanonical(t *testing.T, name, in, want string) {
	t.Helper()
	got, err := CanonicalJSON([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%s: CanonicalJSON(%s) = %s, %v, want %s", name, in, got, err, want)
	}
}
