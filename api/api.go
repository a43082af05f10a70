// Package api holds the contract of the hub's HTTP API, written for people and
// for programs that generate clients. The hub serves it as GET /openapi.yaml.
//
// The one rule its users must know: the document promises nothing that no test
// holds the hub to. A route, a code or a member that is in one of both and not
// in the other fails the tests of hub/app.
package api

import _ "embed"

// OpenAPI is the document, OpenAPI 3.1.
//
//go:embed openapi.yaml
var OpenAPI []byte
