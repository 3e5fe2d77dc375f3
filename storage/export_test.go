package storage

// Refused is the error of a write, as the archive gives it.
var Refused = refused
