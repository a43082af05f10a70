package authority

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// resolver is a DNS in which every name is this machine, but one. Pebble asks
// over TCP.
func resolver(t testing.TB, unresolved string) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go converse(conn, unresolved+".")
		}
	}()
	return ln.Addr().String()
}

// converse answers questions, each with its length before it.
func converse(conn net.Conn, unresolved string) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		said, err := resolve(question, unresolved)
		if err != nil {
			return
		}
		said = append(binary.BigEndian.AppendUint16(nil, uint16(len(said))), said...)
		if _, err := conn.Write(said); err != nil {
			return
		}
	}
}

func resolve(question []byte, unresolved string) ([]byte, error) {
	var p dnsmessage.Parser
	head, err := p.Start(question)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	said := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: head.ID, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	switch {
	case q.Name.String() == unresolved:
		said.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		said.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	return said.Pack()
}
