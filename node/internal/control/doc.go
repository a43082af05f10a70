// Package control is the way from a program on this machine to the running
// node: HTTP and JSON over a Unix socket that only the node's user can open. A
// Client is the node's own interface, node.API; what failed keeps its kind, its
// reason and its sentence on the way.
//
// # The exchange
//
//	POST /v1/start_task      one path for each operation (ops.go)
//	{"provider": "bafyrei…", "text": "…"}
//
//	200 {"task_id": "…", …}
//	404 {"error": "there is no task t1 …", "code": "task_unknown"}
//
// Statuses are those of shared/wire. Long waits are long polls: wait answers
// after at most 25 seconds with what it has, and is asked again.
//
// # Who owns a data folder
//
// One process at a time holds its Claim, a lock that the system lets go of when
// the process dies however it dies. The socket's file proves nothing.
package control
