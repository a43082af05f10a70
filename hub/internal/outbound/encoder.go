package outbound

import (
	"encoding/base64"
	"io"
)

// step is how many bytes are encoded at a time: a multiple of three, so that the
// pieces join.
const step = 3 << 10

// encoder reads bytes as base64.
type encoder struct {
	src, out []byte
	buf      [step / 3 * 4]byte
}

func encodedLen(n int) int { return base64.StdEncoding.EncodedLen(n) }

func (e *encoder) Read(p []byte) (int, error) {
	if len(e.out) == 0 {
		n := min(len(e.src), step)
		if n == 0 {
			return 0, io.EOF
		}
		base64.StdEncoding.Encode(e.buf[:], e.src[:n])
		e.out, e.src = e.buf[:encodedLen(n)], e.src[n:]
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}
