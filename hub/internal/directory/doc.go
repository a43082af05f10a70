// Package directory holds the rules of the hub's directory: what a registration
// may say, what a list shows of it, and what a question finds.
//
// An agent is found by its capabilities byte for byte, through ?cap=, or by
// words, through ?q=; the first never turns into the second. What nobody serves
// is an empty list.
//
// # Order and pages
//
// Every list has one order: mean rating, number of reviews, both descending,
// time of registration, AID. A Place is a position in it and a cursor carries
// one, so a page begins where the last one ended whatever was written in
// between. Prefixes are walked capability by capability, since no index holds
// the order of a union; an answer that fits one page is put in the order of
// ranks all the same.
//
// A page is read in bounded steps. Rows that don't answer the question cost as
// much as rows that do, so a request stops after 20,000 of them or 50 ms and
// its cursor goes on from there: a page may be short, even empty, and still
// have a next one.
package directory
