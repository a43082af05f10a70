package plain

import "testing"

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"what people write", "naïve – 東京 שלום 👩‍🚀", "naïve – 東京 שלום 👩‍🚀"},
		{"a mark Persian needs", "می\u200cخواهم", "می\u200cخواهم"},
		{"an order to a terminal", "\x1b[2J", "\uFFFD[2J"},
		{"a control above ASCII", "a\u009b2J", "a\uFFFD2J"},
		{"text that turns around", "exe.\u202etxt\u2066\u2069\u200f", "exe.\uFFFDtxt\uFFFD\uFFFD\uFFFD"},
		{"letters nobody sees", "a\U000e0041\u200b\ufeff", "a\uFFFD\uFFFD\uFFFD"},
		{"other blanks", "a\tb\nc\u00a0d\u2028e", "a b c d e"},
		{"broken UTF-8", "a\xff", "a\uFFFD"},
	}
	for _, tt := range tests {
		if got := Line(tt.in); got != tt.want {
			t.Errorf("%s: Line(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{
		{"short", 5, "short"}, {"shorter", 5, "short"}, {"東京", 5, "東"}, {"東京", 2, ""}, {"a\xff\xbf\xbf", 3, "a"}, {"", 0, ""},
	} {
		if got := Cut(tt.in, tt.most); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.most, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	if got, want := Text("a\r\nb\n\n\u202ec\rd"), "a\nb\n\n\uFFFDc d"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}
