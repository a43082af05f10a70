// Package task holds what two nodes say to each other about a piece of work:
// the request, the conversation, news of its state, and the result with its
// receipt (wire 2, section F).
//
// Everything here came from a peer or goes to one. A body is read with its
// unknown members ignored, and nothing in it is acted on before the binding it
// claims was checked: CheckReceipt for a result, Check for an attachment,
// ParseMetadata for a JSON object.
//
// # States (section L.5)
//
//	submitted ─┬─► working ◄──► input-required
//	           └───────────┬──────────┘
//	                       ▼
//	   completed | failed | canceled | rejected     nothing leaves these
package task
