package postgres

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Down reports whether a failure says that the database cannot be reached just
// now, rather than that something is wrong with what was asked of it.
func Down(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return comingOrGoing(said.Code)
	}
	var dial *pgconn.ConnectError
	var broken *net.OpError
	return errors.As(err, &dial) || errors.As(err, &broken) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)
}

// comingOrGoing are the server's words for a start, a stop, a crash of another
// session (57P01 to 57P03), a connection lost (08) and too many of them (53300).
func comingOrGoing(code string) bool {
	return strings.HasPrefix(code, "57P0") || strings.HasPrefix(code, "08") || code == "53300"
}
